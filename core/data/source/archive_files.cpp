#include "core/data/source/archive_files.h"

#include "core/base/format.h"
#include "core/base/outside.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/data/source/content_claim.h"
#include "core/data/source/source_files.h"
#include "core/data/source/tar_reader.h"
#include "core/data/source/web_dataset.h"
#include "core/data/source/zip_directory.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {

enum class ArchiveKind { None, Zip, Tar };

constexpr std::size_t kTarBlock = 512;
constexpr std::size_t kHeadBytes = 2 << 20; ///< expanded, or a whole block of bzip2 in it: enough to tell the format

bool claimsTar(const std::string& extension)
{
    static constexpr std::string_view kEndings[] = { "tar", "tgz", "tbz", "tbz2", "txz", "tzst" };
    return std::find(std::begin(kEndings), std::end(kEndings), extension) != std::end(kEndings);
}

Error wrongName(const std::string& name, const char* what)
{
    return { ErrorCode::Corrupt,
        sentence(
            "%1 is called %2 and does not begin as such a file: its first bytes are damaged, or it has a wrong name. Fetch or write it again, or give it its right name.",
            { name, what }) };
}

/// Of a file that is called zip.
Error noZipBegin(const ByteSource& source, const std::string& name)
{
    const auto before = bytesBeforeZip(source);
    if (!before.ok())
        return before.error();
    if (before.value() == 0)
        return wrongName(name, "zip");
    return { ErrorCode::InvalidArgument,
        sentence(
            "%1 is a zip archive with %2 of something else before it, such as the program of one that unpacks itself. Unpack it and name the folder.",
            { name, Bytes(before.value()) }) };
}

/// By content; a name of a data file, or of another archive, denies it.
/// @param packing  of a tar archive as a whole
Result<ArchiveKind> kindOf(
    const std::shared_ptr<const ByteSource>& source, const std::string& name, Compression& packing)
{
    if (hasDataExtension(name))
        return ArchiveKind::None;
    std::string head(kTarBlock, '\0');
    FURROW_TRY_ASSIGN(auto size, readFully(*streamFrom(source, 0), head));
    head.resize(size);
    using namespace std::string_view_literals;
    if (head.starts_with("PK\3\4"sv) || head.starts_with("PK\5\6"sv))
        return ArchiveKind::Zip;
    const std::string extension = dataExtension(name);
    if (extension == "zip")
        return noZipBegin(*source, name);
    packing = compressionOf(head);
    std::string block(kTarBlock, '\0');
    FURROW_TRY_ASSIGN(auto expanded, readFully(*expandedStream(streamFrom(source, 0), packing, name), block));
    const bool isEmptyTar
        = expanded == kTarBlock && claimsTar(extension) && block.find_first_not_of('\0') == std::string::npos;
    if (isEmptyTar || (expanded == kTarBlock && isTarHeader(block)))
        return ArchiveKind::Tar;
    return claimsTar(extension) ? Result<ArchiveKind>(wrongName(name, "tar")) : ArchiveKind::None;
}

/// "./a.txt" and "b/./a.txt" are "a.txt" and "b/a.txt", as 'tar -cf a.tar .' writes them.
std::string plainName(std::string_view name)
{
    std::string plain = "/" + std::string(name);
    for (auto at = plain.find("/./"); at != std::string::npos; at = plain.find("/./", at))
        plain.erase(at, 2);
    return plain.substr(1);
}

bool isHidden(std::string_view name) { return isHiddenPath(name) || name.starts_with("__MACOSX/"); }

/// Only its own name begins with a dot, and is one of a data file: somebody may miss it.
bool isHiddenData(std::string_view name)
{
    const auto folders = name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1;
    const auto own = name.substr(folders);
    return own.starts_with('.') && !isHidden(name.substr(0, folders)) && !isNoteOfMacOs(own) && hasDataExtension(own);
}

bool leadsOut(std::string_view name)
{
    const std::string inside = "/" + std::string(name) + "/";
    return name.starts_with('/') || name.find('\0') != std::string_view::npos
        || inside.find("/../") != std::string::npos;
}

