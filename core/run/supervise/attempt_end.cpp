#include "core/run/supervise/attempt_end.h"

#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/run/start/wrong_transfers.h"
#include "core/run/status/open_epochs.h"
#include "core/run/supervise/other_content.h"
#include "core/tracker/training_notes.h"

#include <algorithm>

namespace furrow {

namespace {

/// What a person can do for chunks that cannot be read; "": their causes say it.
Message waysOut(const std::vector<NamedChunk>& chunks)
{
    const auto all = [&chunks](bool (*is)(const Message&)) {
        return std::all_of(chunks.begin(), chunks.end(), [is](const NamedChunk& chunk) { return is(chunk.cause); });
    };
    if (all(isOfFirstReading))
        return {};
    if (all(isOfTransfers))
        return sentence("Resuming asks for it again.");
    return sentence(
        "Put the source back as it was when the run was made, to the byte, then 'furrowctl chunks retry' and resume; or go on without these rows by 'furrowctl chunks accept' and resume. Mended data is other data and needs a new run.");
}

} // namespace

Message whatCannotBeRead(const std::vector<NamedChunk>& chunks, const std::string& planningEnded, BadFiles badFiles)
{
    const Message what = planningEnded.empty() ? Message()
        : badFiles == BadFiles::LeaveOut // what is left then came wrong each time: it says nothing of the data
        ? sentence("a part of the data cannot be read (%1). Resuming tries it again.", { planningEnded })
        : sentence(
              "a part of the data cannot be read (%1). Resuming tries it again; with %2 it goes on without it. Mended data is other data and needs a new run.",
              { planningEnded, optionTerm("bad_files", "leave_out") });
    if (chunks.empty())
        return what;
    const Message retry = waysOut(chunks);
    const Message& cause = chunks.front().cause;
    const Message count = chunks.size() == 1
        ? sentence("1 chunk cannot be read (%1).", { cause })
        : sentence("%1 chunks cannot be read (the first: %2).", { Count(std::ssize(chunks)), cause });
    return count + (retry.empty() ? "" : " ") + retry + (what.empty() ? "" : " ") + what;
}

StopReason asWished(StopReason reached, const RunConfig& config, const StoppingRules& inForce)
{
    const bool isEarly = config.iterate || inForce.epochs < config.epochs;
    return reached == StopReason::Epochs && isEarly ? StopReason::EpochEnd : reached;
}

Message stopAskedFor(
    StopReason reached, const StoppingRules& own, const StoppingRules& inForce, const std::vector<EpochRow>& epochs)
{
    const bool ofBlock = reached == StopReason::BlockEnd && inForce.blocks != own.blocks;
    const bool ofEpoch
        = (reached == StopReason::Epochs || reached == StopReason::EpochEnd) && inForce.epochs != own.epochs;
    if (ofEpoch)
        return own.epochs == 0
            ? sentence("after epoch %1", { std::to_string(inForce.epochs) })
            : sentence("after epoch %1 of %2", { std::to_string(inForce.epochs), std::to_string(own.epochs) });
    std::int64_t left = 0;
    bool isMoreToCome = false; // blocks that nobody has looked at
    for (const EpochRow& epoch : openEpochs(epochs)) {
        isMoreToCome = isMoreToCome || (!epoch.closedWallNs && !epoch.blockCount);
        for (const ChunkState state :
            { ChunkState::Pending, ChunkState::Free, ChunkState::Leased, ChunkState::Trained, ChunkState::Poisoned })
            left += epoch.chunks[state];
    }
    if (!ofBlock || (left == 0 && !isMoreToCome))
        return Message();
    if (left == 1)
        return isMoreToCome ? sentence("after a block; 1 known chunk of the epoch is left, and what was not read yet")
                            : sentence("after a block; 1 chunk of the epoch is left");
    return isMoreToCome
        ? sentence("after a block; %1 known chunks of the epoch are left, and what was not read yet", { Count(left) })
        : sentence("after a block; %1 chunks of the epoch are left", { Count(left) });
}

Message whatWasLeftOut(const std::filesystem::path& tracker)
{
    constexpr double kWorthAWord = 0.01;
    const auto windows = skippedWindows(tracker);
    if (!windows.ok() || windows.value().share() < kWorthAWord)
        return {};
    const std::vector<Argument> facts { Count(windows.value().skipped), Count(windows.value().all) };
    return windows.value().share() > 0.5
        ? sentence(
              "most of the text is not in the weights: %1 of %2 windows were left out, because their steps were not finite. Look at the text and the learning rate before you use them.",
              facts)
        : sentence("%1 of %2 windows were left out, because their steps were not finite", facts);
}

} // namespace furrow
