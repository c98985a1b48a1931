#pragma once

#include "core/base/result.h"
#include "core/config/schema.h"
#include "core/run/status/run_status.h"
#include "ui/bridge/run_feed.h"

#include <QString>
#include <vector>

namespace furrow {

// Words and numbers of the interface in the language and locale of the person. One home for each.

QString stateWord(RunState state); ///< "Running"
QString stateWord(const RunStatus& status); ///< also "Finished (marked by hand)", and what keeps it from going on
QString stateWord(const RunLine& line); ///< the same of a run in a list
QString stopReasonSentence(StopReason reason); ///< "the end of the epoch was reached"; "" for None
/// Why we think that a run is in its state: the sentences of the engine, with times as the clock of the person says
/// them.
QString evidenceText(const RunStatus& status, const QString& separator);
QString chunkStateWord(ChunkState state); ///< "committed"
QString chunkStateWord(const ChunkCell& cell); ///< the same, "work lost" and "partly trained"
QString logLevelWord(LogLevel level);
QString chunkShort(std::int64_t block, int column); ///< "B53 C17"
QString chunkTitle(std::int64_t block, int column); ///< "Block 53, chunk 17"
/// "B1 C7, B1 C9": the first few by their places, and how many more.
QString chunkNames(std::vector<ChunkId> chunks);
QString epochName(std::int64_t epoch); ///< "Epoch 1" of epoch 0
QString epochsName(const ShownEpochs& epochs); ///< "Epochs 1 and 2"
/// "epoch 3 and epochs 14 to 23" of ascending ones: what follows one another is one piece.
QString epochNames(const std::vector<std::int64_t>& epochs);
QString workerName(int worker); ///< "worker 0"
QString phaseWord(WorkerPhase phase); ///< what a worker is at: "training"

QString countText(std::int64_t count); ///< grouped: "1,412"
QString fixedText(double value, int decimals); ///< "3.431"; "NaN" and "∞" for those
QString rateText(double perSecond); ///< "118,200 tok/s"
QString lossOfText(int workers); ///< "Loss of the newest step, mean of 2 workers": of whom the loss of a run is
/// "2.636", or "2.636 (lost)" of steps that no weights have any more; a dash where there is none.
QString lossText(double loss, bool isGone, int decimals = 3);
QString lossIsGoneText(); ///< what "(lost)" means
QString bytesText(std::uint64_t bytes); ///< "17.1 GiB"
QString durationText(double seconds); ///< "11 h 50 min"
QString percentText(double fraction); ///< "58.4 %"
QString wallClockText(std::int64_t wallNs); ///< "18:42:10"
QString wallTimeText(std::int64_t wallNs); ///< "18:42:10" today, else with the date
QString agoText(double seconds); ///< "0.4 s ago"

/// What a resume changed: "Workers 4 → 1".
QString changeText(const ConfigChange& change);

/// The line below a run's name in the library: "3 workers · attempt 2".
QString runSubtitle(const RunLine& line);

} // namespace furrow
