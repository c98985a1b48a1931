#pragma once

#include "core/base/result.h"
#include "core/run/folder/run_file.h"
#include "core/run/folder/run_paths.h"
#include "core/tracker/audit/audit.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace furrow {

struct BlocksRead; // untrained_chunks.h

/// Whether it comes of a file that cannot be read now, or that another process has locked: nobody can say what is in
/// it.
bool saysNothing(const Error& error);

/// Of an audit that is not clean what it found first, but for what is no fault.
Message firstFault(const AuditReport& report);

/// "" when the tracker of a run is whole and the audit finds nothing; else what is wrong. An error that saysNothing()
/// is no damage.
Result<Message> trackerDamage(const RunPaths& paths);

/// "" when a resume can go on from the tracker of a run; else what is wrong with it and what to do.
/// Reads a bounded part of the prepared blocks.
/// @param ledger  what the audit of the ledger alone said: seconds for a million chunks
Message trackerRefusal(const RunPaths& paths, const RunFile& file, const Result<AuditReport>& ledger);

/// What beside the tracker is not any more what proves it: a manifest of an older checkpoint that is not the one that
/// the tracker recorded, one that the tracker recorded otherwise when it was last published, one that is not what its
/// child was made from, a damaged record of what a person left out. A plain value.
class LostProof {
public:
    /// Reads each manifest once, whatever is asked then.
    static Result<LostProof> find(const RunPaths& paths, const RunFile& file, LedgerReader& reader);

    /// "" or the first of it, and what to do. A resume goes on by the tracker alone with ResumeChoice::acceptLoss.
    /// @param goBackTo  what is newer than this checkpoint is left by that, and its proof with it; a record of what a
    /// person left out counts all the same
    const Message& of(std::optional<CheckpointId> goBackTo = std::nullopt) const;

private:
    std::map<CheckpointId, Message>
        from_; ///< by the oldest checkpoint of which it is said; it holds for the newer ones
};

/// What is lost of it, see LostProof.
Result<Message> lostProof(const RunPaths& paths, const RunFile& file, LedgerReader& reader,
    std::optional<CheckpointId> goBackTo = std::nullopt);

/// What making the tracker anew, or taking it forward, costs the run beside what is trained again, with what to do
/// instead; "": nothing.
Message costsOfRepair(const RunFile& file);

/// trackerDamage() of a file that should be the tracker of that run: also what it has of the checkpoints is held
/// against their manifests, and what it has of chunks that nobody trained yet against the prepared blocks. One of a
/// newer Furrow is an error and no damage.
/// @param known  of the prepared blocks is not read again, and gets what is read
Result<Message> damageOf(
    const RunPaths& paths, const std::filesystem::path& tracker, const RunFile& file, BlocksRead* known = nullptr);
Result<bool> isWhole(
    const RunPaths& paths, const std::filesystem::path& tracker, const RunFile& file, BlocksRead* known = nullptr);

} // namespace furrow
