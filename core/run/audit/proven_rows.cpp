#include "core/run/audit/proven_rows.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/removed_weights.h"
#include "core/tracker/ledger_reader.h"

#include <algorithm>
#include <set>

namespace furrow {

namespace {

using Row = SupervisorLedger::CheckpointRow;

/// What its files and its manifest take; a row that was rebuilt counts the files alone.
std::optional<std::uint64_t> sizeOf(
    const Row& row, const CheckpointManifest& manifest, const std::filesystem::path& manifestFile)
{
    std::uint64_t bytes = 0;
    for (const auto& one : manifest.files)
        bytes += one.sizeBytes;
    if (row.rebuilt)
        return bytes;
    std::error_code unknown;
    const auto own = std::filesystem::file_size(manifestFile, unknown);
    return unknown ? std::nullopt : std::optional(bytes + own);
}

/// The first thing in which they differ, or "".
std::string differsIn(const Row& row, const CheckpointManifest& manifest, const std::filesystem::path& file,
    const std::string& runId, const FoldersById& folders)
{
    if (manifest.runId != runId)
        return "run";
    if (manifest.kind != row.record.kind)
        return "kind";
    if (manifest.kind == CheckpointKind::Replica && manifest.replica != row.record.replica)
        return "replica";
    if (manifest.step != row.record.step)
        return "step";
    if (manifest.tokens != row.record.tokens)
        return "number of tokens";
    if (const auto bytes = sizeOf(row, manifest, file); bytes && *bytes != row.record.sizeBytes)
        return "size";
    if (manifest.saysWho && !row.rebuilt && manifest.incarnation != row.incarnation.value)
        return "worker process";
    if (manifest.saysWho && manifest.evalLoss != row.record.evalLoss && (!row.rebuilt || row.record.evalLoss))
        return "loss on held-out text";
    std::set<std::string> parents;
    for (const CheckpointId parent : row.record.parents)
        parents.insert(folders.contains(parent.value) ? folders.at(parent.value) : std::string());
    if (manifest.namesParents && parents != std::set(manifest.parents.begin(), manifest.parents.end()))
        return "parent";
    return {};
}

} // namespace

FoldersById foldersOf(const std::vector<Row>& rows)
{
    FoldersById folders;
    for (const Row& row : rows)
        folders[row.id.value] = row.record.folder;
    return folders;
}

KeptManifest readKeptManifest(const RunPaths& paths, const std::string& folder)
{
    std::string sha256;
    auto file = paths.checkpointFolder(folder) / kManifestFile;
    auto content = readManifestFile(file, sha256);
    if (!isTaken(file)) {
        file = keptManifest(paths, folder);
        content = readManifestFile(file, sha256);
    }
    return { std::move(content), std::move(sha256), std::move(file) };
}

Message rowDifference(const Row& row, const CheckpointManifest& manifest, const std::filesystem::path& file,
    const std::string& runId, const FoldersById& folders)
{
    const std::string field = differsIn(row, manifest, file, runId, folders);
    return field.empty()
        ? Message()
        : sentence("checkpoint %1 has another %2 in its manifest than in the tracker: one of them was changed by hand",
              { row.record.folder, field });
}

Message otherManifestInWords(const std::string& folder)
{
    return sentence(
        "the manifest of checkpoint %1 is not the one that the tracker recorded (its SHA-256 differs): the file was changed, or belongs to another checkpoint",
        { folder });
}

namespace {

/// What the manifest of a checkpoint names of one that it was made from.
struct Edge {
    const Row* parent;
    const Row* child;
    std::string sha256; ///< of the manifest of the parent, as it was then

