// How this works: every checkpoint that newest weights were made from has a row, and a manifest in its folder or, when
// its weights were removed, in checkpoints/removed. The row has the hash of the manifest, the manifest that of each
// file. So the manifests are held against the rows, the windows in the manifests against the parts of the ledger, and
// the files of the newest weights against their manifests.

#include "core/run/audit/audit_checkpoints.h"

#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/audit/proven_parts.h"
#include "core/run/audit/proven_rows.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/run/folder/kept_states.h"
#include "core/run/folder/known_aside.h"
#include "core/run/folder/removed_weights.h"
#include "core/run/folder/stray_checkpoints.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace furrow {

namespace {

using Row = SupervisorLedger::CheckpointRow;

constexpr std::ptrdiff_t kMostMissingNamed = 10;

class CheckpointAudit {
public:
    CheckpointAudit(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, AuditLog& log)
        : paths_(paths)
        , file_(file)
        , ledger_(ledger)
        , log_(log)
    {
    }

    Status read()
    {
        FURROW_TRY_ASSIGN(rows_, ledger_.checkpoints());
        folders_ = foldersOf(rows_);
        FURROW_TRY_ASSIGN(const auto states, keptStates(ledger_, file_.config));
        for (const auto& state : states)
            states_.insert(state.row.id.value);
        return {};
    }

    Status manifests()
    {
        log_.begin(Evidence::Manifests);
        std::int64_t removed = 0;
        for (const Row& row : rows_) {
            if (log_.stopped())
                return cancelled();
            if (!row.surviving)
                continue;
            log_.say(sentence("Reading the manifests of the checkpoints"),
                static_cast<double>(row.id.value) / static_cast<double>(rows_.back().id.value));
            removed += hasWeights(row) ? 0 : 1;
            takeManifest(row);
            if (row.removed && hasWeights(row) && stillCounts(row.id.value))
                log_.mention(FindingKind::Stray,
                    sentence(
                        "checkpoint %1 was removed by the keep policy and its folder is there; the next resume takes it back",
                        { row.record.folder }));
        }
        sayMissing();
        const auto published = askPublished(paths_, file_.runId, rows_);
        if (published.other)
            log_.wrong(FindingKind::Manifest, {}, published.other->problem);
        if (!published.silence.empty())
            log_.notInspected(published.silence);
        for (const auto& other : manifestFaults(paths_, rows_).otherThanChildrenSay)
            log_.wrong(FindingKind::Manifest, {}, other.problem);
        strangers();
        if (silent_ > 0)
            log_.notInspected(silent_ == 1
                    ? sentence(
                          "who wrote 1 checkpoint and its loss on held-out text: its manifest is of a version that did not keep it")
                    : sentence(
                          "who wrote %1 checkpoints and their loss on held-out text: their manifests are of a version that did not keep it",
                          { Count(silent_) }));
        log_.how(sentence(
            "SHA-256 of the manifest, also against what its children name, and who wrote it, kind, step, tokens, size, loss on held-out text and parents of each of %1 checkpoints behind the newest weights (%2 of them without weights, as the keep policy wants); and whether there are checkpoints that the tracker does not know",
            { Count(log_.inspected()), Count(removed) }));
        return {};
    }

    Status parts()
    {
        log_.begin(Evidence::Parts);
        std::int64_t parts = 0;
        for (const auto& [id, manifest] : manifests_) {
            if (log_.stopped())
                return cancelled();
            FURROW_TRY_ASSIGN(auto rows, ledger_.partsOf({ id }));
            log_.looked();
            parts += std::ssize(rows);
            const Covered byManifest = coveredBy(manifest.parts);
            const Covered byLedger = coveredBy(rows);
            const auto chunk = firstDifference(byManifest, byLedger);
            if (chunk && stillCounts(id))
                log_.wrong(FindingKind::Parts, *chunk, differenceInWords(*chunk, folders_[id], byManifest, byLedger));
        }
        log_.how(sentence("the windows in %1 manifests against %2 part rows of the tracker",
            { Count(log_.inspected()), Count(parts) }));
        return {};
    }

