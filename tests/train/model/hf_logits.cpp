#include "core/base/clock.h"
#include "core/data/tokenizer/huggingface_tokenizer.h"
#include "core/model/gguf/gguf_file.h"
#include "core/train/optim/optimizer_torch.h"
#include "core/train/weights/gguf_torch.h"
#include "core/train/weights/huggingface_torch.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>

// Helper of tests/oracle/huggingface_roundtrip.py:
//   hf_logits logits FOLDER TOKENS   (or the GGUF instead of FOLDER) prints the logits of JSON rows of tokens as JSON
//   hf_logits import FOLDER -        prints the seconds that reading the weights takes: of the clock, of the processor
//   hf_logits copy FOLDER OUT        imports and exports again
//   hf_logits gguf FOLDER OUT TYPE   imports and writes a GGUF with the files of FOLDER
//   hf_logits train FOLDER OUT JOB   trains, prints the loss of each step as JSON and exports with the files of FOLDER;
//                                    JOB is {"rows": [[token, ...], ...], "steps": 10, "rate": 0.001, "clip": 1}
//   hf_logits tokenizer NAME OUT     exports the tokenizer byte or char (of TEXT) and prints our ids of TEXT as JSON

namespace {

int fail(const furrow::Error& error)
{
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 1;
}

nlohmann::json logitsOf(furrow::Model& model, const nlohmann::json& rows)
{
    nlohmann::json result = nlohmann::json::array();
    for (const auto& row : rows) {
        const auto tokens = row.get<std::vector<std::int64_t>>();
        const at::Tensor logits = model.logits(at::tensor(tokens, at::kLong).unsqueeze(0))[0].contiguous();
        nlohmann::json lines = nlohmann::json::array();
        for (std::int64_t i = 0; i < logits.size(0); ++i) {
            const float* from = logits[i].const_data_ptr<float>();
            lines.push_back(std::vector<float>(from, from + logits.size(1)));
        }
        result.push_back(lines);
    }
    return result;
}

/// One whole batch a step, AdamW with our usual settings.
nlohmann::json lossesOf(furrow::Model& model, const nlohmann::json& job)
{
    std::vector<at::Tensor> rows;
    for (const auto& row : job["rows"])
        rows.push_back(at::tensor(row.get<std::vector<std::int64_t>>(), at::kLong));
    const at::Tensor tokens = at::stack(rows);
    const std::int64_t length = tokens.size(1) - 1;
    const at::Tensor inputs = tokens.narrow(1, 0, length).contiguous();
    const at::Tensor labels = tokens.narrow(1, 1, length).contiguous();
    const auto count = static_cast<double>(labels.numel());
    const auto optimizer = furrow::createOptimizer(model.parameters(), {});
    nlohmann::json losses = nlohmann::json::array();
    for (int step = 0; step < job["steps"]; ++step) {
        model.parameters().zeroGradients();
        losses.push_back(model.forwardBackward(inputs, labels, 1 / count).sum().item<double>() / count);
        optimizer->step(job["rate"], job["clip"]);
        model.weightsChanged();
    }
    return losses;
}

/// What a run keeps of the folder that it started from.
furrow::HuggingFaceExtras extrasOf(const std::filesystem::path& folder)
{
    furrow::HuggingFaceExtras extras;
    for (const char* name : { "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json" })
        if (auto text = furrow::readFile(folder / name, 1 << 20); text.ok())
            extras.files[name] = text.value();
    return extras;
}

constexpr std::string_view kText = "To be, or not to be:\nthat is the question \xe2\x80\x94 \xc3\xa4\xc3\xb6 \t 42  !";

int exportTokenizer(const std::string& name, const std::filesystem::path& folder)
{
    using namespace furrow;
    std::shared_ptr<const Tokenizer> tokenizer = byteTokenizer();
    if (name == "char") {
        bool given = false;
        auto built = buildCharTokenizer(
            [&](std::string_view& text) {
                text = kText;
                return !std::exchange(given, true);
            },
            CharFallback::EndOfText);
        if (!built.ok())
            return fail(built.error());
        tokenizer = built.value();
    }
    std::filesystem::create_directories(folder);
    for (const auto& [file, text] : huggingFaceTokenizerFiles(*tokenizer, 64))
        if (const Status status = writeFileDurably(realFileSystem(), folder / file, text); !status.ok())
            return fail(status.error());
    std::vector<TokenId> ids;
    if (const Status status = tokenizer->encode(kText, ids); !status.ok())
        return fail(status.error());
    std::printf(
        "%s\n", nlohmann::json { { "text", kText }, { "ids", ids }, { "end", tokenizer->endOfText() } }.dump().c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    using namespace furrow;
    if (argc < 4)
        return 2;
    at::set_num_threads(1);
    if (std::string(argv[1]) == "tokenizer")
        return exportTokenizer(argv[2], argv[3]);
    const std::clock_t beganUsing = std::clock();
    const std::int64_t began = systemClock().monotonicNs();
    const Result<HuggingFaceModel> imported = isGguf(argv[2]) ? importGguf(argv[2]) : importHuggingFace(argv[2]);
    if (!imported.ok())
        return fail(imported.error());
    if (std::string(argv[1]) == "import") {
        std::printf("[%.3f, %.3f]\n", static_cast<double>(systemClock().monotonicNs() - began) / 1e9,
            static_cast<double>(std::clock() - beganUsing) / CLOCKS_PER_SEC);
        return 0;
    }
    auto model = createModel(imported.value().layout.config, {});
    if (!model.ok())
        return fail(model.error());
    if (const Status status = loadModelState(*model.value(), imported.value().state); !status.ok())
        return fail(status.error());
    if (std::string(argv[1]) == "logits") {
        std::printf("%s\n", logitsOf(*model.value(), nlohmann::json::parse(argv[3])).dump().c_str());
        return 0;
    }
    if (std::string(argv[1]) == "gguf" && argc == 5) {
        const auto type = closedValue<GgufType>(argv[4]);
        if (!type)
            return 2;
        const Status status
            = exportGguf(*model.value(), extrasOf(argv[2]), { *type, "small" }, realFileSystem(), argv[3]);
        return status.ok() ? 0 : fail(status.error());
    }
    HuggingFaceExtras extras;
    if (std::string(argv[1]) == "train" && argc == 5) {
        std::printf("%s\n", lossesOf(*model.value(), nlohmann::json::parse(argv[4])).dump().c_str());
        extras = extrasOf(argv[2]);
    }
    const Status status = exportHuggingFace(*model.value(), extras, realFileSystem(), argv[3]);
    return status.ok() ? 0 : fail(status.error());
}
