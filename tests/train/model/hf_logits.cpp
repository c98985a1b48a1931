#include "core/data/tokenizer/huggingface_tokenizer.h"
#include "core/train/weights/huggingface_torch.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include <cstdio>

// Helper of tests/oracle/huggingface_roundtrip.py:
//   hf_logits logits FOLDER TOKENS   prints the logits of JSON rows of tokens as JSON
//   hf_logits copy FOLDER OUT        imports and exports again
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
    if (argc != 4)
        return 2;
    at::set_num_threads(1);
    if (std::string(argv[1]) == "tokenizer")
        return exportTokenizer(argv[2], argv[3]);
    const Result<HuggingFaceModel> imported = importHuggingFace(argv[2]);
    if (!imported.ok())
        return fail(imported.error());
    auto model = createModel(imported.value().config, {});
    if (!model.ok())
        return fail(model.error());
    if (const Status status = loadModelState(*model.value(), imported.value().state); !status.ok())
        return fail(status.error());
    if (std::string(argv[1]) == "logits") {
        std::printf("%s\n", logitsOf(*model.value(), nlohmann::json::parse(argv[3])).dump().c_str());
        return 0;
    }
    const Status status = exportHuggingFace(*model.value(), {}, realFileSystem(), argv[3]);
    return status.ok() ? 0 : fail(status.error());
}