    Status weights(bool all)
    {
        log_.begin(Evidence::Weights);
        std::vector<const Row*> hashed;
        std::int64_t older = 0;
        for (const Row& row : rows_) {
            if (!row.surviving || !hasWeights(row))
                continue;
            if (all || row.head || states_.contains(row.id.value))
                hashed.push_back(&row);
            else
                ++older;
        }
        if (older > 0)
            log_.notInspected(sentence(
                "weights and optimiser state of %1 older checkpoints: --deep reads them too", { Count(older) }));
        for (const Row* row : hashed)
            if (const auto manifest = manifests_.find(row->id.value); manifest != manifests_.end())
                weigh(manifest->second, row->record.folder);
        std::int64_t files = 0;
        for (const Row* row : hashed) {
            const auto manifest = manifests_.find(row->id.value);
            if (manifest == manifests_.end() && !stillCounts(row->id.value)) {
                gone_.insert(row->id.value);
                continue;
            }
            if (manifest == manifests_.end()) {
                log_.unreadable(
                    sentence("the weights of checkpoint %1 could not be inspected: its manifest cannot be used",
                        { row->record.folder }));
                continue;
            }
            log_.looked();
            for (const auto& one : manifest->second.files) {
                ++files;
                FURROW_TRY(hash(*row, one));
            }
        }
        for (const auto& [sha256, use] : frozen_) {
            ++files;
            FURROW_TRY(hashFrozen(use));
        }
        if (!gone_.empty())
            log_.notInspected(gone_.size() == 1
                    ? sentence("weights of 1 checkpoint that the run itself removed, or left, while it was inspected")
                    : sentence(
                          "weights of %1 checkpoints that the run itself removed, or left, while they were inspected",
                          { Count(std::ssize(gone_)) }));
        const std::vector<Argument> numbers { Count(files), Bytes(static_cast<std::uint64_t>(bytesRead_)),
            Count(log_.inspected()) };
        log_.how(hashed.empty() ? sentence("there is no checkpoint yet")
                : all           ? sentence("SHA-256 of %1 files (%2) of all %3 checkpoints that are there", numbers)
                : log_.inspected() == 1
                ? sentence("SHA-256 of %1 files (%2) of one checkpoint, the newest", { numbers[0], numbers[1] })
                : states_.empty()
                ? sentence("SHA-256 of %1 files (%2) of %3 checkpoints, the newest of each replica", numbers)
                : sentence(
                      "SHA-256 of %1 files (%2) of %3 checkpoints: the newest of each replica, and those that a resume takes moments of the optimiser or the outer state of DiLoCo from",
                      numbers));
        return {};
    }

private:
    struct FrozenUse {
        CheckpointManifest::Frozen frozen;
        std::string checkpoint; ///< the newest that names it
    };

    /// What is to be read for one checkpoint. Its frozen weights are read once for all.
    void weigh(const CheckpointManifest& manifest, const std::string& checkpoint)
    {
        for (const auto& one : manifest.files)
            bytesToRead_ += static_cast<double>(one.sizeBytes);
        if (!manifest.frozen)
            return;
        const auto [use, isFirst] = frozen_.try_emplace(manifest.frozen->sha256);
        if (isFirst)
            bytesToRead_ += static_cast<double>(manifest.frozen->sizeBytes);
        use->second.frozen = *manifest.frozen;
        use->second.checkpoint = checkpoint;
    }

    /// Also of those of which nothing else is read: all that are there stand on the file.
    std::int64_t checkpointsOn(const std::string& frozenSha256) const
    {
        return std::ranges::count_if(rows_, [&](const Row& row) {
            const auto manifest = manifests_.find(row.id.value);
            return manifest != manifests_.end() && manifest->second.frozen
                && manifest->second.frozen->sha256 == frozenSha256 && hasWeights(row);
        });
    }