    bool agrees() const { return sha256 == parent->record.manifestSha256; }
};

struct ReadManifests {
    std::vector<Edge> edges; ///< of manifests that are those that the rows recorded
    std::optional<OtherManifest> other; ///< ManifestFaults::other
};

ReadManifests readManifests(const RunPaths& paths, const std::vector<Row>& rows)
{
    std::map<std::string, const Row*> byFolder;
    for (const Row& row : rows)
        byFolder[row.record.folder] = &row;
    std::set<const Row*> others;
    ReadManifests read;
    for (const Row& row : rows) {
        if (!isPlainName(row.record.folder))
            continue;
        const auto manifest = readKeptManifest(paths, row.record.folder);
        const auto isOther
            = [&row](const std::string& sha256) { return !sha256.empty() && sha256 != row.record.manifestSha256; };
        if (row.surviving && !row.head && !read.other
            && isOther(manifest.sha256.empty() ? manifestSha256(paths, row.record.folder) : manifest.sha256))
            read.other = OtherManifest { row.id, otherManifestInWords(row.record.folder) };
        if (isOther(manifest.sha256))
            others.insert(&row);
        else if (manifest.content.ok())
            for (std::size_t i = 0; i < manifest.content.value().parentManifests.size(); ++i)
                if (const auto parent = byFolder.find(manifest.content.value().parents[i]); parent != byFolder.end())
                    read.edges.push_back({ parent->second, &row, manifest.content.value().parentManifests[i] });
    }
    std::erase_if(read.edges, [&others](const Edge& one) { return others.contains(one.parent); });
    return read;
}

/// Who else speaks for one of the two tells which was changed.
Message brokenEdgeInWords(const Edge& broken, const std::vector<Edge>& edges)
{
    const std::string& parent = broken.parent->record.folder;
    const std::string& child = broken.child->record.folder;
    const auto grandchild = std::ranges::find_if(
        edges, [&broken](const Edge& one) { return one.parent == broken.child && one.agrees(); });
    if (grandchild != edges.end())
        return sentence(
            "the manifest of checkpoint %1 is not the one that its child %2 was made from: %3 was changed together with its row in the tracker, for checkpoint %4 was made from the child as it is",
            { parent, child, parent, grandchild->child->record.folder });
    const auto sibling = std::ranges::find_if(
        edges, [&broken](const Edge& one) { return one.parent == broken.parent && one.agrees(); });
    if (sibling != edges.end())
        return sentence(
            "the manifest of checkpoint %1 is not the one that its child %2 was made from: %3 was changed together with its row in the tracker, for checkpoint %4 was made from the parent as it is",
            { parent, child, child, sibling->child->record.folder });
    return sentence(
        "the manifest of checkpoint %1 is not the one that its child %2 was made from: one of the two was changed together with its row in the tracker, and nothing tells which",
        { parent, child });
}

} // namespace

ManifestFaults manifestFaults(const RunPaths& paths, const std::vector<Row>& rows)
{
    auto read = readManifests(paths, rows);
    ManifestFaults faults { std::move(read.other), {} };
    for (const Edge& one : read.edges)
        if (one.parent->surviving && !one.agrees())
            faults.otherThanChildrenSay.push_back({ one.parent->id, brokenEdgeInWords(one, read.edges) });
    return faults;
}

namespace {

struct Published {
    std::vector<Row> rows;
    Message missing; ///< why there are none
};

Published readPublished(const RunPaths& paths, const std::string& runId)
{
    const auto name = utf8Text(paths.trackerSnapshot().filename());
    if (!isTaken(paths.trackerSnapshot()))
        return { {}, sentence("%1 is not there", { name }) };
    auto snapshot = LedgerReader::open(paths.trackerSnapshot());
    if (snapshot.ok() && !foreignLedger(snapshot.value(), runId).empty())
        return { {}, sentence("%1 is of another run", { name }) };
    auto rows = snapshot.ok() ? snapshot.value().checkpoints() : Result<std::vector<Row>>(snapshot.error());
    if (!rows.ok())
        return { {}, sentence("%1 cannot be read (%2)", { name, rows.error().message }) };
    return { std::move(rows).value(), {} };
}

/// Null: it is not in it, or the tracker was made anew, or put back, meanwhile.
const Row* publishedRow(const Published& published, const Row& row)
{
    const auto found = std::ranges::lower_bound(published.rows, row.id, {}, &Row::id);
    const bool isSame = found != published.rows.end() && found->id == row.id
        && found->record.folder == row.record.folder && found->wallNs == row.wallNs;
    return isSame ? &*found : nullptr;
}

std::optional<OtherManifest> otherThanPublished(
    const RunPaths& paths, const Published& published, const std::vector<Row>& rows)
{
    for (const Row& row : rows) {
        const Row* before = row.surviving ? publishedRow(published, row) : nullptr;
        if (before && before->record.manifestSha256 != row.record.manifestSha256)
            return OtherManifest { row.id,
                sentence(
                    "checkpoint %1 has another manifest by the tracker than by its last snapshot (%2): one of the two was changed by hand, or the manifest together with the tracker",
                    { row.record.folder, utf8Text(paths.trackerSnapshot().filename()) }) };
    }
    return std::nullopt;
}

Message notAmongPublished(const RunPaths& paths, const Published& published, const std::vector<Row>& rows)
{
    const auto alone = std::ranges::count_if(
        rows, [&published](const Row& row) { return row.head && !row.removed && !publishedRow(published, row); });
    if (alone == 0)
        return {};
    return sentence(
        "the manifests of newest checkpoints (%1) against the last snapshot of the tracker, which alone speaks of them too: %2",
        { Count(alone),
            published.missing.empty() ? sentence("%1 is older than they are, or than the tracker that was made anew",
                                            { utf8Text(paths.trackerSnapshot().filename()) })
                                      : published.missing });
}

} // namespace

PublishedWitness askPublished(const RunPaths& paths, const std::string& runId, const std::vector<Row>& rows)
{
    const auto published = readPublished(paths, runId);
    return { otherThanPublished(paths, published, rows), notAmongPublished(paths, published, rows) };
}

} // namespace furrow
