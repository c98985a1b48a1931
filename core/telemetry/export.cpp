// csv and jsonl, and the walk that all formats share; event_file.cpp writes TensorBoard's format.

#include "core/telemetry/export.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace furrow {

namespace {

constexpr std::size_t kMaxLineBytes = 1 << 20;
constexpr std::size_t kBufferBytes = 1 << 20;

/// Buffered text file; the first failure is kept.
class TextFile {
public:
    explicit TextFile(const std::filesystem::path& path)
    {
        auto created = realFileSystem().create(path);
        if (created.ok())
            file_ = std::move(created).value();
        else
            failed_ = created.error();
    }
    void write(std::string_view text)
    {
        buffer_ += text;
        if (buffer_.size() > kBufferBytes)
            flush();
    }
    Status finish()
    {
        flush();
        if (failed_)
            return *failed_;
        if (auto synced = file_->sync(); !synced.ok())
            return synced;
        return file_->close();
    }

private:
    void flush()
    {
        if (!failed_)
            if (auto written = file_->append(buffer_.data(), buffer_.size()); !written.ok())
                failed_ = written.error();
        buffer_.clear();
    }
    std::unique_ptr<OutputFile> file_;
    std::optional<Error> failed_;
    std::string buffer_;
};

std::string text(double value)
{
    char digits[40];
    return { digits, std::to_chars(digits, digits + sizeof digits, value).ptr };
}

std::string text(std::int64_t value)
{
    return std::to_string(value);
}

/// RFC 4180: quoted when needed, quotes doubled.
std::string text(const std::string& value)
{
    if (value.find_first_of(",\"\r\n") == std::string::npos)
        return value;
    std::string quoted = "\"";
    for (const char c : value)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + '"';
}

template <typename... Values> std::string row(const PlacedRecord& at, const Values&... values)
{
    std::string line = text(at.wall) + ',' + text(at.header.attempt) + ',' + text(std::int64_t { at.header.worker });
    ((line += ',', line += text(values)), ...);
    return line + "\r\n";
}

Result<std::int64_t> exportCsv(const std::filesystem::path& folder, const std::filesystem::path& out)
{
    TextFile steps(out / "steps.csv");
    TextFile evaluations(out / "evaluations.csv");
    TextFile events(out / "events.csv");
    TextFile drifts(out / "drifts.csv");
    const std::string place = "wall_time,attempt,worker,";
    steps.write(place + "step,global_step,epoch,block,chunk,samples,tokens,step_tokens,loss,learning_rate,gradient_norm,parameter_norm,tokens_per_second,wait_ms,forward_ms,backward_ms,"
                        "optimizer_ms,checkpoint_ms,memory_bytes,ranks,rank\r\n");
    evaluations.write(place + "step,tokens,loss,accuracy,what\r\n");
    events.write(place + "step,chunk,what,text\r\n");
    drifts.write(place + "round,replica,from_mean,from_base,parameter_norm\r\n");
    auto count = forEachRecord(folder, [&](const PlacedRecord& at) -> Status {
        const auto& line = at.line;
        if (line.kind == LineKind::Step) {
            const auto& s = line.step;
            steps.write(row(at, s.step, s.globalStep, s.epoch, s.block, s.chunk, s.samples, s.tokens, s.stepTokens, s.loss, s.lr, s.gradientNorm, s.parameterNorm, s.tokensPerSecond,
                s.time.waitData, s.time.forward, s.time.backward, s.time.optimizer, s.time.checkpoint, s.memoryBytes, std::int64_t { s.ranks }, std::int64_t { s.rank }));
        } else if (line.kind == LineKind::Eval) {
            evaluations.write(row(at, line.eval.step, line.eval.tokens, line.eval.loss, line.eval.accuracy, std::string(toString(line.eval.what))));
        } else if (line.kind == LineKind::Event) {
            events.write(row(at, line.event.step, line.event.chunk, std::string(toString(line.event.kind)), line.event.text));
        } else if (line.kind == LineKind::Drift) {
            drifts.write(row(at, line.drift.round, std::int64_t { line.drift.replica }, line.drift.fromMean, line.drift.fromBase, line.drift.parameterNorm));
        }
        return {};
    });
    for (auto* file : { &steps, &evaluations, &events, &drifts })
        if (auto done = file->finish(); !done.ok())
            return done.error();
    return count;
}

/// The record as it was written, with its place in front.
std::string jsonLine(const PlacedRecord& at)
{
    TelemetryRecord record;
    switch (at.line.kind) {
    case LineKind::Step: record = at.line.step; break;
    case LineKind::Eval: record = at.line.eval; break;
    case LineKind::Event: record = at.line.event; break;
    case LineKind::Gpu: record = at.line.gpu; break;
    case LineKind::Sample: record = at.line.sample; break;
    case LineKind::Claims: record = at.line.claims; break;
    case LineKind::Drift: record = at.line.drift; break;
    default: return {};
    }
    std::string line;
    encodeLine(record, line);
    return "{\"wall\":" + text(at.wall) + ",\"attempt\":" + text(at.header.attempt) + ",\"worker\":" + text(std::int64_t { at.header.worker }) + ',' + line.substr(1);
}

Result<std::int64_t> exportJsonl(const std::filesystem::path& folder, const std::filesystem::path& out)
{
    TextFile file(out / "records.jsonl");
    auto count = forEachRecord(folder, [&](const PlacedRecord& at) -> Status {
        file.write(jsonLine(at));
        return {};
    });
    if (auto done = file.finish(); !done.ok())
        return done.error();
    return count;
}

Result<std::int64_t> exportTensorBoard(const std::filesystem::path& folder, const std::filesystem::path& out)
{
    std::map<int, EventFileWriter> files;
    const auto write = [&](EventFileWriter& file, const PlacedRecord& at) {
        if (at.line.kind == LineKind::Step) {
            const auto& s = at.line.step;
            const std::pair<const char*, double> own[] = { { "speed/tokens_per_second", s.tokensPerSecond }, { "speed/wait_ms", s.time.waitData }, { "speed/memory_mib", static_cast<double>(s.memoryBytes) / 1048576.0 } };
            for (const auto& [tag, value] : own)
                file.scalar(at.wall, s.step, tag, value);
            if (s.rank > 0) // rank 0 tells the rest for the group
                return;
            const std::pair<const char*, double> whole[] = { { "train/loss", s.loss }, { "train/learning_rate", s.lr }, { "train/gradient_norm", s.gradientNorm }, { "train/tokens", static_cast<double>(s.tokens) } };
            for (const auto& [tag, value] : whole)
                file.scalar(at.wall, s.step, tag, value);
            if (s.parameterNorm != 0)
                file.scalar(at.wall, s.step, "train/parameter_norm", s.parameterNorm);
        } else if (at.line.kind == LineKind::Eval) {
            file.scalar(at.wall, at.line.eval.step, at.line.eval.what == EvalRecord::What::Merged ? "eval/loss_merged" : "eval/loss", at.line.eval.loss);
        } else if (at.line.kind == LineKind::Drift) {
            const auto& d = at.line.drift;
            file.scalar(at.wall, d.round, "drift/from_mean/replica" + std::to_string(d.replica), d.fromMean);
            file.scalar(at.wall, d.round, "drift/from_base/replica" + std::to_string(d.replica), d.fromBase);
        }
    };
    auto count = forEachRecord(folder, [&](const PlacedRecord& at) -> Status {
        auto file = files.find(at.header.worker);
        if (file == files.end()) {
            const auto own = out / ("w" + std::to_string(at.header.worker));
            if (auto made = realFileSystem().createFolders(own); !made.ok())
                return made;
            auto created = EventFileWriter::create(own / ("events.out.tfevents." + std::to_string(static_cast<std::int64_t>(at.wall)) + ".furrow"), at.wall);
            if (!created.ok())
                return created.error();
            file = files.emplace(at.header.worker, std::move(created).value()).first;
        }
        write(file->second, at);
        return {};
    });
    for (auto& [worker, file] : files)
        if (auto done = file.finish(); !done.ok())
            return done.error();
    return count;
}

/// The next line that fits into `buffer`; a longer one is skipped, be it a hole of terabytes. Nothing at the end.
std::optional<std::string_view> nextLine(std::istream& in, std::string& buffer)
{
    while (in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size())), in.fail() && !in.eof() && in.gcount() > 0) {
        in.clear();
        in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    if (in.fail())
        return std::nullopt;
    return std::string_view(buffer.data(), static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0 : 1));
}

