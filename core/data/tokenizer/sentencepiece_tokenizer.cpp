#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/simple_tokenizers.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_version.h>

namespace furrow {

namespace {

class SentencepieceTokenizer final : public Tokenizer {
public:
    SentencepieceTokenizer(
        std::unique_ptr<sentencepiece::SentencePieceProcessor> processor, std::string model, std::string name)
        : processor_(std::move(processor))
        , definition_(std::move(model))
        , name_(std::move(name))
        , hash_(sha256Hex(definition_))
        , size_(static_cast<std::uint32_t>(processor_->GetPieceSize()))
        , endOfText_(processor_->eos_id() >= 0 ? static_cast<TokenId>(processor_->eos_id()) : size_)
    {
    }

    std::string name() const override { return name_; }
    std::string hash() const override { return hash_; }
    std::uint32_t vocabularySize() const override { return std::max(size_, endOfText_ + 1); }
    TokenId endOfText() const override { return endOfText_; }
    std::optional<TokenId> unknownToken() const override
    {
        return processor_->unk_id() >= 0 ? std::optional(static_cast<TokenId>(processor_->unk_id())) : std::nullopt;
    }
    std::string definition() const override { return definition_; }
    bool dropsText() const override { return true; } // its normalizer takes spaces away

    Status encode(std::string_view text, std::vector<TokenId>& out) const override
    {
        std::vector<int> ids;
        if (const auto status = processor_->Encode({ text.data(), text.size() }, &ids); !status.ok())
            return Error { ErrorCode::InvalidArgument,
                sentence("The sentencepiece model %1 does not encode a text of %2 bytes: %3.",
                    { name_, std::to_string(text.size()), status.ToString() }) };
        out.insert(out.end(), ids.begin(), ids.end());
        return {};
    }

    std::string decode(std::span<const TokenId> ids) const override
    {
        std::vector<int> known;
        for (const auto id : ids) {
            if (id < size_)
                known.push_back(static_cast<int>(id));
        }
        std::string out;
        return processor_->Decode(known, &out).ok() ? out : "";
    }

private:
    // set in the constructor, then constant; const methods of the processor are thread-safe
    std::unique_ptr<const sentencepiece::SentencePieceProcessor> processor_;
    std::string definition_;
    std::string name_;
    std::string hash_;
    std::uint32_t size_;
    TokenId endOfText_;
};

/// What is for people of "Internal: src/model.cc(123) [condition] why", or of "Internal: why".
std::string whyOf(const std::string& status)
{
    const auto condition = status.find(']');
    const auto code = status.find(": ");
    const auto from = condition != std::string::npos ? condition + 1 : code != std::string::npos ? code + 1 : 0;
    const auto why = status.find_first_not_of(' ', from);
    return why == std::string::npos ? std::string() : status.substr(why);
}

} // namespace

Result<std::shared_ptr<const Tokenizer>> readSentencepiece(std::string_view model, const std::string& name)
{
    auto processor = std::make_unique<sentencepiece::SentencePieceProcessor>();
    if (const auto status = processor->LoadFromSerializedProto({ model.data(), model.size() }); !status.ok()) {
        const std::string why = whyOf(status.ToString());
        return Error { ErrorCode::Corrupt,
            why.empty()
                ? sentence("it is neither a tokenizer.json, a tiktoken file nor a sentencepiece model")
                : sentence("it is neither a tokenizer.json, a tiktoken file nor a sentencepiece model (%1)", { why }) };
    }
    if (processor->GetPieceSize() <= 0)
        return Error { ErrorCode::Corrupt, sentence("the sentencepiece model has no pieces") };
    return std::shared_ptr<const Tokenizer>(
        std::make_shared<SentencepieceTokenizer>(std::move(processor), std::string(model), name));
}

std::string sentencepieceVersion() { return SENTENCEPIECE_VERSION; }

} // namespace furrow
