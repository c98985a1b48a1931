// Looks at the numbers of a safetensors file without torch: 8 bytes little-endian header length, JSON header, tensor
// bytes. NaN and Inf are the numbers whose exponent is all ones. A file that is none is left to its reader, who knows
// more about it.

#include "core/run/folder/finite_weights.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/run/folder/checkpoint_manifest.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace furrow {

namespace {

constexpr std::size_t kSizeBytes = 8; ///< of the length of the header
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

template <typename Bits> bool allFinite(std::string_view numbers, Bits exponent)
{
    bool finite = true;
    for (std::size_t at = 0; at + sizeof(Bits) <= numbers.size(); at += sizeof(Bits)) {
        Bits bits = 0;
        std::memcpy(&bits, numbers.data() + at, sizeof(Bits));
        finite = finite && (bits & exponent) != exponent;
    }
    return finite;
}

/// Bytes of a number of this type of safetensors; 0 for types that hold no NaN.
std::size_t widthOf(const std::string& type)
{
    return type == "F64" ? 8 : type == "F32" ? 4 : type == "F16" || type == "BF16" ? 2 : 0;
}

/// Of whole numbers of a type.
bool isFinite(const std::string& type, std::string_view numbers)
{
    if (type == "F32")
        return allFinite<std::uint32_t>(numbers, 0x7f80'0000U);
    if (type == "BF16")
        return allFinite<std::uint16_t>(numbers, 0x7f80);
    if (type == "F16")
        return allFinite<std::uint16_t>(numbers, 0x7c00);
    return allFinite<std::uint64_t>(numbers, 0x7ff0'0000'0000'0000U);
}

struct Tensor {
    std::string name;
    std::string type;
    std::uint64_t begin = 0; ///< in the file
    std::uint64_t end = 0;
};

/// By place in the file; none when this is no header that can be used.
std::vector<Tensor> tensorsOf(std::string_view text)
{
    const auto header = parseBoundedJson(text);
    std::vector<Tensor> tensors;
    if (!header.is_object())
        return tensors;
    for (const auto& [name, entry] : header.items()) {
        if (name == "__metadata__")
            continue;
        const auto type = entry.is_object() ? entry.find("dtype") : entry.end();
        const auto offsets = entry.is_object() ? entry.find("data_offsets") : entry.end();
        if (type == entry.end() || offsets == entry.end() || !type->is_string() || !offsets->is_array()
            || offsets->size() != 2 || !offsets->front().is_number_unsigned() || !offsets->back().is_number_unsigned())
            return {};
        const std::uint64_t data = kSizeBytes + text.size();
        tensors.push_back({ name, type->get<std::string>(), data + offsets->front().get<std::uint64_t>(),
            data + offsets->back().get<std::uint64_t>() });
    }
    std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) { return a.begin < b.begin; });
    std::uint64_t end = 0;
    for (const Tensor& tensor : tensors) {
        if (tensor.begin < end || tensor.end < tensor.begin)
            return {};
        end = tensor.end;
    }
    return tensors;
}

/// Looks at the numbers of a file that comes in pieces.
class NumbersOfWeights {
public:
    void take(std::string_view bytes)
    {
        if (!isHeaderRead_)
            bytes = takeHeader(bytes);
        while (!bytes.empty() && next_ < tensors_.size() && notFinite_.empty()) {
            const Tensor& tensor = tensors_[next_];
            if (at_ >= tensor.end) {
                ++next_;
                begun_.clear();
                continue;
            }
            const std::uint64_t until = at_ < tensor.begin ? tensor.begin : tensor.end;
            const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), until - at_));
            if (at_ >= tensor.begin && widthOf(tensor.type) > 0)
                look(tensor, bytes.substr(0, size));
            at_ += size;
            bytes.remove_prefix(size);
        }
    }
    /// The first tensor that holds NaN or Inf; "": none does.
    const std::string& notFinite() const { return notFinite_; }

private:
    /// @return what comes behind it
    std::string_view takeHeader(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const bool isSizeKnown = header_.size() >= kSizeBytes;
            std::uint64_t size = 0;
            if (isSizeKnown)
                std::memcpy(&size, header_.data(), kSizeBytes);
            isHeaderRead_ = size > kMaxHeaderBytes;
            if (isHeaderRead_)
                return {};
            const std::size_t wanted = kSizeBytes + static_cast<std::size_t>(size);
            const auto piece = bytes.substr(0, wanted - header_.size());
            header_.append(piece);
            bytes.remove_prefix(piece.size());
            if (isSizeKnown && header_.size() == wanted) {
                isHeaderRead_ = true;
                at_ = wanted;
                tensors_ = tensorsOf(std::string_view(header_).substr(kSizeBytes));
                header_ = {};
                return bytes;
            }
        }
        return bytes;
    }

    /// A number may stand in two pieces.
    void look(const Tensor& tensor, std::string_view bytes)
    {
        const std::size_t width = widthOf(tensor.type);
        bool finite = true;
        if (!begun_.empty()) {
            const auto rest = bytes.substr(0, width - begun_.size());
            begun_.append(rest);
            bytes.remove_prefix(rest.size());
            if (begun_.size() < width)
                return;
            finite = isFinite(tensor.type, begun_);
        }
        const std::size_t whole = bytes.size() - bytes.size() % width;
        begun_ = bytes.substr(whole);
        if (!finite || !isFinite(tensor.type, bytes.substr(0, whole)))
            notFinite_ = tensor.name;
    }

    std::string header_; ///< what came of it
    bool isHeaderRead_ = false;
    std::vector<Tensor> tensors_;
    std::size_t next_ = 0; ///< of them
    std::uint64_t at_ = 0; ///< in the file
    std::string begun_; ///< a number of that tensor
    std::string notFinite_;
};

} // namespace

WeightsVerdict readCheckpoint(const std::filesystem::path& folder, const std::string& manifestSha256,
    const std::string& runId, FrozenVerdicts* known)
{
    NumbersOfWeights numbers;
    WeightsVerdict verdict;
    verdict.files = verifyCheckpoint(
        folder, manifestSha256, runId, {}, known, [&numbers](std::string_view piece) { numbers.take(piece); });
    if (!numbers.notFinite().empty())
        verdict.numbers = Error { ErrorCode::Corrupt,
            sentence(
                "checkpoint %1 cannot be used: tensor '%2' of its weights holds NaN or Inf, though the hashes of its files fit.",
                { utf8Text(folder.filename()), numbers.notFinite() }) };
    return verdict;
}

Status verifyTrainable(const std::filesystem::path& folder, const std::string& manifestSha256, const std::string& runId,
    FrozenVerdicts* known)
{
    return readCheckpoint(folder, manifestSha256, runId, known).trainable();
}

} // namespace furrow
