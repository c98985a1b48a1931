// csv and jsonl, and the walk that all formats share; event_file.cpp writes TensorBoard's format.

#include "core/telemetry/export.h"

#include "core/base/file_system.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/base/whole_folder.h"
#include "core/telemetry/run_telemetry.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <variant>
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
        FURROW_TRY(file_->sync());
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

std::string text(std::int64_t value) { return std::to_string(value); }

std::string text(std::nullptr_t) { return {}; }

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

using Value = std::variant<std::int64_t, double, std::string, std::nullptr_t>; ///< the last: there is none
/// One record with the names of its values: the columns of CSV and the keys of JSON lines are the same.
using Row = std::vector<std::pair<const char*, Value>>;

std::string csvText(const Value& value)
{
    return std::visit([](const auto& one) { return text(one); }, value);
}

nlohmann::ordered_json jsonOf(const Value& value)
{
    if (const auto* number = std::get_if<double>(&value); number != nullptr && !std::isfinite(*number))
        return std::isnan(*number) ? "nan" : *number > 0 ? "inf" : "-inf"; // as telemetry writes them: JSON has none
    return std::visit([](const auto& one) { return nlohmann::ordered_json(one); }, value);
}

std::string chunkText(const ExportView& view, std::int64_t chunk)
{
    if (chunk == 0)
        return {};
    return view.chunkName ? view.chunkName(chunk) : std::to_string(chunk);
}

std::int64_t isLost(const ExportView& view, const PlacedRecord& at) { return view.isLost && view.isLost(at) ? 1 : 0; }

Row placed(const PlacedRecord& at)
{
    return { { "wall_time", at.wall }, { "attempt", at.header.attempt },
        { "worker", std::int64_t { at.header.worker } } };
}

/// The steps of all workers when a step was made, as the charts count them.
class StepsOfAll {
public:
    explicit StepsOfAll(const std::filesystem::path& telemetryFolder)
    {
        RunTelemetry telemetry(telemetryFolder);
        while (telemetry.poll()) { }
        snapshot_ = telemetry.snapshot();
    }
    /// Nothing: the line came while this read the others.
    std::optional<std::int64_t> at(const PlacedRecord& record) const
    {
        constexpr double kRounded = 0.001; // [s]
        const std::int64_t step = record.line.step.step;
        for (auto s = snapshot_->stretches.rbegin(); s != snapshot_->stretches.rend(); ++s)
            if (s->worker == record.header.worker && s->attempt == record.header.attempt && s->size() > 0
                && s->wallStart <= record.wall + kRounded && step >= s->firstStep && step <= s->lastStep)
                return s->firstGlobalStep
                    + s->globalStep[s->step.lowerBound(static_cast<std::uint32_t>(step - s->firstStep))];
        return std::nullopt;
    }

private:
    SnapshotPtr snapshot_;
};

/// What only rank 0 of a data-parallel group knows: a step of the group is one step, not one of each rank.
bool isOfLeaderOnly(std::string_view column)
{
    constexpr std::string_view kColumns[] = { "global_step", "samples", "tokens", "step_tokens", "loss",
        "learning_rate", "gradient_norm", "parameter_norm" };
    return std::ranges::find(kColumns, column) != std::end(kColumns);
}

/// Behind the other columns, which stood there before; empty where no pairs of answers are compared.
void addPairs(const PairMarks& marks, Row& row)
{
    const bool has = marks.pairs > 0;
    row.emplace_back("pairs", has ? Value(marks.pairs) : Value(nullptr));
    row.emplace_back("margin", has ? Value(marks.margin) : Value(nullptr));
    row.emplace_back("preferred", has ? Value(marks.preferred) : Value(nullptr));
}

