#include "core/base/hash.h"
#include "core/data/tokenizer/tokenizer.h"

namespace furrow {

namespace {

constexpr TokenId kEndOfText = 256;

class ByteTokenizer final : public Tokenizer {
public:
    std::string name() const override { return "byte"; }
    std::string hash() const override { return sha256Hex("furrow byte 1"); }
    std::uint32_t vocabularySize() const override { return kEndOfText + 1; }
    TokenId endOfText() const override { return kEndOfText; }
    std::string definition() const override { return "byte"; }

    Status encode(std::string_view text, std::vector<TokenId>& out) const override
    {
        const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
        out.insert(out.end(), bytes, bytes + text.size());
        return {};
    }

    std::string decode(std::span<const TokenId> ids) const override
    {
        std::string out;
        out.reserve(ids.size());
        for (const auto id : ids) {
            if (id < kEndOfText)
                out.push_back(static_cast<char>(id));
        }
        return out;
    }
};

} // namespace

std::shared_ptr<const Tokenizer> byteTokenizer()
{
    static const auto one = std::make_shared<const ByteTokenizer>();
    return one;
}

} // namespace furrow
