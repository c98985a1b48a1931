#pragma once

#include "core/base/result.h"
#include "core/telemetry/scan.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// A record with its place: who measured it and when.
struct PlacedRecord {
    const TelemetryHeader& header;
    double wall = 0; ///< s since 1970
    const ScannedLine& line;
};
/// Walks every record of a run's telemetry folder, file by file (attempt, then worker), each in the order it was
/// written. Lines that cannot be read are left out. @return the number of records
Result<std::int64_t> forEachRecord(
    const std::filesystem::path& telemetryFolder, const std::function<Status(const PlacedRecord&)>& onRecord);

/// Something that happened to the run and that no worker measured.
struct RunEvent {
    double wall = 0; ///< s since 1970
    std::optional<std::int64_t> attempt;
    std::optional<std::int64_t> worker;
    std::string what; ///< in one word, for programs
    std::string text;
};

/// What telemetry alone does not know of its records. Without it chunks are numbers, and no step is called lost.
struct ExportView {
    std::function<std::string(std::int64_t chunk)> chunkName; ///< "3:17"
    std::function<bool(const PlacedRecord&)>
        isLost; ///< of a step or an evaluation: its weights are gone. Asked of each once, in the order of the walk
    std::vector<RunEvent> events; ///< stand among those that workers told, but for TensorBoard, which has none
};

/// For which programs.
enum class MeasuredFormat { Csv, JsonLines, TensorBoard };
template <>
inline constexpr std::array kClosedNames<MeasuredFormat> {
    ClosedName { MeasuredFormat::Csv, "csv" },
    ClosedName { MeasuredFormat::JsonLines, "jsonl" },
    ClosedName { MeasuredFormat::TensorBoard, "tensorboard" },
};

/// Writes telemetry for other programs into a new or empty folder. @return the number of records, those of the view too
/// Csv: steps.csv, evaluations.csv, events.csv (by their times), drifts.csv; JsonLines: records.jsonl with the same
/// names; TensorBoard: one event file for each worker, in a folder w<worker> ("task": what merged or evaluated at the
/// end, its worker is -1 elsewhere), the steps being the worker's own, of merged weights those behind them; what is
/// lost has tags of its own, lost/loss and lost/eval_loss. Epochs count from 1;
/// "global_step" counts the steps of all workers in the order of time, those that were lost with their weights too, as
/// far as they were told.
Result<std::int64_t> exportTelemetry(const std::filesystem::path& telemetryFolder, MeasuredFormat format,
    const std::filesystem::path& out, const ExportView& view = {});

/// One file of TensorBoard's event format: records of length, checksum, protocol buffer.
/// github.com/tensorflow/tensorboard, compat/proto/event.proto. Not thread-safe.
class EventFileWriter {
public:
    /// @param wall  goes into the file's first record, s since 1970
    static Result<EventFileWriter> create(const std::filesystem::path& path, double wall);
    EventFileWriter(EventFileWriter&&) noexcept;
    ~EventFileWriter();
    void scalar(double wall, std::int64_t step, const std::string& tag, double value);
    /// Writes what is buffered, syncs and closes.
    Status finish();

private:
    struct State;
    explicit EventFileWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace furrow