Row stepRow(const PlacedRecord& at, const ExportView& view, const StepsOfAll* all)
{
    const StepRecord& s = at.line.step;
    Row row = placed(at);
    const auto global = all != nullptr ? all->at(at) : std::nullopt;
    const Row own { { "step", s.step }, { "global_step", global ? Value(*global) : Value(nullptr) },
        { "epoch", s.epoch + 1 }, { "block", s.block }, { "chunk", chunkText(view, s.chunk) }, { "samples", s.samples },
        { "tokens", s.tokens }, { "step_tokens", s.stepTokens }, { "loss", s.loss }, { "learning_rate", s.lr },
        { "gradient_norm", s.gradientNorm }, { "parameter_norm", s.parameterNorm },
        { "tokens_per_second", s.tokensPerSecond }, { "wait_ms", s.time.waitData }, { "forward_ms", s.time.forward },
        { "backward_ms", s.time.backward }, { "optimizer_ms", s.time.optimizer },
        { "checkpoint_ms", s.time.checkpoint }, { "memory_bytes", s.memoryBytes },
        { "ranks", std::int64_t { s.ranks } }, { "rank", std::int64_t { s.rank } }, { "lost", isLost(view, at) } };
    for (const auto& [name, value] : own)
        row.emplace_back(name, s.rank > 0 && isOfLeaderOnly(name) ? Value(nullptr) : value);
    addPairs(s.pairs, row);
    return row;
}

/// Its own steps and tokens; a worker does not know those of the others that are in merged weights.
Row evalRow(const PlacedRecord& at, const ExportView& view)
{
    const EvalRecord& eval = at.line.eval;
    Row row { { "worker_step", eval.step }, { "weights_step", eval.weightsStep }, { "worker_tokens", eval.tokens },
        { "loss", eval.hasLoss() ? Value(eval.loss) : Value(nullptr) }, { "what", std::string(toString(eval.what)) },
        { "questions", eval.tasks.questions } };
    const auto marks = namedMarks(eval.tasks);
    for (const char* name :
        { "accuracy", "accuracy_normalised", "exact_match", "standard_error", "standard_error_normalised", "chance" }) {
        const auto found = std::ranges::find(marks, std::string_view(name), &NamedMark::name);
        row.emplace_back(name, found != marks.end() ? Value(found->value) : Value(nullptr));
    }
    row.emplace_back("lost", isLost(view, at));
    addPairs(eval.pairs, row);
    return row;
}

/// Nothing for kinds that have no table.
/// @param all  null: nobody asks for numbers
std::optional<Row> rowOf(const PlacedRecord& at, const ExportView& view, const StepsOfAll* all)
{
    const auto with = [&at](Row own) {
        Row row = placed(at);
        row.insert(row.end(), own.begin(), own.end());
        return row;
    };
    const ScannedLine& line = at.line;
    switch (line.kind) {
    case LineKind::Step: return stepRow(at, view, all);
    case LineKind::Eval: return with(evalRow(at, view));
    case LineKind::Event:
        return with({ { "step", line.event.step }, { "chunk", chunkText(view, line.event.chunk) },
            { "what", std::string(toString(line.event.kind)) }, { "text", line.event.text } });
    case LineKind::Drift:
        return with({ { "round", line.drift.round }, { "replica", std::int64_t { line.drift.replica } },
            { "from_mean", line.drift.fromMean }, { "from_base", line.drift.fromBase },
            { "parameter_norm", line.drift.parameterNorm } });
    case LineKind::Privacy:
        return with({ { "step", line.privacy.step }, { "participations", line.privacy.participations },
            { "epsilon", line.privacy.epsilon }, { "delta", line.privacy.delta } });
    case LineKind::Gpu:
        return with({ { "device", line.gpu.device }, { "utilization", line.gpu.utilization },
            { "memory_bytes", line.gpu.memoryUsedBytes }, { "memory_total_bytes", line.gpu.memoryTotalBytes },
            { "power_watt", line.gpu.powerWatt }, { "temperature_celsius", line.gpu.temperatureCelsius } });
    case LineKind::Sample:
        return with({ { "step", line.sample.step }, { "prompt", line.sample.prompt }, { "text", line.sample.text } });
    case LineKind::Claims:
        return with({ { "count", line.claims.count }, { "p50_ms", line.claims.p50Ms }, { "p99_ms", line.claims.p99Ms },
            { "max_ms", line.claims.maxMs } });
    default: return std::nullopt;
    }
}

