#include "core/train/model/model_torch.h"
#include "core/train/optim/optimizer_torch.h"
#include "core/run/start/learning_rate.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>

// Our side of the speed comparison with nanogpt_reference.py: the same model, data, schedule and measurements.
//   bench_char_step DATA STEPS THREADS [fast|libtorch] [evaluate] [context batch layers heads width]

namespace {

using namespace furrow;

struct Text {
    std::vector<std::int64_t> train;
    std::vector<std::int64_t> heldOut;
    std::int64_t vocabulary = 0;
};

Text readText(const char* path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string bytes { std::istreambuf_iterator<char>(file), {} };
    const std::set<char> letters(bytes.begin(), bytes.end());
    std::array<std::int64_t, 256> idOf {};
    Text text;
    for (const char letter : letters)
        idOf[static_cast<unsigned char>(letter)] = text.vocabulary++;
    const std::size_t cut = bytes.size() * 9 / 10;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        (i < cut ? text.train : text.heldOut).push_back(idOf[static_cast<unsigned char>(bytes[i])]);
    return text;
}

struct Batch {
    at::Tensor inputs;
    at::Tensor labels;
};

Batch drawBatch(const std::vector<std::int64_t>& source, std::int64_t rows, std::int64_t length)
{
    Batch batch { at::empty({ rows, length }, at::kLong), at::empty({ rows, length }, at::kLong) };
    const at::Tensor starts = at::randint(static_cast<std::int64_t>(source.size()) - length, { rows }, at::kLong);
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto from = source.begin() + starts.const_data_ptr<std::int64_t>()[i];
        std::copy(from, from + length, batch.inputs.mutable_data_ptr<std::int64_t>() + i * length);
        std::copy(from + 1, from + 1 + length, batch.labels.mutable_data_ptr<std::int64_t>() + i * length);
    }
    return batch;
}

double quantile(std::vector<double> values, double share)
{
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double cpuMs()
{
    timespec now {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double wallMs()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 4) {
        std::fprintf(stderr,
            "bench_char_step DATA STEPS THREADS [fast|libtorch] [evaluate|-] [context batch layers heads width]\n");
        return 2;
    }
    const Text text = readText(argv[1]);
    const int steps = std::atoi(argv[2]);
    const auto option
        = [&](int index, std::int64_t otherwise) { return argc > index ? std::atoll(argv[index]) : otherwise; };
    ModelConfig config;
    config.vocabularySize = text.vocabulary;
    config.contextLength = option(6, 64);
    const std::int64_t rows = option(7, 12);
    config.layers = option(8, 4);
    config.heads = option(9, 4);
    config.width = option(10, 128);
    config.normBias = config.qkvBias = config.outBias = config.mlpBias = false;
    ModelOptions options;
    options.threads = std::atoi(argv[3]);
    options.fastCpu = argc < 5 || std::string(argv[4]) == "fast";
    at::set_num_threads(options.threads);
    auto model = createModel(config, options);
    if (!model.ok()) {
        std::fprintf(stderr, "%s\n", model.error().message.c_str());
        return 1;
    }
    OptimizerConfig settings;
    settings.threads = options.threads;
    auto optimizer = createOptimizer(model.value()->parameters(), settings);
    LrSchedule schedule;
    schedule.decayFrom = 100;
    schedule.decayUntil = 2000;
    std::vector<double> wall;
    std::vector<double> cpu;
    std::vector<double> losses;
    for (int step = 0; step < steps; ++step) {
        const double w = wallMs();
        const double c = cpuMs();
        const Batch batch = drawBatch(text.train, rows, config.contextLength);
        const auto labels = static_cast<double>(batch.labels.numel());
        losses.push_back(
            model.value()->forwardBackward(batch.inputs, batch.labels, 1.0 / labels).sum().item<double>() / labels);
        optimizer->step(learningRate(schedule, step, step), 1.0);
        model.value()->weightsChanged();
        model.value()->parameters().zeroGradients();
        wall.push_back(wallMs() - w);
        cpu.push_back(cpuMs() - c);
    }
    const std::size_t tail = std::min<std::size_t>(20, losses.size());
    const double last = std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(tail), losses.end(), 0.0)
        / static_cast<double>(tail);
    std::printf(
        "{\"program\": \"furrow %s\", \"threads\": %d, \"steps\": %d, \"ms_median\": %.3f, \"ms_best_tenth\": %.3f, "
        "\"cpu_ms_median\": %.3f, \"cpu_ms_best_tenth\": %.3f, \"tokens_per_s\": %.0f, \"last_loss\": %.4f",
        model.value()->backendName().c_str(), options.threads, steps, quantile(wall, 0.5), quantile(wall, 0.1),
        quantile(cpu, 0.5), quantile(cpu, 0.1),
        static_cast<double>(rows * config.contextLength) * 1e3 / quantile(wall, 0.5), last);
    if (argc > 5 && std::string(argv[5]) == "evaluate") {
        double sum = 0;
        std::int64_t count = 0;
        for (int i = 0; i < 200; ++i) {
            const Batch batch = drawBatch(text.heldOut, rows, config.contextLength);
            const LossSum loss = model.value()->lossSum(batch.inputs, batch.labels);
            sum += loss.sum.item<double>();
            count += loss.labels;
        }
        std::printf(", \"validation_loss\": %.4f", sum / static_cast<double>(count));
    }
    std::printf("}\n");
    return 0;
}
