#include "core/run/folder/known_aside.h"

#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/removed_weights.h"

namespace furrow {

namespace {

using Row = SupervisorLedger::CheckpointRow;

bool isOfRow(const std::filesystem::path& manifest, const Row& row)
{
    if (isLink(manifest))
        return false;
    const auto hash = sha256File(manifest);
    return hash.ok() && hash.value() == row.record.manifestSha256;
}

/// Nothing where its own place is taken.
std::vector<KnownAside> asideOf(const RunPaths& paths, const Row& row)
{
    const std::string& name = row.record.folder;
    const auto unknown = paths.unknownCheckpointsFolder();
    if (!isPlainName(name) || isTaken(paths.checkpointFolder(name)))
        return {};
    if (!row.removed && !isLink(unknown / name) && isOfRow(unknown / name / kManifestFile, row))
        return { { row, unknown / name, paths.checkpointFolder(name) } };
    const auto kept = keptManifest(paths, name);
    if (row.removed && !isTaken(kept) && isOfRow(unknown / kept.filename(), row))
        return { { row, unknown / kept.filename(), kept } };
    return {};
}

} // namespace

std::vector<KnownAside> knownAside(const RunPaths& paths, const std::vector<Row>& rows)
{
    std::vector<KnownAside> found;
    if (!isTaken(paths.unknownCheckpointsFolder()) || isLink(paths.unknownCheckpointsFolder()))
        return found;
    for (const Row& row : rows)
        for (auto& one : asideOf(paths, row))
            found.push_back(std::move(one));
    return found;
}

std::string headsAside(const RunPaths& paths, const std::vector<Row>& rows)
{
    std::string names;
    for (const KnownAside& one : knownAside(paths, rows))
        if (one.row.head && !one.row.removed)
            names += (names.empty() ? "" : ", ") + one.row.record.folder;
    return names;
}

Result<Message> takeBackAside(const RunPaths& paths, const std::vector<Row>& rows, FileSystem& files)
{
    std::string names;
    for (const KnownAside& one : knownAside(paths, rows)) {
        FURROW_TRY(files.createFolders(one.belongs.parent_path()));
        FURROW_TRY(files.rename(one.lies, one.belongs));
        if (!one.row.removed)
            names += (names.empty() ? "" : ", ") + one.row.record.folder;
    }
    return names.empty() ? Message()
                         : sentence("Checkpoints that the tracker knows lay in %1 and were moved back: %2.",
                               { utf8Text(paths.unknownCheckpointsFolder()), names });
}

Status verifyWhereItLies(const RunPaths& paths, const std::string& runId, const Row& row, FrozenVerdicts* known)
{
    const auto& sha256 = row.record.manifestSha256;
    const auto place = paths.checkpointFolder(row.record.folder);
    const auto aside = asideOf(paths, row);
    if (aside.empty())
        return verifyTrainable(place, sha256, runId, known);
    FURROW_TRY_ASSIGN(const auto manifest, verifyOwnFiles(aside.front().lies, sha256, runId));
    return verifyFrozen(place, manifest, {}, known); // they lie beside the others
}

} // namespace furrow