    /// It stays as long as the run, so nothing but damage and a disk that is away takes it.
    Status hashFrozen(const FrozenUse& use)
    {
        const auto file = frozenFileIn(paths_.checkpointsFolder(), use.frozen.sha256);
        const std::string name = "frozen/" + utf8Text(file.filename());
        auto verdict = verifyFrozenFile(file, use.frozen, log_.stop(), [&](std::string_view bytes) {
            bytesRead_ += static_cast<double>(bytes.size());
            log_.say(sentence("Reading the frozen weights"), bytesRead_ / std::max(bytesToRead_, bytesRead_));
        });
        if (verdict.ok())
            return {};
        if (verdict.error().code == ErrorCode::Cancelled)
            return cancelled();
        const std::int64_t checkpoints = checkpointsOn(use.frozen.sha256);
        const Message whose = checkpoints == 1
            ? sentence("%1, the frozen weights of checkpoint %2", { name, use.checkpoint })
            : sentence("%1, the frozen weights of %2 checkpoints (the newest is %3)",
                  { name, Count(checkpoints), use.checkpoint });
        if (verdict.error().code == ErrorCode::Corrupt)
            log_.wrong(FindingKind::Weights, {},
                sentence("%1, is not what was written: its size or SHA-256 differs", { whose }));
        else
            log_.unreadable(sentence("%1, could not be inspected: %2", { whose, verdict.error().message }));
        return {};
    }

    static Status cancelled()
    {
        return Error { ErrorCode::Cancelled, sentence("the audit was ended before it was done") };
    }

    std::filesystem::path manifestFile(const Row& row) const
    {
        return row.removed ? keptManifest(paths_, row.record.folder)
                           : paths_.checkpointFolder(row.record.folder) / kManifestFile;
    }

    /// A removed one whose manifest is in its folder was put back, or is called removed by a tracker that was changed:
    /// its weights are looked at all the same.
    bool hasWeights(const Row& row) const
    {
        std::error_code unknown;
        const auto folder = paths_.checkpointFolder(row.record.folder);
        return !row.removed
            || (isPlainName(row.record.folder) && !isLink(folder)
                && std::filesystem::exists(folder / kManifestFile, unknown));
    }

    /// Where its manifest lies now. The tracker knows first that the weights go, then the manifest is moved.
    Result<CheckpointManifest> manifestOf(const Row& row, std::string& sha256) const
    {
        auto manifest = readManifestFile(manifestFile(row), sha256);
        if (manifest.ok() || !sha256.empty() || !row.removed)
            return manifest;
        auto notYetMoved = readManifestFile(paths_.checkpointFolder(row.record.folder) / kManifestFile, sha256);
        return notYetMoved.ok() || !sha256.empty() ? notYetMoved : readManifestFile(manifestFile(row), sha256);
    }

    /// False: the run took the checkpoint away, or out of the lineage, since the rows were read.
    bool stillCounts(std::int64_t id)
    {
        auto rows = ledger_.checkpoints();
        if (!rows.ok())
            return true;
        const auto now = std::find_if(
            rows.value().begin(), rows.value().end(), [id](const Row& row) { return row.id.value == id; });
        const auto before
            = std::find_if(rows_.begin(), rows_.end(), [id](const Row& row) { return row.id.value == id; });
        return now == rows.value().end() || (now->surviving && now->removed == before->removed);
    }

    void takeManifest(const Row& row)
    {
        const std::string& folder = row.record.folder;
        if (!isPlainName(folder)) {
            log_.wrong(FindingKind::Manifest, {},
                sentence("checkpoint %1 has the folder '%2', which is not the name of a folder",
                    { std::to_string(row.id.value), folder }));
            return;
        }
        std::string sha256;
        auto manifest = manifestOf(row, sha256);
        if (manifest.ok() || !sha256.empty())
            log_.looked();
        if (!manifest.ok() && sha256.empty())
            return missing(row, manifest.error());
        if (sha256 != row.record.manifestSha256)
            return log_.wrong(FindingKind::Manifest, {}, otherManifestInWords(folder));
        if (!manifest.ok())
            return log_.wrong(FindingKind::Manifest, {},
                sentence("the manifest of checkpoint %1 cannot be used: %2", { folder, manifest.error().message }));
        if (auto differs = rowDifference(row, manifest.value(), manifestFile(row), file_.runId, folders_);
            !differs.empty())
            return log_.wrong(FindingKind::Manifest, {}, std::move(differs));
        silent_ += manifest.value().saysWho ? 0 : 1;
        manifests_.emplace(row.id.value, std::move(manifest).value());
    }

