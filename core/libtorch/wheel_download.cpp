#include "core/libtorch/wheel_download.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"

#include <charconv>
#include <utility>

namespace furrow {

namespace {

/// The number behind `mark` in a header; 0 where there is none.
std::uint64_t numberIn(const std::string& header, std::string_view mark)
{
    const auto at = header.find(mark);
    std::uint64_t value = 0;
    if (at != std::string::npos)
        std::from_chars(header.data() + at + mark.size(), header.data() + header.size(), value);
    return value;
}

/// The file that a download grows in.
class PartFile {
public:
    explicit PartFile(std::filesystem::path path)
        : path_(std::move(path))
    {
        std::error_code error;
        const auto there = std::filesystem::file_size(path_, error);
        size_ = error ? 0 : there;
    }
    std::uint64_t size() const { return size_; }

    /// @param from  where the answer begins; what lies behind it goes
    Status open(std::uint64_t from)
    {
        const bool anew = from == 0;
        FURROW_TRY_ASSIGN(auto file,
            RegularFile::open(path_, anew ? RegularFile::At::Nothing : RegularFile::At::End, Links::AsThemselves));
        file_.emplace(std::move(file));
        size_ = anew ? 0 : size_;
        return {};
    }
    Status append(std::string_view bytes)
    {
        const auto wrote = file_->write(bytes);
        size_ += wrote;
        if (wrote < bytes.size())
            return Error { ErrorCode::Io,
                sentence("The disk of %1 takes no more. Make room, then run this again: it goes on from here.",
                    { utf8Text(path_) }) };
        return {};
    }
    void close() { file_.reset(); }

private:
    std::filesystem::path path_;
    std::uint64_t size_ = 0;
    std::optional<RegularFile> file_;
};

/// Brings `part` to its end.
Status transfer(const WheelSource& wheel, PartFile& part, HttpTransport& transport, const RetryPolicy& retry,
    const ByteProgress& progress)
{
    Status written;
    std::uint64_t total = wheel.sizeBytes;
    bool isFirst = true; // piece of an answer
    const BodySink sink = [&](const HttpResponse& answer, std::string_view piece) {
        if (std::exchange(isFirst, false)) {
            const bool isRest = answer.status == 206
                && numberIn(answer.header("content-range"), "bytes ") == part.size() && part.size() > 0;
            written = answer.status == 206 && !isRest
                ? Status(Error { ErrorCode::Network,
                      sentence("%1 sent another part than was asked for.", { printableUrl(wheel.from.address) }) })
                : part.open(isRest ? part.size() : 0);
            if (total == 0)
                total = (isRest ? part.size() : 0) + numberIn(answer.header("content-length"), "");
        }
        if (written.ok())
            written = part.append(piece);
        if (written.ok() && progress)
            progress(part.size(), total);
        return written.ok();
    };
    const auto answer = fetchFrom(
        transport, retry, wheel.from, "GET",
        [&] {
            isFirst = true;
            return part.size();
        },
        sink);
    part.close();
    if (!written.ok())
        return written;
    if (!answer.ok())
        return Error { answer.error().code,
            sentence("%1. What is there already is kept: run this again, and it goes on from there.",
                { answer.error().message }) };
    const auto status = answer.value().status;
    if (status != 200 && status != 206 && status != 416) // 416: nothing is left to send
        return Error { ErrorCode::Network,
            sentence("%1 answers with HTTP %2.", { printableUrl(wheel.from.address), std::to_string(status) }) };
    return {};
}

} // namespace

std::uint64_t sizeOfWheel(const WheelSource& wheel, HttpTransport& transport, const RetryPolicy& retry)
{
    if (!wheel.file.empty() || wheel.sizeBytes > 0)
        return wheel.sizeBytes;
    const auto answer = fetchFrom(transport, retry, wheel.from, "HEAD", {}, {});
    return answer.ok() && answer.value().status == 200 ? numberIn(answer.value().header("content-length"), "") : 0;
}

Result<std::filesystem::path> downloadWheel(const WheelSource& wheel, const PinnedPackage& package,
    const std::filesystem::path& folder, HttpTransport& transport, const RetryPolicy& retry,
    const ByteProgress& progress)
{
    const auto whole = folder / wheel.name;
    auto partial = whole;
    partial += ".part";
    for (;;) {
        PartFile part(partial);
        const bool wasResumed = part.size() > 0;
        FURROW_TRY(transfer(wheel, part, transport, retry, progress));
        FURROW_TRY_ASSIGN(const auto hash, sha256File(partial));
        if (package.allows(hash) && (wheel.sha256.empty() || wheel.sha256 == hash)) {
            FURROW_TRY(realFileSystem().replace(partial, whole));
            return whole;
        }
        FURROW_TRY(realFileSystem().removeAll(partial));
        if (!wasResumed)
            return Error { ErrorCode::Corrupt,
                sentence(
                    "%1 from %2 has the SHA-256 %3, which is none of those that Furrow knows for %4 %5. It was thrown away. Run this again; if it comes again, the index holds something else: name another one in PIP_INDEX_URL.",
                    { wheel.name, printableUrl(wheel.from.address), hash, package.name, package.version }) };
    }
}

} // namespace furrow
