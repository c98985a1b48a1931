#include "core/data/stream_data.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/tokenizer.h"

namespace furrow {

Result<StreamData> StreamData::open(const std::filesystem::path& file, const Tokenizer& tokenizer, double heldOutShare)
{
    FURROW_TRY_ASSIGN(auto text, readFile(file, 1ull << 30));
    StreamData data;
    data.name_ = utf8Text(file);
    // As nanoGPT's prepare.py does: the text is cut, then each part is encoded.
    std::string_view all = text;
    auto cut = static_cast<std::size_t>(static_cast<double>(all.size()) * (1 - heldOutShare));
    while (cut > 0 && cut < all.size() && (static_cast<unsigned char>(all[cut]) & 0xC0) == 0x80)
        --cut;
    FURROW_TRY(tokenizer.encode(all.substr(0, cut), data.tokens_));
    data.split_ = static_cast<std::int64_t>(data.tokens_.size());
    FURROW_TRY(tokenizer.encode(all.substr(cut), data.tokens_));
    return data;
}

Status StreamData::fill(std::int64_t begin, std::int64_t end, Random& random, int n, std::int64_t seqLen,
    std::int64_t* inputs, std::int64_t* labels) const
{
    if (end - begin <= seqLen)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 has %2 tokens in one of its parts, too few for a context of %3. Use more text or a shorter context.",
                { name_, Count(static_cast<std::int64_t>(end - begin)), Count(seqLen) }) };
    for (int row = 0; row < n; ++row) {
        const std::int64_t at
            = begin + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(end - begin - seqLen)));
        for (std::int64_t t = 0; t < seqLen; ++t) {
            *inputs++ = tokens_[static_cast<std::size_t>(at + t)];
            *labels++ = tokens_[static_cast<std::size_t>(at + t + 1)];
        }
    }
    return {};
}

Status StreamData::fillTrain(
    Random& random, int n, std::int64_t seqLen, std::int64_t* inputs, std::int64_t* labels) const
{
    return fill(0, split_, random, n, seqLen, inputs, labels);
}

Status StreamData::fillHeldOut(
    Random& random, int n, std::int64_t seqLen, std::int64_t* inputs, std::int64_t* labels) const
{
    return fill(split_, static_cast<std::int64_t>(tokens_.size()), random, n, seqLen, inputs, labels);
}

} // namespace furrow
