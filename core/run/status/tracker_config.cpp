#include "core/run/status/tracker_config.h"

#include "core/run/folder/frozen_config.h"

namespace furrow {

TrackerConfig orderConfig(const RunConfig& config)
{
    TrackerConfig tracker;
    tracker.seed = static_cast<std::uint64_t>(config.seed);
    tracker.shuffleWindowBlocks = config.shuffleWindowBlocks;
    tracker.linearOrder = !config.shuffle;
    tracker.startAt = config.startAt;
    tracker.windowTokens
        = config.packing == Packing::EndToEnd ? config.seqLen : 0; // with best fit each has another number
    return tracker;
}

namespace {

Inherited markOf(const ParentFile& parent) { return parent.skipped ? Inherited::Skipped : Inherited::Seen; }

} // namespace

InheritedList inheritedListOf(const ParentFile& parent)
{
    InheritedList list;
    for (const auto& [block, columns] : parent.chunks)
        list[block] = { columns, markOf(parent) };
    return list;
}

StoppingRules stoppingRules(const RunConfig& config)
{
    StoppingRules rules;
    rules.steps = config.steps;
    rules.tokens = config.tokens;
    rules.hours = config.hours;
    rules.epochs = config.iterate ? 0 : config.epochs;
    rules.blocks = config.stopAfterBlocks;
    rules.afterThisEpoch = config.stopAfterEpoch;
    return rules;
}

TrackerConfig trackerConfig(const RunFile& file, const std::optional<ParentFile>& parent)
{
    TrackerConfig tracker = orderConfig(file.config);
    tracker.runId = file.runId;
    tracker.frozen = frozenText(file);
    if (parent) {
        tracker.inheritedColumns = parent->chunks;
        tracker.inherited = markOf(*parent);
    }
    return tracker;
}

} // namespace furrow