    void missing(const Row& row, const Error& error)
    {
        const std::string& folder = row.record.folder;
        if (!stillCounts(row.id.value))
            return;
        std::error_code unknown;
        if (!row.removed && std::filesystem::exists(keptManifest(paths_, folder), unknown))
            return log_.wrong(FindingKind::Older, {},
                sentence(
                    "the weights of checkpoint %1 were removed by the keep policy, and the tracker does not know it: it is older than the checkpoints",
                    { folder }));
        missing_.push_back(
            sentence("the manifest of checkpoint %1 could not be inspected: %2", { folder, error.message }));
    }

    /// With a disk that is away all of them are missing: that is one thing to say, and not as many lines.
    void sayMissing()
    {
        if (missing_.empty())
            return;
        if (std::error_code unknown; !std::filesystem::exists(paths_.checkpointsFolder(), unknown))
            return log_.unreadable(
                sentence("%1 is not there. Is its disk mounted?", { utf8Text(paths_.checkpointsFolder()) }),
                std::ssize(missing_));
        const auto named = std::min<std::ptrdiff_t>(std::ssize(missing_), kMostMissingNamed);
        for (auto& one : std::span(missing_).first(named))
            log_.unreadable(std::move(one));
        if (const auto more = std::ssize(missing_) - named; more > 0)
            log_.unreadable(more == 1
                    ? sentence("the manifest of 1 more checkpoint could not be inspected")
                    : sentence("the manifests of %1 more checkpoints could not be inspected", { Count(more) }),
                more);
    }

    Status hash(const Row& row, const CheckpointManifest::File& one)
    {
        const std::string& folder = row.record.folder;
        if (!isPlainName(one.name)) {
            log_.wrong(FindingKind::Weights, {},
                sentence("the manifest of checkpoint %1 names '%2', which is not in its folder", { folder, one.name }));
            return {};
        }
        std::error_code unknown;
        if (const auto size
            = std::filesystem::file_size(paths_.checkpointFolder(folder) / pathFromUtf8(one.name), unknown);
            !unknown && static_cast<std::int64_t>(size) != static_cast<std::int64_t>(one.sizeBytes)) {
            log_.wrong(FindingKind::Weights, {},
                sentence("%1 of checkpoint %2 is not what was written: its size differs", { one.name, folder }));
            return {};
        }
        const Message doing = sentence("Reading the weights of checkpoint %1", { folder });
        auto sha256 = sha256File(
            paths_.checkpointFolder(folder) / pathFromUtf8(one.name), log_.stop(), [&](std::string_view bytes) {
                bytesRead_ += static_cast<double>(bytes.size());
                log_.say(doing, bytesRead_ / std::max(bytesToRead_, bytesRead_));
            });
        if (!sha256.ok() && sha256.error().code == ErrorCode::Cancelled)
            return cancelled();
        if (!sha256.ok()) {
            if (row.removed || !stillCounts(row.id.value))
                gone_.insert(row.id.value);
            else
                log_.unreadable(sentence(
                    "%1 of checkpoint %2 could not be inspected: %3", { one.name, folder, sha256.error().message }));
        } else if (sha256.value() != one.sha256) {
            log_.wrong(FindingKind::Weights, {},
                sentence("%1 of checkpoint %2 is not what was written: its SHA-256 differs", { one.name, folder }));
        } else if (one.name == kStateFile) {
            lookAtState(row);
        }
        return {};
    }

    /// A state with the right hash may still be one of other weights: somebody fitted the hashes to it.
    void lookAtState(const Row& row)
    {
        const auto agrees = checkState(paths_.checkpointFolder(row.record.folder), manifests_.at(row.id.value));
        if (agrees.ok())
            return;
        if (!stillCounts(row.id.value))
            gone_.insert(row.id.value);
        else
            log_.failed(FindingKind::Weights, agrees.error(), agrees.error().message);
    }

