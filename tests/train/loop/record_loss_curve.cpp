// Trains a preset on a text for some steps and appends what TooGoodLoss would see to a file: how the expected loss was
// learnt, and what tst_data_alarms plays to it (tests/core/data/loss_curves.jsonl).
//   record_loss_curve OUT NAME TEXT TOKENIZER PRESET STEPS SEED [none|unshifted|backwards|repeated]

#include "core/base/file_system.h"
#include "core/base/random.h"
#include "core/config/schema.h"
#include "core/data/data_alarms.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/start/learning_rate.h"
#include "core/train/loop/learner_torch.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>

namespace {

using namespace furrow;

constexpr std::int64_t kStepsOfAPoint = 10;

template <typename T> T orExit(Result<T> result)
{
    if (!result.ok()) {
        std::fprintf(stderr, "%s\n", result.error().message.c_str());
        std::exit(1);
    }
    return std::move(result).value();
}

std::shared_ptr<const Tokenizer> tokenizerFor(const std::string& name, const std::string& text)
{
    if (name != "char")
        return orExit(loadTokenizer(name));
    bool given = false;
    return orExit(buildCharTokenizer([&](std::string_view& piece) {
        piece = text;
        return !std::exchange(given, true);
    }));
}

/// What is wrong on purpose.
struct Fault {
    std::int64_t labelOffset = 1; ///< 0: labels are the inputs; -1: the token before
    std::int64_t repeats = 1; ///< how often the same windows come in one epoch
};

Fault faultNamed(const std::string& name)
{
    Fault fault;
    fault.labelOffset = name == "unshifted" ? 0 : name == "backwards" ? -1 : 1;
    fault.repeats = name == "repeated" ? 40 : 1;
    return fault;
}

/// Windows in the order of training: each once, or all of a few again and again.
std::vector<std::int64_t> windowStarts(
    std::int64_t tokens, std::int64_t length, std::int64_t wanted, std::int64_t repeats, std::uint64_t seed)
{
    std::vector<std::int64_t> all;
    for (std::int64_t from = 1; from + length + 1 < tokens; from += length)
        all.push_back(from);
    Random random(seed);
    for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[random.below(i)]);
    all.resize(
        static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(all), std::max<std::int64_t>(1, wanted / repeats))));
    std::vector<std::int64_t> starts;
    for (std::int64_t i = 0; i < repeats; ++i)
        starts.insert(starts.end(), all.begin(), all.end());
    return starts;
}

Batch batchAt(
    const std::vector<TokenId>& ids, std::span<const std::int64_t> starts, std::int64_t length, const Fault& fault)
{
    const auto rows = std::ssize(starts);
    Batch batch;
    batch.inputs_BT = at::empty({ rows, length }, at::kLong);
    batch.labels_BT = at::empty({ rows, length }, at::kLong);
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t at = starts[static_cast<std::size_t>(row)] + i;
            batch.inputs_BT[row].mutable_data_ptr<std::int64_t>()[i] = ids[static_cast<std::size_t>(at)];
            batch.labels_BT[row].mutable_data_ptr<std::int64_t>()[i]
                = ids[static_cast<std::size_t>(at + fault.labelOffset)];
        }
    batch.labels = rows * length;
    return batch;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 8) {
        std::fprintf(stderr,
            "record_loss_curve OUT NAME TEXT TOKENIZER PRESET STEPS SEED [none|unshifted|backwards|repeated]\n");
        return 2;
    }
    const std::string text = orExit(readFile(argv[3], 64 << 20));
    const auto tokenizer = tokenizerFor(argv[4], text);
    RunConfig config = orExit(findPreset(argv[5])).config;
    const std::int64_t steps = std::atoll(argv[6]);
    const auto seed = static_cast<std::uint64_t>(std::atoll(argv[7]));
    const std::string faultName = argc > 8 ? argv[8] : "none";
    const Fault fault = faultNamed(faultName);

    std::vector<TokenId> ids;
    if (auto encoded = tokenizer->encode(text, ids); !encoded.ok())
        return 1;
    ModelOptions options;
    options.seed = seed;
    options.threads = 1;
    at::set_num_threads(1);
    OptimizerConfig optimizer;
    optimizer.beta2 = config.beta2;
    optimizer.weightDecay = config.weightDecay;
    auto learner = orExit(createModelLearner(modelConfigOf(config, tokenizer->vocabularySize()), options, optimizer));
    LrSchedule schedule;
    schedule.peakLr = config.lr;
    schedule.floorLr = config.minLr;
    schedule.warmupSteps = config.warmupSteps;

    const auto starts = windowStarts(std::ssize(ids), config.seqLen, steps * config.batchSize, fault.repeats, seed);
    const auto measured
        = measureText(tokenizer->decode(std::span(ids).first(std::min<std::size_t>(ids.size(), 50'000))),
            std::min<std::int64_t>(std::ssize(ids), 50'000));
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    double sum = 0;
    std::int64_t labels = 0;
    std::int64_t step = 0;
    for (std::size_t i = 0; i + static_cast<std::size_t>(config.batchSize) <= starts.size();
        i += static_cast<std::size_t>(config.batchSize)) {
        const Batch batch = batchAt(
            ids, std::span(starts).subspan(i, static_cast<std::size_t>(config.batchSize)), config.seqLen, fault);
        sum += learner->accumulate(batch, 1.0 / static_cast<double>(batch.labels)).sum().item<double>();
        learner->apply(learningRate(schedule, step, static_cast<double>(step)), config.clip);
        labels += batch.labels;
        if (++step % kStepsOfAPoint == 0) {
            points.push_back({ labels, std::round(sum / static_cast<double>(labels) * 1e4) / 1e4 });
            sum = 0;
            labels = 0;
        }
    }
    const nlohmann::ordered_json line = { { "name", argv[2] }, { "fault", faultName }, { "preset", argv[5] },
        { "vocabulary", tokenizer->vocabularySize() }, { "zstd_bits", std::round(measured.zstdBits * 1e4) / 1e4 },
        { "bytes_per_label", std::round(measured.bytesPerLabel * 1e4) / 1e4 }, { "points", points } };
    std::ofstream(argv[1], std::ios::app) << line.dump() << "\n";
    std::printf("%s: %lld steps, zstd %.2f bits a byte, last %.3f nats a label\n", argv[2],
        static_cast<long long>(step), measured.zstdBits, points.empty() ? 0.0 : points.back()[1].get<double>());
    return 0;
}
