// Looks at a safetensors file without torch: at its header as a worker does, and at its numbers. NaN and Inf are those
// whose exponent is all ones.

#include "core/run/folder/finite_weights.h"

#include "core/base/denied.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/model/safetensors_header.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/run_paths.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace furrow {

namespace {

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

/// Looks at the numbers of a file that comes in pieces.
class NumbersOfWeights {
public:
    explicit NumbersOfWeights(std::vector<SafetensorsEntry> tensors)
        : tensors_(std::move(tensors))
    {
    }
    void take(std::string_view bytes)
    {
        while (!bytes.empty() && next_ < tensors_.size() && notFinite_.empty()) {
            const SafetensorsEntry& tensor = tensors_[next_];
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
    /// A number may stand in two pieces.
    void look(const SafetensorsEntry& tensor, std::string_view bytes)
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

    std::vector<SafetensorsEntry> tensors_;
    std::size_t next_ = 0; ///< of them
    std::uint64_t at_ = 0; ///< in the file
    std::string begun_; ///< a number of that tensor
    std::string notFinite_;
};

Result<SafetensorsHeader> headerOf(const std::filesystem::path& file)
{
    FURROW_TRY_ASSIGN(const auto opened, RandomAccessFile::open(file));
    return readSafetensorsHeader(opened);
}

/// Of a checkpoint of which all hashes fit.
Status cannotBeRead(const std::filesystem::path& folder, const std::string& file, const Error& why)
{
    return Error { why.code,
        sentence("checkpoint %1 cannot be used: its %2 cannot be read (%3), though the hashes of its files fit.",
            { utf8Text(folder.filename()), file, why.message }) };
}

} // namespace

WeightsVerdict readCheckpoint(const std::filesystem::path& folder, const std::string& manifestSha256,
    const std::string& runId, FrozenVerdicts* known, const std::stop_token& stop)
{
    std::optional<Result<SafetensorsHeader>> header;
    std::optional<NumbersOfWeights> numbers;
    const auto readHeader = [&] {
        header = headerOf(folder / kWeightsFile);
        if (header->ok())
            numbers.emplace(header->value().entries);
    };
    const auto manifest = verifyOwnFiles(folder, manifestSha256, runId, stop, [&](std::string_view piece) {
        if (!header)
            readHeader();
        if (numbers)
            numbers->take(piece);
    });
    WeightsVerdict verdict;
    verdict.files = manifest.ok() ? verifyFrozen(folder, manifest.value(), stop, known) : manifest.error();
    if (!verdict.files.ok())
        return verdict;
    if (!header) // of an empty file no piece comes
        readHeader();
    const auto& frozen = manifest.value().frozen;
    const auto beside = frozen ? headerOf(frozenFileIn(folder.parent_path(), frozen->sha256)) : *header;
    if (!header->ok())
        verdict.numbers = cannotBeRead(folder, kWeightsFile, header->error());
    else if (!beside.ok())
        verdict.numbers = cannotBeRead(folder, "frozen/" + frozen->sha256 + ".safetensors", beside.error());
    else if (!numbers->notFinite().empty())
        verdict.numbers = Error { ErrorCode::Corrupt,
            sentence(
                "checkpoint %1 cannot be used: tensor '%2' of its weights holds NaN or Inf, though the hashes of its files fit.",
                { utf8Text(folder.filename()), numbers->notFinite() }) };
    return verdict;
}

Message waysPast(const RunPaths& paths, const Error& problem)
{
    if (isForRights(problem.message))
        return sentence(kOnlyRightsMissing);
    return problem.code == ErrorCode::Corrupt
        ? sentence(
              "Put a whole copy back and resume; or 'furrowctl resume %1 --accept-loss' goes on from the newest whole checkpoint before it and trains its chunks again ('--dry-run' shows which).",
              { utf8Text(paths.folder()) })
        : sentence(
              "Bring the file or its disk back and resume; or 'furrowctl resume %1 --accept-loss' goes on without it and trains its chunks again ('--dry-run' shows which).",
              { utf8Text(paths.folder()) });
}

Status verifyTrainable(const std::filesystem::path& folder, const std::string& manifestSha256, const std::string& runId,
    FrozenVerdicts* known, const std::stop_token& stop)
{
    return readCheckpoint(folder, manifestSha256, runId, known, stop).trainable();
}

} // namespace furrow