/// What is found in one archive.
class Members {
public:
    Members(const DataFile& archive, std::shared_ptr<const ByteSource> source, const RunConfig& config)
        : archive_(archive)
        , source_(std::move(source))
        , config_(config)
    {
    }
    /// By its name alone.
    bool wants(std::string_view name)
    {
        if (leadsOut(name))
            skip(sentence("%1 has a name that leads out of the archive and was left out.", { pathOf(name) }));
        else if (isHiddenData(name))
            skip(sentence("%1 is hidden (its name begins with a dot) and was left out. Rename it if it is meant.",
                { pathOf(name) }));
        else if (!isHidden(name) && !hasDataExtension(name))
            skip(sentence(
                "%1 has no name of a data file (.txt .csv .tsv .jsonl .json .parquet .arrow .warc) and was left out.",
                { pathOf(name) }));
        else
            return !isHidden(name);
        return false;
    }
    /// @param head  the file itself or, where it is packed, its unpacked beginning
    Status add(std::string_view name, ArchiveMember member, const std::shared_ptr<const ByteSource>& head)
    {
        if (!names_.insert(std::string(name)).second)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 stands in its archive twice, and which one counts is not said. Pack it again.",
                    { pathOf(name) }) };
        if (names_.size() > kMaxSourceFiles)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 has more than %2 files. Name a smaller folder, or join the files.",
                    { archive_.path, Count(static_cast<std::int64_t>(kMaxSourceFiles)) }) };
        const bool isEmpty = member.sizeBytes == 0 || member.packedBytes == 0;
        DataFile file = archive_;
        file.path = pathOf(name);
        file.sizeBytes = member.packedBytes;
        member.archive = archive_.path;
        member.archiveBytes = archive_.sizeBytes;
        const bool isPacked = member.packing != Compression::None || member.archivePacking != Compression::None;
        file.member = std::move(member);
        Status status = isEmpty ? Status(Error { ErrorCode::InvalidArgument, sentence("%1 is empty.", { file.path }) })
                                : detect(head, isPacked, file);
        if (status.ok())
            found_.files.push_back(std::move(file));
        else if (status.error().code == ErrorCode::Corrupt || isOutside(status.error()))
            return status; // it would be missing without a word
        else
            skip(status.error().message);
        return {};
    }
    void skip(std::string why)
    {
        constexpr std::size_t kMostNamed = 20;
        if (found_.skipped.size() < kMostNamed)
            found_.skipped.push_back(std::move(why));
        else
            ++unnamed_;
    }
    std::string pathOf(std::string_view name) const { return archive_.path + "/" + replaceInvalidUtf8(name).text; }
    const std::shared_ptr<const ByteSource>& source() const { return source_; }
    const std::string& path() const { return archive_.path; }
    ArchiveFiles take()
    {
        if (unnamed_ > 0)
            found_.skipped.push_back(
                sentence("%1: %2 more files in it were left out.", { archive_.path, Count(unnamed_) }));
        const auto isBefore = [](const DataFile& a, const DataFile& b) {
            const bool isPacked
                = a.member->archivePacking != Compression::None; // another order would expand it anew for each file
            return isPacked ? a.member->offset < b.member->offset : naturalLess(a.path, b.path);
        };
        std::stable_sort(found_.files.begin(), found_.files.end(), isBefore);
        return std::move(found_);
    }

private:
    Status detect(const std::shared_ptr<const ByteSource>& head, bool isPacked, DataFile& file) const
    {
        FURROW_TRY_ASSIGN(auto format, detectFormat(head, file.path, config_));
        file.format = format;
        if (isPacked && file.format.format == TextFormat::Parquet)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 is Parquet that is compressed once more, so it cannot be read at any place. Unpack it from the archive.",
                    { file.path }) };
        return {};
    }

    DataFile archive_;
    std::shared_ptr<const ByteSource> source_;
    const RunConfig& config_;
    ArchiveFiles found_;
    std::set<std::string, std::less<>> names_;
    std::int64_t unnamed_ = 0;
};

std::optional<Compression> zipPacking(std::uint16_t method)
{
    switch (method) {
    case 0: return Compression::None;
    case 8: return Compression::Deflate;
    case 12: return Compression::Bzip2;
    case 93: return Compression::Zstd;
    case 95: return Compression::Xz;
    default: return std::nullopt;
    }
}

/// The first bytes of what a stream gives.
Result<std::shared_ptr<const ByteSource>> headOf(const std::function<Result<std::size_t>(std::span<char>)>& read)
{
    std::string head(kHeadBytes, '\0');
    std::size_t filled = 0;
    for (std::size_t n = 1; n > 0 && filled < head.size(); filled += n) {
        FURROW_TRY_ASSIGN(auto more, read(std::span<char>(head).subspan(filled)));
        n = more;
    }
    head.resize(filled);
    return memorySource(std::move(head));
}

using Names = std::set<std::string, std::less<>>;

/// What a zip archive with these files is, by the programs that write it; nothing: an archive.
std::optional<KnownContent> documentKind(const Names& names, const std::string& extension)
{
    using enum NotText;
    if (names.contains("[Content_Types].xml")) {
        if (names.contains("xl/workbook.xml"))
            return KnownContent { SentenceText("an Excel spreadsheet"), SaveAsCsv };
        if (names.contains("ppt/presentation.xml"))
            return KnownContent { SentenceText("a PowerPoint presentation"), SaveAsText };
        return KnownContent { names.contains("word/document.xml") ? SentenceText("a Word document")
                                                                  : SentenceText("an Office document"),
            SaveAsText };
    }
    if (!names.contains("mimetype"))
        return std::nullopt;
    if (names.contains("META-INF/container.xml"))
        return KnownContent { SentenceText("an EPUB book"), SaveAsText };
    if (!names.contains("content.xml"))
        return std::nullopt;
    return extension == "ods" ? KnownContent { SentenceText("an OpenDocument spreadsheet"), SaveAsCsv }
                              : KnownContent { SentenceText("an OpenDocument document"), SaveAsText };
}

