#include "core/telemetry/run_telemetry.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/regular_file.h"
#include "core/telemetry/store_cache.h"

#include <algorithm>
#include <cstdlib>

namespace furrow {
namespace {

constexpr std::size_t kSlice = 1u << 20; // read at once from one file: also the longest line taken
constexpr std::size_t kHead = 4096;
constexpr std::size_t kMaxFiles = 100'000;
constexpr std::int64_t kLateNs = 10'000'000'000; ///< no worker that runs keeps its lines back for so long
constexpr auto kLongestAnewPause = std::chrono::minutes(10);

std::uint64_t hashOfHead(const std::filesystem::path& path, std::uint64_t upTo)
{
    RegularFileStream in(path);
    std::string head(static_cast<std::size_t>(std::min<std::uint64_t>(kHead, upTo)), '\0');
    in.read(head.data(), static_cast<std::streamsize>(head.size()));
    head.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
    return xxh3(head);
}

} // namespace

RunTelemetry::RunTelemetry(std::filesystem::path folder, std::filesystem::path cache)
    : folder_(std::move(folder))
    , cache_(std::move(cache))
{
}

void RunTelemetry::findFiles()
{
    std::error_code error;
    for (auto it = std::filesystem::directory_iterator(folder_, error);
        !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
        if (it->path().extension() != ".jsonl" || files_.size() >= kMaxFiles)
            continue;
        std::error_code sizeError;
        const auto size = it->file_size(sizeError);
        if (sizeError)
            continue;
        File& file = files_[it->path()];
        file.size = size;
        file.attempt = std::strtoll(it->path().filename().string().c_str(), nullptr, 10);
    }
}

bool RunTelemetry::poll(std::size_t budgetBytes)
{
    findFiles();
    for (const auto& [path, file] : files_) {
        if (file.size < file.offset) {
            ++store_.counts().shortened;
            store_.counts().problem = path.string() + " became shorter: all telemetry was read anew";
            startAnew();
            break;
        }
    }
    if (beginAnewWhenQuiet())
        return true;
    const bool wasComplete = complete_;
    const std::int64_t newest = newestWallNs();
    for (auto& [path, file] : files_)
        file.offsetBefore = file.offset;
    // Attempts one after the other; inside one the files take turns, so that workers advance together in time and the
    // first curve is soon whole.
    std::size_t spent = 0;
    bool more = readRound(spent);
    while (more && spent < budgetBytes)
        more = readRound(spent);
    std::int64_t until = INT64_MAX;
    for (const auto& [path, file] : files_) {
        if (more && !file.refused && file.source.hasHeader && file.progressed && file.offset < file.size)
            until = std::min(until, store_.newestWallNs(file.source));
    }
    store_.settle(until);
    complete_ = !more;
    isLate_ = isLate_ || (wasComplete && std::any_of(files_.begin(), files_.end(), [&](const auto& one) {
        const File& file = one.second;
        return file.offset > file.offsetBefore && file.source.hasHeader
            && store_.newestWallNs(file.source) < newest - kLateNs;
    }));
    return more;
}

std::int64_t RunTelemetry::newestWallNs() const
{
    std::int64_t newest = 0;
    for (const auto& [path, file] : files_)
        if (file.source.hasHeader && file.offset > 0)
            newest = std::max(newest, store_.newestWallNs(file.source));
    return newest;
}

/// Files of a run that is being copied come one after the other, and sums over all workers go by time: once nothing
/// more comes, all is read in order. Seldom, where a worker's clock is late for good.
bool RunTelemetry::beginAnewWhenQuiet()
{
    const auto now = std::chrono::steady_clock::now();
    if (!isLate_ || now < nextAnew_
        || std::any_of(files_.begin(), files_.end(), [](const auto& one) { return one.second.hasMore(); }))
        return false;
    isLate_ = false;
    nextAnew_ = now + anewPause_;
    anewPause_ = std::min<std::chrono::seconds>(2 * anewPause_, kLongestAnewPause);
    startAnew();
    return true;
}

/// One slice of each file of the oldest attempt that has something new. @return whether there may be more
bool RunTelemetry::readRound(std::size_t& spent)
{
    std::int64_t attempt = INT64_MAX;
    for (const auto& [path, file] : files_) {
        if (file.hasMore())
            attempt = std::min(attempt, file.attempt);
    }
    bool more = false;
    for (auto& [path, file] : files_) {
        if (file.hasMore() && file.attempt == attempt) {
            const auto before = file.offset;
            spent += readSome(path, file, kSlice);
            // Nothing taken: the rest is a torn line, wait until the file grows.
            file.progressed = file.offset != before;
            file.seenSize = file.size;
        }
        more = more || file.hasMore();
    }
    return more;
}

void RunTelemetry::refuse(File& file, std::string problem)
{
    if (!file.refused)
        ++store_.counts().refusedFiles;
    file.refused = true;
    store_.counts().problem = std::move(problem);
    changed_ = true;
}

std::size_t RunTelemetry::readSome(const std::filesystem::path& path, File& file, std::size_t budget)
{
    RegularFileStream in(path);
    if (!in) {
        refuse(file, path.string() + " cannot be read: check its permissions, and that it is a regular file");
        return 0;
    }
    buffer_.resize(std::min<std::uint64_t>(budget, file.size - file.offset));
    in.seekg(static_cast<std::streamoff>(file.offset));
    in.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
    const auto taken = takeLines(path, file, bytes);
    if (taken == 0 && bytes.size() == kSlice) {
        // A line longer than the slice: skipped piece by piece, its end is a bad line too.
        ++store_.counts().bad;
        file.badBytes += bytes.size();
        file.offset += bytes.size();
        changed_ = true;
    }
    if (file.badBytes > kMostBadBytes)
        refuse(file, tooManyBadBytes(path));
    if (taken == 0)
        return bytes.size();
    if (file.offset < kHead)
        file.headHash = hashOfHead(path, file.offset + taken);
    file.offset += taken;
    changed_ = true;
    return bytes.size();
}

std::size_t RunTelemetry::takeLines(const std::filesystem::path& path, File& file, std::string_view bytes)
{
    std::size_t taken = 0;
    while (taken < bytes.size() && !file.refused) {
        const auto end = bytes.find('\n', taken);
        if (end == std::string_view::npos)
            break;
        auto line = bytes.substr(taken, end - taken);
        taken = end + 1;
        if (!line.empty() && line.back() == '\r')
            line.remove_suffix(1);
        if (line.empty())
            continue;
        scanLine(line, line_);
        if (line_.kind == LineKind::Header && line_.schema > kTelemetrySchema) {
            refuse(file,
                path.string() + " has telemetry schema " + std::to_string(line_.schema) + ", this program reads up to "
                    + std::to_string(kTelemetrySchema) + ": open it with a newer Furrow");
            break;
        }
        if (line_.kind == LineKind::Bad)
            file.badBytes += line.size();
        store_.add(file.source, line_);
    }
    return taken;
}

void RunTelemetry::startAnew()
{
    complete_ = false;
    store_.clear();
    for (auto& [path, file] : files_) {
        const auto size = file.size;
        const auto attempt = file.attempt;
        file = {};
        file.size = size;
        file.attempt = attempt;
    }
    changed_ = true;
}

SnapshotPtr RunTelemetry::snapshot() const
{
    const auto made = std::const_pointer_cast<TelemetrySnapshot>(store_.snapshot());
    for (const auto& [path, file] : files_) {
        made->bytesRead += file.offset;
        made->bytesKnown += file.size;
    }
    made->complete = complete_;
    return made;
}

bool RunTelemetry::takeChanged() { return std::exchange(changed_, false); }

Status RunTelemetry::saveCache() const
{
    if (cache_.empty() || !complete_)
        return {};
    CacheWriter out;
    out.number(files_.size());
    for (const auto& [path, file] : files_) {
        out.text(path.filename().string());
        out.number(file.offset);
        out.number(file.headHash);
        out.number(file.refused);
        saveSource(out, file.source);
    }
    store_.save(out);
    FURROW_TRY(realFileSystem().createFolders(cache_.parent_path()));
    return out.writeTo(cache_);
}

bool RunTelemetry::loadCache()
{
    if (cache_.empty())
        return false;
    auto in = CacheReader::open(cache_);
    if (!in.ok())
        return false;
    findFiles();
    if (restore(in.value())) {
        changed_ = true;
        return true;
    }
    store_ = ColumnStore();
    files_.clear();
    return false;
}

bool RunTelemetry::restore(CacheReader& in)
{
    const auto count = in.number();
    if (count > kMaxFiles)
        return false;
    for (std::uint64_t i = 0; i < count && in.good(); ++i) {
        const auto path = folder_ / in.text();
        const auto offset = in.number();
        const auto headHash = in.number();
        const bool refused = in.number() != 0;
        ColumnStore::Source source;
        loadSource(in, source);
        const auto known = files_.find(path);
        if (known == files_.end() || known->second.size < offset
            || (offset > 0 && !refused && hashOfHead(path, offset) != headHash))
            return false;
        // A file that was refused is looked at again: this may be a newer Furrow.
        if (refused)
            return false;
        known->second.offset = offset;
        known->second.headHash = headHash;
        known->second.source = source;
    }
    if (!in.good() || !store_.load(in))
        return false;
    return std::all_of(files_.begin(), files_.end(), [this](const auto& file) {
        return file.second.source.stretch >= -1 && file.second.source.stretch < store_.stretchCount();
    });
}

} // namespace furrow
