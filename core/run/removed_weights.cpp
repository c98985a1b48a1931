#include "core/run/removed_weights.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/checkpoint_manifest.h"
#include "core/run/stray_checkpoints.h"

namespace furrow {

namespace {

using Row = SupervisorLedger::CheckpointRow;

std::filesystem::path livingManifest(const RunPaths& paths, const std::string& name) { return paths.checkpointFolder(name) / "manifest.json"; }
std::filesystem::path keptManifest(const RunPaths& paths, const std::string& name) { return paths.removedManifestsFolder() / pathFromUtf8(name + ".json"); }

/// Also a link that leads nowhere.
bool isThere(const std::filesystem::path& path)
{
    std::error_code failed;
    return std::filesystem::exists(std::filesystem::symlink_status(path, failed));
}

/// The first file that is another one than the manifest says was written, or ""; a missing one is gone already. The manifest was written last, so what
/// is older and of the right size is not read.
Result<std::string> changedFile(const std::filesystem::path& folder, const std::filesystem::path& manifestFile)
{
    std::string sha256;
    const auto manifest = readManifestFile(manifestFile, sha256);
    if (!manifest.ok())
        return manifest.error().code == ErrorCode::Corrupt ? Result<std::string>("manifest.json") : manifest.error();
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
        const auto now = sha256File(file);
        if (!now.ok())
            return now.error();
        if (now.value() != one.sha256)
            return one.name;
    }
    return std::string();
}

/// Into checkpoints/removed/, which keeps it for good.
Status keepManifest(const RunPaths& paths, const std::string& name)
{
    auto& files = realFileSystem();
    const auto manifest = livingManifest(paths, name);
    const auto kept = keptManifest(paths, name);
    if (auto made = files.createFolder(paths.removedManifestsFolder()); !made.ok())
        return made;
    if (isThere(kept)) {
        const auto own = sha256File(manifest);
        const auto before = isLink(kept) ? Result<std::string>(std::string()) : sha256File(kept);
        if (!own.ok() || !before.ok() || own.value() != before.value()) { // it is not ours: ours is moved there once, or again when it was put back
            auto aside = putAside(paths, { kept });
            if (!aside.ok())
                return aside.error();
            logWarning(aside.value());
        }
    }
    if (auto moved = files.replace(manifest, kept); !moved.ok())
        return moved;
    return files.syncFolder(paths.removedManifestsFolder());
}

/// @return a sentence when something was put aside
Result<std::string> removeFiles(const RunPaths& paths, const std::string& name)
{
    const auto folder = paths.checkpointFolder(name);
    const auto changed = changedFile(folder, keptManifest(paths, name));
    if (!changed.ok())
        return changed.error();
    if (changed.value().empty())
        return removeOwnFiles(paths, folder);
    auto aside = putAside(paths, { folder });
    return aside.ok() ? sentence("%1 of checkpoint %2 is not what Furrow wrote, so the folder was not deleted.", { changed.value(), name }) + " " + aside.value() : aside;
}

/// One whose folder is there. @return a sentence, or ""
Result<std::string> settle(const RunPaths& paths, const std::string& runId, SupervisorLedger& ledger, const Row& row)
{
    const std::string& name = row.record.folder;
    const bool wasRemoved = isThere(keptManifest(paths, name));
    if (!isThere(livingManifest(paths, name)))
        return wasRemoved ? removeFiles(paths, name) : putAside(paths, { paths.checkpointFolder(name) });
    const auto verified = verifyCheckpoint(paths.checkpointFolder(name), row.record.manifestSha256, runId);
    if (!verified.ok() && verified.error().code != ErrorCode::Corrupt)
        return sentence("Checkpoint %1 was removed, and its folder is there again; it was left as it is: %2", { name, verified.error().message });
    if (!verified.ok())
        return putAside(paths, { paths.checkpointFolder(name) });
    if (auto back = ledger.markThereAgain(row.id, wasRemoved); !back.ok())
        return back.error();
    return wasRemoved ? sentence("Checkpoint %1 had been removed and is there again: it is the run's again, and pinned.", { name }) : std::string();
}

} // namespace

Status removeWeights(const RunPaths& paths, const std::string& name)
{
    if (isThere(livingManifest(paths, name)))
        if (auto kept = keepManifest(paths, name); !kept.ok())
            return kept;
    auto removed = removeFiles(paths, name);
    if (!removed.ok())
        return removed.error();
    if (!removed.value().empty())
        logWarning(removed.value());
    return {};
}

Result<std::vector<std::string>> settleRemoved(const RunPaths& paths, const std::string& runId, SupervisorLedger& ledger)
{
    auto rows = ledger.checkpoints();
    if (!rows.ok())
        return rows.error();
    std::vector<std::string> notes;
    for (const Row& row : rows.value()) {
        std::error_code failed;
        const auto folder = paths.checkpointFolder(row.record.folder);
        if (!row.removed || !isPlainName(row.record.folder) || isLink(folder) || !std::filesystem::is_directory(folder, failed))
            continue;
        auto settled = settle(paths, runId, ledger, row);
        if (!settled.ok())
            return settled.error();
        if (!settled.value().empty())
            notes.push_back(std::move(settled).value());
    }
    return notes;
}

} // namespace furrow
