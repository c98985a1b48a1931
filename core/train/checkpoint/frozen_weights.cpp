#include "core/train/checkpoint/frozen_weights_torch.h"

#include "core/base/fail_point.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/train/weights/safetensors_torch.h"

namespace furrow {

namespace {

using Frozen = CheckpointManifest::Frozen;

std::map<std::string, std::string> metadata() { return { { "format", "pt" } }; }

Result<Frozen> hashOf(const NamedTensors& tensors)
{
    Sha256 hash;
    Frozen frozen;
    auto status = writeSafetensors(tensors, metadata(), [&](const void* data, std::size_t bytes) {
        hash.update(data, bytes);
        frozen.sizeBytes += bytes;
        return Status {};
    });
    if (!status.ok())
        return status.error();
    frozen.sha256 = hash.hex();
    return frozen;
}

/// Whether the file is there, whole and durable. Who renamed it had synced its bytes; whether also the folder, only
/// that process knew.
Result<bool> isStored(const RunPaths& paths, const Frozen& frozen, FileSystem& files)
{
    const auto file = frozenFileIn(paths.checkpointsFolder(), frozen.sha256);
    if (!isTaken(file))
        return false;
    const auto verdict = verifyFrozenFile(file, frozen);
    if (!verdict.ok() && verdict.error().code != ErrorCode::Corrupt)
        return verdict.error();
    if (!verdict.ok()) {
        FURROW_TRY_ASSIGN(auto aside, putAside(paths, { file }, files));
        logWarning(verdict.error().message + " " + aside);
        return false;
    }
    auto synced = files.syncFolder(paths.frozenFolder());
    return synced.ok() ? Result<bool>(true) : synced.error();
}

/// Into a folder of its own, as a checkpoint that is being written: what dies here is swept as one.
Status write(const RunPaths& paths, const std::filesystem::path& temporary, const Frozen& frozen,
    const NamedTensors& tensors, FileSystem& files)
{
    FURROW_TRY(files.createFolder(temporary));
    const auto file = temporary / kWeightsFile;
    FURROW_TRY(writeSafetensors(tensors, metadata(), files, file));
    failPoint("frozen.written");
    FURROW_TRY(files.createFolder(paths.frozenFolder()));
    FURROW_TRY(files.syncFolder(paths.checkpointsFolder()));
    if (auto renamed = files.rename(file, frozenFileIn(paths.checkpointsFolder(), frozen.sha256)); !renamed.ok()) {
        auto byAnother = isStored(paths, frozen, files);
        return byAnother.ok() && byAnother.value() ? Status {} : renamed;
    }
    return files.syncFolder(paths.frozenFolder());
}

} // namespace

Result<Frozen> storeFrozen(
    const RunPaths& paths, const std::string& runId, const NamedTensors& tensors, FileSystem& files)
{
    const std::string doing = "keeping the weights that stay as they are";
    auto frozen = hashOf(tensors);
    if (!frozen.ok())
        return frozen.error().in(doing);
    auto stored = isStored(paths, frozen.value(), files);
    if (!stored.ok())
        return stored.error().in(doing);
    if (stored.value())
        return frozen;
    const std::string name = "frozen-" + randomHex(12);
    if (auto noted = noteWriting(paths, runId, name, files); !noted.ok())
        return noted.error().in(doing);
    const auto temporary = paths.checkpointFolder(name + ".tmp");
    const auto written = write(paths, temporary, frozen.value(), tensors, files);
    if (files.removeAll(temporary).ok())
        forgetWriting(paths, name, files);
    if (!written.ok())
        return written.error().in(doing);
    failPoint("frozen.stored");
    return frozen;
}

} // namespace furrow