/// With the columns of what a worker told.
Row rowOf(const RunEvent& event)
{
    const auto number = [](std::optional<std::int64_t> one) { return one ? Value(*one) : Value(nullptr); };
    return { { "wall_time", event.wall }, { "attempt", number(event.attempt) }, { "worker", number(event.worker) },
        { "step", nullptr }, { "chunk", std::string() }, { "what", event.what }, { "text", event.text } };
}

const char* kindName(LineKind kind)
{
    switch (kind) {
    case LineKind::Step: return "step";
    case LineKind::Eval: return "evaluation";
    case LineKind::Event: return "event";
    case LineKind::Drift: return "drift";
    case LineKind::Privacy: return "privacy";
    case LineKind::Gpu: return "gpu";
    case LineKind::Sample: return "sample";
    default: return "claims";
    }
}

Result<std::int64_t> withEvents(Result<std::int64_t> records, const ExportView& view)
{
    return records.ok() ? Result<std::int64_t>(records.value() + std::ssize(view.events)) : records;
}

/// The names of a table, which is there even when it has no row.
std::string csvHead(LineKind kind)
{
    const TelemetryHeader nobody;
    ScannedLine line;
    line.kind = kind;
    std::string head;
    for (const auto& [name, value] : rowOf({ nobody, 0, line }, {}, nullptr).value_or(Row {}))
        head += (head.empty() ? "" : ",") + std::string(name);
    return head + "\r\n";
}

std::string csvLine(const Row& row)
{
    std::string line;
    for (const auto& [name, value] : row)
        line += (line.empty() ? "" : ",") + csvText(value);
    return line + "\r\n";
}

Result<std::int64_t> exportCsv(
    const std::filesystem::path& folder, const std::filesystem::path& out, const ExportView& view)
{
    const std::pair<LineKind, const char*> kinds[]
        = { { LineKind::Step, "steps.csv" }, { LineKind::Eval, "evaluations.csv" }, { LineKind::Event, "events.csv" },
              { LineKind::Drift, "drifts.csv" }, { LineKind::Privacy, "privacy.csv" } };
    std::map<LineKind, TextFile> tables;
    for (const auto& [kind, name] : kinds)
        tables.try_emplace(kind, out / name).first->second.write(csvHead(kind));
    const StepsOfAll all(folder);
    std::multimap<double, std::string> events; // lines by their times: they come from several places
    for (const RunEvent& event : view.events)
        events.emplace(event.wall, csvLine(rowOf(event)));
    auto count = forEachRecord(folder, [&](const PlacedRecord& at) -> Status {
        const auto table = tables.find(at.line.kind);
        if (table == tables.end())
            return {};
        std::string line = csvLine(rowOf(at, view, &all).value_or(Row {}));
        if (at.line.kind == LineKind::Event)
            events.emplace(at.wall, std::move(line));
        else
            table->second.write(line);
        return {};
    });
    for (const auto& [wall, line] : events)
        tables.at(LineKind::Event).write(line);
    for (auto& [kind, table] : tables)
        FURROW_TRY(table.finish());
    return withEvents(count, view);
}

