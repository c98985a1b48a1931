// bench-checkpoint: what a checkpoint costs over writing the same bytes without hashes, manifest and rename.

#include "core/train/tasks/tasks_torch.h"

#include "core/base/path.h"
#include "core/base/quantile.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"
#include "core/base/stopwatch.h"
#include "core/config/schema.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/train/weights/safetensors_torch.h"

#include <torch/torch.h>

#include <algorithm>

namespace furrow {

namespace {

constexpr int kRounds = 7;
constexpr std::int64_t kTensor = 2 << 20; ///< numbers in one tensor

/// Weights and AdamW's two moments of so many numbers, in pieces as models have them. Random: a disk may compress.
FrozenCheckpoint frozenOf(std::int64_t parameters)
{
    FrozenCheckpoint frozen;
    const auto add = [](NamedTensors& to, const std::string& name, std::int64_t numbers) {
        for (std::int64_t begin = 0; begin < numbers; begin += kTensor)
            to.emplace_back(name + std::to_string(begin), torch::randn({ std::min(kTensor, numbers - begin) }));
    };
    add(frozen.weights, "weight.", parameters);
    add(frozen.optimizer, "first.", parameters);
    add(frozen.optimizer, "second.", parameters);
    return frozen;
}

/// The same tensors into two synced files.
Status writeBare(const std::filesystem::path& folder, const FrozenCheckpoint& frozen)
{
    FURROW_TRY(realFileSystem().createFolders(folder));
    for (const auto& [name, tensors] :
        { std::pair("weights", &frozen.weights), std::pair("optimizer", &frozen.optimizer) })
        FURROW_TRY(writeSafetensors(*tensors, {}, realFileSystem(), folder / name));
    return realFileSystem().syncFolder(folder);
}

} // namespace

Result<nlohmann::json> benchCheckpointTask(const TaskOptions& options, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(const auto preset, findPreset(options.preset));
    FURROW_TRY_ASSIGN(const auto scratch, ScratchFolder::make(pathFromUtf8(options.out)));
    const RunPaths paths(scratch.path());
    FURROW_TRY(prepareNotes(paths));
    const auto frozen = frozenOf(modelConfigOf(preset.config, usualVocabulary(preset.config)).parameterCount());
    std::vector<double> bare, checkpoint, ratio;
    std::uint64_t bytes = 0;
    const auto timed = [](const auto& act, std::vector<double>& seconds) -> Status {
        const Stopwatch clock;
        auto status = act();
        seconds.push_back(clock.seconds());
        return status;
    };
    for (int round = 0; round < kRounds; ++round) {
        const auto bareFolder = scratch / "bare";
        std::string made;
        const auto writeCheckpoint = [&]() -> Status {
            FURROW_TRY_ASSIGN(auto record, publishCheckpoint(paths, "bench", frozen));
            made = record.folder;
            bytes = record.sizeBytes;
            return {};
        };
        // In turns, each first every second time: what the disk still has to do for the one before counts for both
        // alike.
        for (const bool isBare : { round % 2 == 0, round % 2 != 0 })
            FURROW_TRY(isBare ? timed([&] { return writeBare(bareFolder, frozen); }, bare)
                              : timed(writeCheckpoint, checkpoint));
        for (const auto& folder : { bareFolder, paths.checkpointFolder(made) })
            FURROW_TRY(realFileSystem().removeAll(folder));
        forgetWriting(paths, made);
        ratio.push_back(checkpoint.back() / bare.back());
        if (stopRequested())
            return Error { ErrorCode::Cancelled, sentence("the benchmark was stopped") };
    }
    return nlohmann::json { { "preset", options.preset }, { "bytes", bytes }, { "rounds", kRounds },
        { "bare_s_median", quantile(bare, 0.5) }, { "checkpoint_s_median", quantile(checkpoint, 0.5) },
        { "overhead_median", quantile(ratio, 0.5) - 1 } };
}

} // namespace furrow
