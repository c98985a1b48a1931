#include "core/data/hub/growing_file.h"

#include "core/base/file_system.h"
#include "core/base/random.h"
#include "core/base/regular_file.h"
#include "core/base/sync_file.h"
#include "core/data/hub/hub_pieces.h"

#include <cstring>
#include <utility>
#include <vector>

namespace furrow {

namespace {

constexpr std::size_t kWrittenAtOnce = 128 << 10; // a kill costs as much, and what is on the way

} // namespace

PartSums::PartSums(BlockCache& cache, std::string name)
    : cache_(cache)
    , name_(std::move(name))
{
}

std::uint64_t PartSums::proven(const std::filesystem::path& part)
{
    const auto notes = readFile(cache_.path(kDownloads, name_));
    RegularFileStream in(part);
    std::uint64_t end = 0;
    sizeBytes_ = 0;
    for (std::string_view rest = notes.ok() ? std::string_view(notes.value()) : std::string_view();
        rest.size() >= sizeof(Note); rest.remove_prefix(sizeof(Note))) {
        Note note;
        std::memcpy(&note, rest.data(), sizeof note);
        if (note.end <= end || note.end - end > 2 * kWrittenAtOnce)
            break;
        std::string stretch(note.end - end, '\0');
        in.read(stretch.data(), static_cast<std::streamsize>(stretch.size()));
        if (in.gcount() != std::ssize(stretch) || xxh3(stretch, end) != note.sum)
            break;
        end = note.end;
        sizeBytes_ += sizeof(Note);
    }
    std::error_code none;
    std::filesystem::resize_file(cache_.path(kDownloads, name_), sizeBytes_, none);
    return end;
}

Status PartSums::add(std::uint64_t begin, std::string_view stretch)
{
    const Note note { begin + stretch.size(), xxh3(stretch, begin) };
    FURROW_TRY(cache_.append(kDownloads, name_, sizeBytes_, &note, sizeof note));
    sizeBytes_ += sizeof note;
    return {};
}

void PartSums::remove()
{
    cache_.remove(kDownloads, name_);
    sizeBytes_ = 0;
}

GrowingFile::GrowingFile(BlockCache& cache, HubFile hub, bool hasTurn)
    : cache_(cache)
    , hub_(std::move(hub))
    , git_(hub_.sizeBytes)
    , name_(contentName(hub_) + (hasTurn ? "" : "." + randomHex(8)) + ".part")
    , sums_(cache, name_ + ".sums")
{
}

Status GrowingFile::begin()
{
    const auto file = cache_.path(kDownloads, name_);
    std::error_code gone;
    if (std::filesystem::file_size(file, gone) > hub_.sizeBytes)
        remove();
    FURROW_TRY(cache_.pin("growing", std::vector { name_, sums_.name() }));
    if (!isPromised() && !gone)
        std::filesystem::resize_file(file, sums_.proven(file), gone);
    RegularFileStream in(file);
    for (std::string piece(kWrittenAtOnce, '\0');
        in.read(piece.data(), static_cast<std::streamsize>(piece.size())).gcount() > 0;) {
        count(std::string_view(piece).substr(0, static_cast<std::size_t>(in.gcount())));
        onDisk_ += static_cast<std::uint64_t>(in.gcount());
    }
    return {};
}

Status GrowingFile::append(std::string_view bytes)
{
    count(bytes);
    buffer_.append(bytes);
    return buffer_.size() >= kWrittenAtOnce ? write() : Status {};
}

Status GrowingFile::write()
{
    if (buffer_.empty())
        return {};
    const std::string stretch = std::exchange(buffer_, {});
    FURROW_TRY(cache_.append(kDownloads, name_, onDisk_, stretch.data(), stretch.size()));
    const std::uint64_t begin = std::exchange(onDisk_, onDisk_ + stretch.size());
    return isPromised() ? Status {} : sums_.add(begin, stretch);
}

bool GrowingFile::isAsPromised()
{
    if (isPromised())
        return sha256() == hub_.sha256;
    return !isGitName(hub_.oid) || GitBlobName(git_).hex() == hub_.oid;
}

const std::string& GrowingFile::sha256()
{
    if (whole_.empty())
        whole_ = sha_.hex();
    return whole_;
}

Status GrowingFile::complete(const std::string& wholeName)
{
    if (!isPromised() && !wholeName.starts_with(sha256())) { // else only this tells what it must hold
        FURROW_TRY(syncFile(cache_.path(kDownloads, name_)));
        const std::string note = wholeName + kArrivedEnding;
        cache_.remove(kDownloads, note);
        FURROW_TRY(cache_.append(kDownloads, note, 0, sha256().data(), sha256().size()));
    }
    auto status = cache_.complete(kDownloads, name_, wholeName);
    sums_.remove();
    const auto unpinned = cache_.pin("growing", {});
    return status.ok() ? unpinned : status;
}

void GrowingFile::remove()
{
    cache_.remove(kDownloads, name_);
    sums_.remove();
    buffer_.clear();
    onDisk_ = 0;
    sha_ = Sha256();
    git_ = GitBlobName(hub_.sizeBytes);
    whole_.clear();
}

void GrowingFile::count(std::string_view bytes)
{
    sha_.update(bytes);
    if (isGitName(hub_.oid))
        git_.update(bytes);
}

} // namespace furrow
