#include "core/workspace/debug_bundle.h"

#include "core/base/absolute_path.h"
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
#include <set>
#include <span>
#include <vector>

namespace furrow {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLogTail = 1 << 20;
constexpr std::uint64_t kMostConfiguration = 128 << 20;
constexpr std::size_t kLeastPattern = 6; // a shorter one by itself would garble words
constexpr std::size_t kShownOfPattern = 200; // by noPatternAnswer()
constexpr std::size_t kTarBlock = 512;

struct BundleFile {
    std::string name;
    std::string text;
};

/// The end of a file of the run. One that lies elsewhere is not the run's, whatever a link says.
Result<std::string> endOf(const fs::path& path, std::uint64_t most)
{
    FURROW_TRY_ASSIGN(auto file, RandomAccessFile::openOwn(path));
    const std::uint64_t size = file.sizeBytes();
    const std::uint64_t length = std::min(size, most);
    std::string text(length, '\0');
    FURROW_TRY(file.readAt(size - length, std::as_writable_bytes(std::span(text))));
    return text;
}

/// The same, or why it is not shown.
std::string lastPart(const fs::path& path)
{
    auto text = endOf(path, kLogTail);
    return text.ok() ? std::move(text).value() : text.error().message.text();
}

void replaceAll(std::string& text, std::string_view what, std::string_view with)
{
    std::string out;
    std::size_t from = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, from)) {
        out.append(text, from, at - from).append(with);
        from = at + what.size();
    }
    if (from > 0)
        text = out.append(text, from, std::string::npos);
}

/// The patterns by which a person leaves samples out are text of the data: each is shown as its number, wherever it
/// stands.
class PatternMask {
public:
    /// Finds the lists of what is left out in run.json, and hides their patterns there.
    void learn(nlohmann::ordered_json& configuration)
    {
        learnNode(configuration);
        std::ranges::stable_sort( // a part of a long one may be another
            patterns_, [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
    }
    void hideIn(std::string& text) const
    {
        for (const Pattern& one : patterns_)
            for (const std::string& shown : std::set { one.text, one.text.substr(0, kShownOfPattern) })
                for (const std::string& written : std::set { shown, insideQuotes(shown) }) {
                    if (shown.size() >= kLeastPattern)
                        replaceAll(text, written, one.mark);
                    else
                        replaceAll(text, "pattern " + written, "pattern " + one.mark);
                }
    }

private:
    struct Pattern {
        std::string text;
        std::string mark; ///< "<hidden 3>"
    };

    static std::string insideQuotes(const std::string& text)
    {
        const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        return quoted.substr(1, quoted.size() - 2);
    }
    void learnNode(nlohmann::ordered_json& node)
    {
        for (auto& [key, value] : node.items()) {
            if (key == "quarantine" && value.is_string())
                value = learnList(value.get<std::string>());
            else if (value.is_structured())
                learnNode(value);
        }
    }
    std::string learnList(std::string_view list)
    {
        std::string shown;
        while (!list.empty()) {
            const auto end = std::min(list.find('\n'), list.size());
            shown += learnLine(list.substr(0, end)) + (end < list.size() ? "\n" : "");
            list.remove_prefix(std::min(end + 1, list.size()));
        }
        return shown;
    }
    std::string learnLine(std::string_view line)
    {
        constexpr std::string_view kKind = "pattern";
        constexpr std::string_view kSpace = " \t\r";
        line.remove_prefix(std::min(line.find_first_not_of(kSpace), line.size()));
        line = line.substr(0, line.find_last_not_of(kSpace) + 1);
        if (line.starts_with('#'))
            return "# <hidden>"; // it may say what it leaves out
        if (!line.starts_with(kKind) || line.size() == kKind.size()
            || kSpace.find(line[kKind.size()]) == std::string_view::npos)
            return std::string(line);
        line.remove_prefix(line.find_first_not_of(kSpace, kKind.size()));
        patterns_.push_back({ std::string(line), "<hidden " + std::to_string(patterns_.size() + 1) + ">" });
        return "pattern " + patterns_.back().mark;
    }

    std::vector<Pattern> patterns_;
};

/// run.json without its patterns. Where it cannot be read as JSON nobody knows where they stand.
std::string configuration(const fs::path& file, PatternMask& patterns)
{
    const auto text = endOf(file, kMostConfiguration);
    if (!text.ok())
        return text.error().message;
    auto all = nlohmann::ordered_json::parse(text.value(), nullptr, false);
    if (all.is_discarded())
        return "run.json is not shown: it is no whole JSON, and patterns of the data may stand anywhere in it.\n";
    patterns.learn(all);
    const std::string shown = all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    return shown.substr(shown.size() - std::min<std::size_t>(shown.size(), kLogTail));
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
    PatternMask patterns;
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
    files.push_back({ "run.json", configuration(paths.configFile(), patterns) });
    files.push_back({ "files.txt", fileList(run) });
    std::error_code failed;
    if (!fs::is_symlink(paths.logsFolder(), failed)) {
        for (const auto& entry : fs::directory_iterator(paths.logsFolder(), failed))
            if (entry.path().extension() == ".log")
                files.push_back({ "logs/" + utf8Text(entry.path().filename()), lastPart(entry.path()) });
    }
    for (BundleFile& file : files) {
        patterns.hideIn(file.text);
        file.text = redacted(file.text);
    }
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
    return writeNewFile(realFileSystem(), absolutePath(target), bytes); // who is refused is told which folder it is
}

} // namespace furrow