Status addZip(Members& members)
{
    Names names;
    auto entries = readZipDirectory(*members.source(), members.path(), [&](std::string_view name) {
        names.emplace(name);
        return members.wants(plainName(name));
    });
    if (const auto document = documentKind(names, dataExtension(members.path())))
        return notText(members.path(), *document);
    if (!entries.ok())
        return entries.error();
    for (const auto& entry : entries.value()) {
        const std::string name = plainName(entry.name);
        if (entry.link) {
            members.skip(sentence("%1 is a link and was left out.", { members.pathOf(name) }));
            continue;
        }
        const auto packing = zipPacking(entry.method);
        if (entry.encrypted)
            return Error { ErrorCode::InvalidArgument,
                sentence("%1 is encrypted. Unpack the archive and name the folder.", { members.pathOf(name) }) };
        if (!packing)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 is packed by method %2 of zip, which Furrow does not know. Unpack the archive and name the folder.",
                    { members.pathOf(name), std::to_string(entry.method) }) };
        ArchiveMember member { {}, 0, Compression::None, entry.offset, entry.packedBytes, *packing, entry.sizeBytes,
            entry.crc32 };
        auto head
            = Result<std::shared_ptr<const ByteSource>>(sliceOf(members.source(), entry.offset, entry.packedBytes));
        if (*packing != Compression::None) {
            const auto stream = memberStream(members.source(), member, members.pathOf(name));
            head = headOf([&stream](std::span<char> into) { return stream->read(into); });
        }
        if (!head.ok())
            return head.error();
        FURROW_TRY(members.add(name, std::move(member), head.value()));
    }
    return {};
}

Status addTar(Members& members, Compression packing)
{
    TarReader reader(expandedStream(streamFrom(members.source(), 0), packing, members.path()), members.path());
    for (;;) {
        FURROW_TRY_ASSIGN(auto next, reader.next());
        if (!next)
            return {};
        TarEntry& entry = *next;
        entry.name = plainName(entry.name);
        if (entry.kind == TarEntry::Kind::Folder || entry.kind == TarEntry::Kind::Other || !members.wants(entry.name))
            continue;
        if (entry.kind != TarEntry::Kind::File) {
            members.skip(entry.kind == TarEntry::Kind::Link
                    ? sentence("%1 is a link and was left out.", { members.pathOf(entry.name) })
                    : sentence("%1 is stored with holes (sparse) and was left out.", { members.pathOf(entry.name) }));
            continue;
        }
        const std::uint64_t end = members.source()->sizeBytes();
        if (packing == Compression::None && (entry.offset > end || entry.sizeBytes > end - entry.offset))
            return Error { ErrorCode::Corrupt,
                sentence("%1 ends at byte %2, in the middle of an archive. It is cut off: fetch or write it again.",
                    { members.path(), std::to_string(end) }) };
        FURROW_TRY_ASSIGN(auto head,
            packing == Compression::None ? sliceOf(members.source(), entry.offset, entry.sizeBytes)
                                         : headOf([&reader](std::span<char> into) { return reader.read(into); }));
        const ArchiveMember member { {}, 0, packing, entry.offset, entry.sizeBytes, Compression::None, entry.sizeBytes,
            {} };
        FURROW_TRY(members.add(entry.name, member, head));
    }
}

} // namespace

bool hasArchiveExtension(std::string_view name)
{
    const std::string extension = dataExtension(name);
    return extension == "zip" || claimsTar(extension);
}

Result<std::optional<ArchiveFiles>> describeArchive(
    const DataFile& archive, const std::shared_ptr<const ByteSource>& source, const RunConfig& config)
{
    auto packing = Compression::None;
    FURROW_TRY_ASSIGN(auto kind, kindOf(source, archive.path, packing));
    if (kind == ArchiveKind::None)
        return std::optional<ArchiveFiles> {};
    if (kind == ArchiveKind::Tar) {
        FURROW_TRY_ASSIGN(
            auto isWeb, isWebDataset(expandedStream(streamFrom(source, 0), packing, archive.path), archive.path));
        if (isWeb) {
            DataFile file = archive;
            file.format.format = TextFormat::WebDataset;
            file.format.compression = packing;
            return std::optional(ArchiveFiles { { std::move(file) }, {} });
        }
    }
    Members members(archive, source, config);
    FURROW_TRY(kind == ArchiveKind::Zip ? addZip(members) : addTar(members, packing));
    auto found = members.take();
    if (found.files.empty())
        return Error { ErrorCode::InvalidArgument,
            found.skipped.empty() ? sentence("%1 has no file with text.", { archive.path })
                                  : sentence("%1 has no file with text. %2", { archive.path, found.skipped.front() }) };
    return std::optional(std::move(found));
}

} // namespace furrow