    void strangers()
    {
        const auto strays = findStrays(paths_, file_.runId, [this] { return ledger_.checkpoints(); });
        if (!strays.ok())
            return log_.unreadable(strays.error().message);
        mentionStrays(strays.value());
        mentionNewer(strays.value());
        const auto inTheWeights = leftOutInTheWeights(paths_, file_.runId, ledger_);
        if (!inTheWeights.ok())
            log_.unreadable(inTheWeights.error().message);
        else if (!inTheWeights.value().empty())
            log_.wrong(FindingKind::Excluded, {}, inTheWeights.value());
        const auto unclear = unclearLeftOut(paths_, file_.runId);
        if (!unclear.ok() || !unclear.value().empty()) // a resume refuses with the same words
            log_.unreadable(unclear.ok() ? unclear.value() : unclear.error().message);
        if (!strays.value().newer.empty())
            return;
        const auto older = olderThanItsRecords(paths_, file_.runId, ledger_);
        if (!older.ok())
            log_.unreadable(older.error().message);
        else if (!older.value().empty())
            log_.wrong(FindingKind::Older, {}, older.value());
    }

    void mentionNewer(const StrayCheckpoints& strays)
    {
        if (!strays.newer.empty() && !headsAside(paths_, rows_).empty()) {
            const auto twoLines = olderTrackerText(paths_, file_.runId, strays, rows_, ledger_);
            return twoLines.ok() ? log_.wrong(FindingKind::Older, {}, twoLines.value())
                                 : log_.unreadable(twoLines.error().message);
        }
        for (const auto& newer : strays.newer)
            log_.wrong(FindingKind::Older, {},
                sentence("checkpoint %1 (step %2) is not in the tracker: the tracker is older than the checkpoints",
                    { newer.folder, std::to_string(newer.step) }));
    }

    /// What lies there and belongs to nothing that the run knows. No fault: a resume puts it aside.
    void mentionStrays(const StrayCheckpoints& strays)
    {
        if (isLink(paths_.checkpointsFolder()))
            log_.mention(FindingKind::Stray,
                sentence(
                    "%1 is a link: what is inspected lies elsewhere, and Furrow writes nothing there. Put the folder itself in its place.",
                    { utf8Text(paths_.checkpointsFolder()) }));
        for (const auto& entry : strays.unknown)
            log_.mention(FindingKind::Stray,
                sentence(
                    "%1 in the folder of the checkpoints does not belong to this run: a copy, or something foreign. Nothing was done with it; the next resume moves it to checkpoints/unknown.",
                    { utf8Text(entry.filename()) }));
        for (const auto& entry : strays.links)
            log_.mention(FindingKind::Stray,
                sentence("%1 in the folder of the checkpoints is a link and was not looked into",
                    { utf8Text(entry.filename()) }));
    }

    const RunPaths& paths_;
    const RunFile& file_;
    LedgerReader& ledger_;
    AuditLog& log_;
    std::vector<Row> rows_;
    FoldersById folders_;
    std::map<std::int64_t, CheckpointManifest> manifests_; // of the surviving ones that agree with their rows
    std::vector<Message> missing_; // what is said of manifests that are not there
    std::set<std::int64_t> gone_; // their weights were removed by the run while they were inspected
    std::set<std::int64_t> states_; // keptStates()
    std::map<std::string, FrozenUse> frozen_; // by hash
    std::int64_t silent_ = 0; // manifests that do not say who wrote them
    double bytesToRead_ = 0;
    double bytesRead_ = 0;
};

} // namespace

Status auditCheckpoints(const RunPaths& paths, const RunFile& file, LedgerReader& ledger, bool all, AuditLog& log)
{
    CheckpointAudit audit(paths, file, ledger, log);
    FURROW_TRY(audit.read());
    FURROW_TRY(audit.manifests());
    FURROW_TRY(audit.parts());
    return audit.weights(all);
}

} // namespace furrow
