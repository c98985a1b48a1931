#pragma once

#include "core/run/folder/run_paths.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/supervisor_ledger.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace furrow {

// left-out/: which chunks a person left out by hand, a small file for each time. The tracker decides; an older one
// that is put back knows nothing of what was decided after it, and by these files that is seen and done again.

/// What a person decided at one time.
struct LeftOut {
    std::vector<ChunkId> chunks; ///< of the epochs that were open; meant are their places, from then on
    Message cause;
};

/// Of the files that are no records of this run the first that has the name of one: it is damaged. Nothing: none has.
Result<std::optional<std::filesystem::path>> damagedLeftOut(const RunPaths& paths, const std::string& runId);

/// Durable, and before the tracker is asked: what dies in between is done by the next resume. @return the file, to be
/// removed when the tracker refuses
Result<std::filesystem::path> keepLeftOut(const RunPaths& paths, const std::string& runId, const LeftOut& decided);
struct KeptLeftOut {
    std::vector<LeftOut> decided; ///< in no order
    std::vector<std::filesystem::path> unclear; ///< of another run, or not to be understood: they decide nothing
    std::optional<std::filesystem::path> damaged; ///< of those the first that has the name of a record of this run
};
/// Io when one cannot be read.
Result<KeptLeftOut> keptLeftOut(const RunPaths& paths, const std::string& runId);
/// Names what is unclear, for a person: it may have been a decision. "": nothing is.
Result<Message> unclearLeftOut(const RunPaths& paths, const std::string& runId);
/// Those that the tracker does not know: it would train their chunks, in its newest epoch or in the one that the run
/// opens next.
Result<std::vector<LeftOut>> forgottenLeftOut(const RunPaths& paths, const std::string& runId, LedgerReader& tracker);
/// Leaves out what the run would train of all that was decided, whether the tracker is older or the run went back
/// behind the training of it. Returns that in a sentence; "": there was nothing.
/// @param patience  with others that write; without it 30 s
Result<Message> leaveOutAgain(const RunPaths& paths, const std::string& runId, const std::filesystem::path& tracker,
    const Patience& patience = {});
/// For a tracker that was made anew: by manifests alone weights may be chosen that a person had given up before chunks
/// of them were left out. Says that; "": no chunk that is left out is in the weights.
Result<Message> leftOutInTheWeights(const RunPaths& paths, const std::string& runId, LedgerReader& tracker);

/// Of one place: the chunk of the newest epoch, whatever its state, and those of other open epochs that can be left
/// out. An epoch that does not have the chunk yet takes it over from the one before.
Result<std::vector<ChunkCell>> openOnesAt(LedgerReader& reader, const std::vector<EpochRow>& epochs, ChunkPlace place);
/// Not trained and not in training: it can be left out.
bool canBeLeftOut(ChunkState state);

} // namespace furrow