Result<std::int64_t> exportJsonl(
    const std::filesystem::path& folder, const std::filesystem::path& out, const ExportView& view)
{
    TextFile file(out / "records.jsonl");
    const auto write = [&file](LineKind kind, const Row& row) {
        nlohmann::ordered_json json { { "kind", kindName(kind) } };
        for (const auto& [name, value] : row)
            json[name] = jsonOf(value);
        file.write(json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    };
    const StepsOfAll all(folder);
    auto count = forEachRecord(folder, [&](const PlacedRecord& at) -> Status {
        write(at.line.kind, rowOf(at, view, &all).value_or(Row {}));
        return {};
    });
    for (const RunEvent& event : view.events)
        write(LineKind::Event, rowOf(event));
    FURROW_TRY(file.finish());
    return withEvents(count, view);
}

Result<std::int64_t> exportTensorBoard(
    const std::filesystem::path& folder, const std::filesystem::path& out, const ExportView& view)
{
    std::map<int, EventFileWriter> files;
    const auto write = [&](EventFileWriter& file, const PlacedRecord& at) {
        if (at.line.kind == LineKind::Step) {
            const auto& s = at.line.step;
            const std::pair<const char*, double> own[]
                = { { "speed/tokens_per_second", s.tokensPerSecond }, { "speed/wait_ms", s.time.waitData },
                      { "speed/memory_mib", static_cast<double>(s.memoryBytes) / 1048576.0 } };
            for (const auto& [tag, value] : own)
                file.scalar(at.wall, s.step, tag, value);
            if (s.rank > 0) // rank 0 tells the rest for the group
                return;
            if (isLost(view, at) != 0) { // a curve of its own: its steps are in no model
                file.scalar(at.wall, s.step, "lost/loss", s.loss);
                return;
            }
            const std::pair<const char*, double> whole[] = { { "train/loss", s.loss }, { "train/learning_rate", s.lr },
                { "train/gradient_norm", s.gradientNorm }, { "train/tokens", static_cast<double>(s.tokens) } };
            for (const auto& [tag, value] : whole)
                file.scalar(at.wall, s.step, tag, value);
            if (s.parameterNorm != 0)
                file.scalar(at.wall, s.step, "train/parameter_norm", s.parameterNorm);
            if (s.windowNorm != 0) {
                file.scalar(at.wall, s.step, "train/window_norm", s.windowNorm);
                file.scalar(at.wall, s.step, "train/clipped_share", s.clipped);
            }
            if (s.pairs.pairs > 0) { // as trl names them
                file.scalar(at.wall, s.step, "train/rewards/margins", s.pairs.margin);
                file.scalar(at.wall, s.step, "train/rewards/accuracies", s.pairs.preferred);
            }
        } else if (at.line.kind == LineKind::Eval) {
            const auto& eval = at.line.eval;
            const bool isMerged = eval.what == EvalRecord::What::Merged;
            const std::string whose = isMerged ? "_merged" : "";
            const std::string group = isLost(view, at) != 0 ? "lost/eval_" : "eval/";
            const std::int64_t step = isMerged && eval.weightsStep > 0 ? eval.weightsStep : eval.step;
            if (eval.hasLoss())
                file.scalar(at.wall, step, group + "loss" + whose, eval.loss);
            for (const auto& [name, value] : namedMarks(eval.tasks))
                file.scalar(at.wall, step, group + (name + whose), value);
            if (eval.pairs.pairs > 0) {
                file.scalar(at.wall, step, group + "rewards/margins" + whose, eval.pairs.margin);
                file.scalar(at.wall, step, group + "rewards/accuracies" + whose, eval.pairs.preferred);
            }
        } else if (at.line.kind == LineKind::Privacy) {
            file.scalar(at.wall, at.line.privacy.step, "privacy/epsilon", at.line.privacy.epsilon);
        } else if (at.line.kind == LineKind::Drift) {
            const auto& d = at.line.drift;
            file.scalar(at.wall, d.round, "drift/from_mean/replica" + std::to_string(d.replica), d.fromMean);
            file.scalar(at.wall, d.round, "drift/from_base/replica" + std::to_string(d.replica), d.fromBase);
        }
    };
    auto count = forEachRecord(folder, [&](const PlacedRecord& at) -> Status {
        auto file = files.find(at.header.worker);
        if (file == files.end()) {
            const auto own = out / (at.header.worker < 0 ? "task" : "w" + std::to_string(at.header.worker));
            FURROW_TRY(realFileSystem().createFolders(own));
            FURROW_TRY_ASSIGN(auto created,
                EventFileWriter::create(
                    own / ("events.out.tfevents." + std::to_string(static_cast<std::int64_t>(at.wall)) + ".furrow"),
                    at.wall));
            file = files.emplace(at.header.worker, std::move(created)).first;
        }
        write(file->second, at);
        return {};
    });
    for (auto& [worker, file] : files)
        FURROW_TRY(file.finish());
    return count;
}

/// The next line that fits into `buffer`; longer ones are skipped, and counted in `badBytes`. Nothing at the end.
std::optional<std::string_view> nextLine(std::istream& in, std::string& buffer, std::uint64_t& badBytes)
{
    while (in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size())),
        in.fail() && !in.eof() && in.gcount() > 0 && badBytes <= kMostBadBytes) {
        badBytes += static_cast<std::uint64_t>(in.gcount());
        in.clear();
        in.ignore(static_cast<std::streamsize>(kMostBadBytes), '\n');
        badBytes += static_cast<std::uint64_t>(in.gcount());
    }
    if (in.fail())
        return std::nullopt;
    return std::string_view(buffer.data(), static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0 : 1));
}