/// Attempt and worker of "<attempt>-w<worker>.jsonl"; nothing for other files.
std::optional<std::pair<std::int64_t, std::int64_t>> placeOfFile(const std::filesystem::path& path)
{
    const std::string name = utf8Text(path.filename());
    std::int64_t attempt = 0;
    std::int64_t worker = 0;
    const char* end = name.data() + name.size();
    auto read = std::from_chars(name.data(), end, attempt);
    if (read.ec != std::errc() || !std::string_view(read.ptr, end).starts_with("-w"))
        return {};
    read = std::from_chars(read.ptr + 2, end, worker);
    if (read.ec != std::errc() || std::string_view(read.ptr, end) != ".jsonl")
        return {};
    return std::pair { attempt, worker };
}

} // namespace

Result<std::int64_t> forEachRecord(const std::filesystem::path& telemetryFolder, const std::function<Status(const PlacedRecord&)>& onRecord)
{
    std::map<std::pair<std::int64_t, std::int64_t>, std::filesystem::path> files;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(telemetryFolder, failed))
        if (const auto place = placeOfFile(entry.path()); place && entry.is_regular_file(failed))
            files[*place] = entry.path();
    if (files.empty())
        return Error { ErrorCode::NotFound, sentence("%1 holds no telemetry: the run was never started.", { utf8Text(telemetryFolder) }) };
    std::int64_t count = 0;
    for (const auto& [place, path] : files) {
        std::ifstream in(path, std::ios::binary);
        TelemetryHeader header;
        bool hasHeader = false;
        std::string buffer(kMaxLineBytes + 2, '\0');
        ScannedLine line;
        while (const auto bytes = nextLine(in, buffer)) {
            scanLine(*bytes, line);
            if (line.kind == LineKind::Header) {
                header = line.header;
                hasHeader = true;
            } else if (hasHeader && line.kind != LineKind::Bad && line.kind != LineKind::Unknown) {
                const double wall = static_cast<double>(header.wallAnchorNs + (monotonicNs(line) - header.monotonicAnchorNs)) / 1e9;
                if (auto taken = onRecord({ header, wall, line }); !taken.ok())
                    return taken.error();
                ++count;
            }
        }
    }
    return count;
}

Result<std::int64_t> exportTelemetry(const std::filesystem::path& telemetryFolder, const std::string& format, const std::filesystem::path& out)
{
    std::error_code failed;
    if (std::filesystem::exists(out, failed) && !std::filesystem::is_empty(out, failed))
        return Error { ErrorCode::InvalidArgument, sentence("%1 is not empty. Name a new folder for the export.", { utf8Text(out) }) };
    if (auto made = realFileSystem().createFolders(out); !made.ok())
        return made.error();
    if (format == "csv")
        return exportCsv(telemetryFolder, out);
    if (format == "jsonl")
        return exportJsonl(telemetryFolder, out);
    if (format == "tensorboard")
        return exportTensorBoard(telemetryFolder, out);
    return Error { ErrorCode::InvalidArgument, sentence("format is '%1', allowed is csv, jsonl or tensorboard.", { format }) };
}

} // namespace furrow
