// Archives come from outside, with a known hash or not: names are taken apart and judged piece by piece, nothing but
// plain files is made, and the sizes are bounded before a byte is written.

#include "core/libtorch/wheel_unpack.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/source/archive_member.h"
#include "core/data/source/zip_directory.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::uint64_t kMostBytes = 16ull << 30; // CUDA's libraries together are below 5
constexpr std::size_t kMostFiles = 5000;
constexpr std::size_t kPieceBytes = 1 << 20;

/// The parts of the name; none when one of them is not plain.
std::vector<std::string_view> plainParts(std::string_view name)
{
    std::vector<std::string_view> parts;
    for (std::size_t from = 0; from <= name.size();) {
        const auto to = std::min(name.find('/', from), name.size());
        parts.push_back(name.substr(from, to - from));
        if (!isPlainName(parts.back()))
            return {};
        from = to + 1;
    }
    return parts;
}

bool isLibrary(std::string_view name) { return name.ends_with(".so") || name.find(".so.") != std::string_view::npos; }

/// Of torch/lib: what a program without Python needs.
bool isOfTorch(std::string_view name, const UnpackChoice& choice)
{
    for (const char* python : { "torch_python", "libshm", "global_deps" })
        if (name.find(python) != std::string_view::npos)
            return false;
    const bool isOfCuda = name == "libtorch.so" || name.find("cuda") != std::string_view::npos
        || name.find("nvshmem") != std::string_view::npos || name.find("nvrtc") != std::string_view::npos;
    return isLibrary(name) && (choice.cuda || !isOfCuda);
}

struct Wanted {
    ZipEntry entry;
    std::filesystem::path place;
};

Result<std::vector<Wanted>> wantedOf(
    const std::shared_ptr<const ByteSource>& source, const std::filesystem::path& archive, const UnpackChoice& choice)
{
    const std::string name = utf8Text(archive.filename());
    FURROW_TRY_ASSIGN(auto entries,
        readZipDirectory(*source, name, [&](std::string_view entry) { return !unpackedPlace(entry, choice).empty(); }));
    std::vector<Wanted> wanted;
    std::uint64_t bytes = 0;
    for (auto& entry : entries) {
        bytes += std::min(entry.sizeBytes, kMostBytes);
        if (entry.link || entry.encrypted || (entry.method != 0 && entry.method != 8) || bytes > kMostBytes
            || wanted.size() == kMostFiles)
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1 is not a wheel that Furrow can unpack: %2 is a link, encrypted, packed in a strange way, or too much.",
                    { name, entry.name }) };
        auto place = unpackedPlace(entry.name, choice);
        wanted.push_back({ std::move(entry), std::move(place) });
    }
    return wanted;
}

Status writeEntry(const std::shared_ptr<const ByteSource>& source, const Wanted& wanted,
    const std::filesystem::path& path, const std::function<void(std::uint64_t)>& onBytes)
{
    ArchiveMember member;
    member.offset = wanted.entry.offset;
    member.packedBytes = wanted.entry.packedBytes;
    member.packing = wanted.entry.method == 8 ? Compression::Deflate : Compression::None;
    member.sizeBytes = wanted.entry.sizeBytes;
    member.crc32 = wanted.entry.crc32;
    auto& files = realFileSystem();
    FURROW_TRY(files.createFolders(path.parent_path()));
    const auto stream = memberStream(source, member, wanted.entry.name);
    FURROW_TRY_ASSIGN(auto file, files.create(path));
    std::string piece(kPieceBytes, '\0');
    for (;;) {
        FURROW_TRY_ASSIGN(const auto count, readFully(*stream, piece));
        FURROW_TRY(file->append(piece.data(), count));
        onBytes(count);
        if (count < piece.size())
            break;
    }
    FURROW_TRY(file->sync());
    return file->close();
}

} // namespace

std::filesystem::path unpackedPlace(std::string_view entry, const UnpackChoice& choice)
{
    auto parts = plainParts(entry);
    if (parts.size() < 2)
        return {};
    const bool isArchive = parts[0] == "libtorch"; // not a wheel
    if (isArchive)
        parts[0] = "torch";
    const bool isVersion = parts.size() == 2 && parts[0] == "torch"
        && (parts[1] == "version.py" || (isArchive && parts[1] == "build-version"));
    const bool isTorch = parts.size() == 3 && parts[0] == "torch" && parts[1] == "lib" && isOfTorch(parts[2], choice);
    const bool isCuda
        = parts[0] == "nvidia" && parts.size() > 3 && parts[parts.size() - 2] == "lib" && isLibrary(parts.back());
    const bool isLicence = parts[0].ends_with(".dist-info") && parts.back() != "RECORD";
    std::filesystem::path place;
    if (isVersion || isTorch || isCuda || isLicence)
        for (const auto& part : parts)
            place /= pathFromUtf8(part);
    return place;
}

Result<std::uint64_t> unpackedBytes(const std::filesystem::path& archive, const UnpackChoice& choice)
{
    FURROW_TRY_ASSIGN(const auto source, openLocalSource(archive));
    FURROW_TRY_ASSIGN(const auto wanted, wantedOf(source, archive, choice));
    std::uint64_t bytes = 0;
    for (const auto& one : wanted)
        bytes += one.entry.sizeBytes;
    return bytes;
}

Status unpackWheel(const std::filesystem::path& archive, const UnpackChoice& choice,
    const std::filesystem::path& folder, const ByteProgress& progress)
{
    FURROW_TRY_ASSIGN(const auto source, openLocalSource(archive));
    FURROW_TRY_ASSIGN(const auto wanted, wantedOf(source, archive, choice));
    FURROW_TRY_ASSIGN(const auto total, unpackedBytes(archive, choice));
    std::uint64_t done = 0;
    const auto onBytes = [&](std::uint64_t count) {
        done += count;
        if (progress)
            progress(done, total);
    };
    for (const auto& one : wanted)
        if (auto written = writeEntry(source, one, folder / one.place, onBytes); !written.ok())
            return written.error().in(utf8Text(archive.filename()));
    return {};
}

} // namespace furrow