/// Attempt and worker of "<attempt>-w<worker>.jsonl", -1 for what a task wrote ("<attempt>-task.jsonl"); nothing for
/// other files.
std::optional<std::pair<std::int64_t, std::int64_t>> placeOfFile(const std::filesystem::path& path)
{
    const std::string name = utf8Text(path.filename());
    std::int64_t attempt = 0;
    std::int64_t worker = 0;
    const char* end = name.data() + name.size();
    auto read = std::from_chars(name.data(), end, attempt);
    if (read.ec == std::errc() && std::string_view(read.ptr, end) == "-task.jsonl")
        return std::pair { attempt, std::int64_t { -1 } };
    if (read.ec != std::errc() || !std::string_view(read.ptr, end).starts_with("-w"))
        return {};
    read = std::from_chars(read.ptr + 2, end, worker);
    if (read.ec != std::errc() || std::string_view(read.ptr, end) != ".jsonl")
        return {};
    return std::pair { attempt, worker };
}

} // namespace

Result<std::int64_t> forEachRecord(
    const std::filesystem::path& telemetryFolder, const std::function<Status(const PlacedRecord&)>& onRecord)
{
    std::map<std::pair<std::int64_t, std::int64_t>, std::filesystem::path> files;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(telemetryFolder, failed))
        if (const auto place = placeOfFile(entry.path()); place && entry.is_regular_file(failed))
            files[*place] = entry.path();
    if (files.empty())
        return Error { ErrorCode::NotFound,
            sentence("%1 holds no telemetry: the run was never started.", { utf8Text(telemetryFolder) }) };
    std::int64_t count = 0;
    for (const auto& [place, path] : files) {
        RegularFileStream in(path);
        TelemetryHeader header;
        bool hasHeader = false;
        std::string buffer(kMaxLineBytes + 2, '\0');
        ScannedLine line;
        std::uint64_t badBytes = 0;
        while (const auto bytes = nextLine(in, buffer, badBytes)) {
            scanLine(*bytes, line);
            badBytes += line.kind == LineKind::Bad ? bytes->size() : 0;
            if (badBytes > kMostBadBytes)
                break;
            if (line.kind == LineKind::Header) {
                header = line.header;
                hasHeader = true;
            } else if (hasHeader && line.kind != LineKind::Bad && line.kind != LineKind::Unknown) {
                const double wall
                    = static_cast<double>(header.wallAnchorNs + (monotonicNs(line) - header.monotonicAnchorNs)) / 1e9;
                FURROW_TRY(onRecord({ header, wall, line }));
                ++count;
            }
        }
        if (badBytes > kMostBadBytes)
            logWarning(tooManyBadBytes(path));
    }
    return count;
}

Result<std::int64_t> exportTelemetry(const std::filesystem::path& telemetryFolder, MeasuredFormat format,
    const std::filesystem::path& out, const ExportView& view)
{
    std::error_code failed;
    if (std::filesystem::exists(out, failed) && !holdsNothing(out))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is not empty. Name a new folder for the export.", { utf8Text(out) }) };
    const auto writer = format == MeasuredFormat::Csv ? exportCsv
        : format == MeasuredFormat::JsonLines         ? exportJsonl
                                                      : exportTensorBoard;
    std::int64_t written = 0;
    FURROW_TRY(makeWholeFolder(realFileSystem(), out, {}, [&](const std::filesystem::path& folder) -> Status {
        FURROW_TRY_ASSIGN(written, writer(telemetryFolder, folder, view));
        return {};
    }));
    return written;
}

} // namespace furrow
