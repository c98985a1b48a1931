#include "core/workspace/debug_bundle.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/redact.h"
#include "core/base/sentence.h"
#include "core/run/audit/run_audit.h"
#include "core/run/folder/run_file.h"
#include "core/run/status/run_status.h"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace furrow {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLogTail = 1 << 20;
constexpr std::size_t kTarBlock = 512;

struct BundleFile {
    std::string name;
    std::string text;
};

/// The end of a file of the run, or why it is not shown: one that lies elsewhere is not the run's, whatever a link
/// says.
std::string lastPart(const fs::path& path)
{
    auto file = RandomAccessFile::openOwn(path);
    if (!file.ok())
        return file.error().message;
    const std::uint64_t size = file.value().sizeBytes();
    const std::uint64_t length = std::min(size, kLogTail);
    std::string text(length, '\0');
    if (auto read = file.value().readAt(size - length, std::as_writable_bytes(std::span(text))); !read.ok())
        return read.error().message;
    return text;
}

/// Names and sizes; nothing of what is inside.
std::string fileList(const fs::path& run)
{
    std::string list;
    std::error_code failed;
    for (auto entry = fs::recursive_directory_iterator(run, failed);
        !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
        std::error_code ignored;
        const bool isLink = entry->is_symlink(ignored);
        const auto size = !isLink && entry->is_regular_file(ignored) ? entry->file_size(ignored) : 0;
        list += std::to_string(size) + "  " + utf8Text(entry->path().lexically_relative(run))
            + (isLink ? " (a link)\n" : "\n");
    }
    return list;
}

std::vector<BundleFile> collect(const fs::path& run)
{
    const RunPaths paths(run);
    std::vector<BundleFile> files;
    files.push_back({ "versions.txt",
        "Furrow " FURROW_VERSION "\ncores " + std::to_string(cpuCount()) + "\nmemory "
            + std::to_string(physicalMemoryBytes()) + "\n" });
    auto status = readStatus(paths);
    files.push_back({ "status.json",
        status.ok() ? toJson(status.value()).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                    : status.error().message.text() });
    auto report = auditRun(paths, AuditDepth::Quick); // it says that the weights were not inspected
    files.push_back({ "audit.json", report.ok() ? auditJson(report.value()) : report.error().message.text() });
    files.push_back({ "run.json", lastPart(paths.configFile()) });
    files.push_back({ "files.txt", fileList(run) });
    std::error_code failed;
    if (!fs::is_symlink(paths.logsFolder(), failed)) {
        for (const auto& entry : fs::directory_iterator(paths.logsFolder(), failed))
            if (entry.path().extension() == ".log")
                files.push_back({ "logs/" + utf8Text(entry.path().filename()), lastPart(entry.path()) });
    }
    for (BundleFile& file : files)
        file.text = redacted(file.text);
    return files;
}

/// The header of a file in a POSIX ustar archive.
std::array<char, kTarBlock> tarHeader(const BundleFile& file)
{
    std::array<char, kTarBlock> header {};
    const std::string name = "furrow-debug/" + file.name.substr(0, 80);
    std::memcpy(header.data(), name.data(), name.size());
    std::snprintf(header.data() + 100, 8, "%07o", 0644);
    std::snprintf(header.data() + 108, 8, "%07o", 0);
    std::snprintf(header.data() + 116, 8, "%07o", 0);
    std::snprintf(header.data() + 124, 12, "%011llo", static_cast<unsigned long long>(file.text.size()));
    std::snprintf(header.data() + 136, 12, "%011o", 0);
    std::memset(header.data() + 148, ' ', 8);
    header[156] = '0';
    std::memcpy(header.data() + 257, "ustar", 6);
    std::memcpy(header.data() + 263, "00", 2);
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    std::snprintf(header.data() + 148, 8, "%06o", sum);
    return header;
}

std::string tarOf(const std::vector<BundleFile>& files)
{
    std::string tar;
    for (const BundleFile& file : files) {
        const auto header = tarHeader(file);
        tar.append(header.data(), header.size());
        tar += file.text;
        tar.append((kTarBlock - file.text.size() % kTarBlock) % kTarBlock, '\0');
    }
    tar.append(2 * kTarBlock, '\0');
    return tar;
}

Result<std::string> gzipped(const std::string& bytes)
{
    z_stream stream {};
    constexpr int kGzipWindow = 15 + 16;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return Error { ErrorCode::Internal, sentence("zlib could not be started") };
    std::string out(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    const int code = deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    if (code != Z_STREAM_END)
        return Error { ErrorCode::Internal, sentence("the debug bundle could not be compressed") };
    return out;
}

} // namespace

Status writeDebugBundle(const fs::path& run, const fs::path& target)
{
    FURROW_TRY(checkIsRun(RunPaths(run)));
    FURROW_TRY_ASSIGN(auto bytes, gzipped(tarOf(collect(run))));
    return writeNewFile(realFileSystem(), target, bytes);
}

} // namespace furrow
