#include "core/run/folder/removed_weights.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/stray_checkpoints.h"

namespace furrow {

std::filesystem::path keptManifest(const RunPaths& paths, const std::string& name)
{
    return paths.removedManifestsFolder() / pathFromUtf8(name + ".json");
}

namespace {

using Row = SupervisorLedger::CheckpointRow;

std::filesystem::path livingManifest(const RunPaths& paths, const std::string& name)
{
    return paths.checkpointFolder(name) / kManifestFile;
}

/// The first file that is another one than the manifest says was written, or ""; a missing one is gone already. The
/// manifest was written last, so what is older and of the right size is not read.
Result<std::string> changedFile(const std::filesystem::path& folder, const std::filesystem::path& manifestFile)
{
    std::string sha256;
    const auto manifest = readManifestFile(manifestFile, sha256);
    if (!manifest.ok())
        return manifest.error().code == ErrorCode::Corrupt ? Result<std::string>(kManifestFile) : manifest.error();
    std::error_code failed;
    const auto written = std::filesystem::last_write_time(manifestFile, failed);
    for (const auto& one : manifest.value().files) {
        const auto file = folder / pathFromUtf8(one.name);
        if (!isPlainName(one.name) || isLink(file) || !std::filesystem::exists(file, failed))
            continue; // is not deleted either
        if (std::filesystem::file_size(file, failed) != one.sizeBytes)
            return one.name;
        if (std::filesystem::last_write_time(file, failed) <= written && !failed)
            continue;
        FURROW_TRY_ASSIGN(const auto now, sha256File(file));
        if (now != one.sha256)
            return one.name;
    }
    return std::string();
}

/// Into checkpoints/removed/, which keeps it for good.
Status keepManifest(const RunPaths& paths, const std::string& name, FileSystem& files)
{
    const auto manifest = livingManifest(paths, name);
    const auto kept = keptManifest(paths, name);
    FURROW_TRY(files.createFolder(paths.removedManifestsFolder()));
    if (isTaken(kept)) {
        const auto own = sha256File(manifest);
        const auto before = isLink(kept) ? Result<std::string>(std::string()) : sha256File(kept);
        if (!own.ok() || !before.ok()
            || own.value()
                != before.value()) { // it is not ours: ours is moved there once, or again when it was put back
            FURROW_TRY_ASSIGN(auto aside, putAside(paths, { kept }, files));
            logWarning(aside);
        }
    }
    FURROW_TRY(files.replace(manifest, kept));
    return files.syncFolder(paths.removedManifestsFolder());
}

/// @return a sentence when something was put aside
Result<Message> removeFiles(const RunPaths& paths, const std::string& name, FileSystem& files)
{
    const auto folder = paths.checkpointFolder(name);
    FURROW_TRY_ASSIGN(const auto changed, changedFile(folder, keptManifest(paths, name)));
    if (changed.empty())
        return removeOwnFiles(paths, folder, files);
    auto aside = putAside(paths, { folder }, files);
    return aside.ok()
        ? sentence("%1 of checkpoint %2 is not what Furrow wrote, so the folder was not deleted.", { changed, name })
            + " " + aside.value()
        : aside;
}

/// One whose folder is there and is no checkpoint of the run. @return a sentence, or ""
Result<Message> settle(const RunPaths& paths, const std::string& runId, const Row& row, FileSystem& files)
{
    const std::string& name = row.record.folder;
    if (!isTaken(livingManifest(paths, name)))
        return isTaken(keptManifest(paths, name)) ? removeFiles(paths, name, files)
                                                  : putAside(paths, { paths.checkpointFolder(name) }, files);
    const auto verified = verifyCheckpoint(paths.checkpointFolder(name), row.record.manifestSha256, runId);
    if (!verified.ok() && verified.error().code != ErrorCode::Corrupt)
        return sentence("Checkpoint %1 was removed, and its folder is there again; it was left as it is: %2",
            { name, verified.error().message });
    return putAside(paths, { paths.checkpointFolder(name) }, files);
}

bool hasFolder(const RunPaths& paths, const Row& row)
{
    std::error_code failed;
    const auto folder = paths.checkpointFolder(row.record.folder);
    return isPlainName(row.record.folder) && !isLink(folder) && std::filesystem::is_directory(folder, failed);
}

} // namespace

std::string manifestSha256(const RunPaths& paths, const std::string& name)
{
    auto hash = sha256File(livingManifest(paths, name));
    if (!hash.ok())
        hash = sha256File(keptManifest(paths, name));
    return hash.ok() ? hash.value() : std::string();
}

Status removeWeights(const RunPaths& paths, const std::string& name, FileSystem& files)
{
    if (isTaken(livingManifest(paths, name)))
        FURROW_TRY(keepManifest(paths, name, files));
    FURROW_TRY_ASSIGN(auto removed, removeFiles(paths, name, files));
    if (!removed.empty())
        logWarning(removed);
    return {};
}

bool isThereAgain(const RunPaths& paths, const std::string& runId, const Row& row, FrozenVerdicts* known)
{
    return row.removed && hasFolder(paths, row) && isTaken(livingManifest(paths, row.record.folder))
        && verifyTrainable(paths.checkpointFolder(row.record.folder), row.record.manifestSha256, runId, known).ok();
}

Result<std::vector<Message>> takeBackRemoved(const RunPaths& paths, const std::string& runId, SupervisorLedger& ledger)
{
    FURROW_TRY_ASSIGN(auto rows, ledger.checkpoints());
    std::vector<Message> notes;
    FrozenVerdicts frozen;
    for (const Row& row : rows) {
        if (!isThereAgain(paths, runId, row, &frozen))
            continue;
        const std::string& name = row.record.folder;
        const bool wasRemoved = isTaken(keptManifest(paths, name));
        FURROW_TRY(ledger.markThereAgain(row.id, wasRemoved));
        if (wasRemoved)
            notes.push_back(sentence(
                "Checkpoint %1 had been removed and is there again: it is the run's again, and pinned.", { name }));
    }
    return notes;
}

Result<std::vector<Message>> settleRemoved(
    const RunPaths& paths, const std::string& runId, SupervisorLedger& ledger, FileSystem& files)
{
    FURROW_TRY_ASSIGN(auto rows, ledger.checkpoints());
    std::vector<Message> notes;
    for (const Row& row : rows) {
        if (!row.removed || !hasFolder(paths, row))
            continue;
        FURROW_TRY_ASSIGN(auto settled, settle(paths, runId, row, files));
        if (!settled.empty())
            notes.push_back(std::move(settled));
    }
    return notes;
}

} // namespace furrow
