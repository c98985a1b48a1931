#pragma once

#include "core/run/status/brain.h"
#include "core/run/folder/run_file.h"
#include "core/tracker/inherited_list.h"
#include "core/tracker/supervisor_ledger.h"

#include <optional>

namespace furrow {

/// Of what a new tracker is made with, that by which chunks are given out and their tokens counted.
TrackerConfig orderConfig(const RunConfig& config);
/// The list of parent.json as a tracker keeps it.
InheritedList inheritedListOf(const ParentFile& parent);
/// What a new tracker of this run is made with.
TrackerConfig trackerConfig(const RunFile& file, const std::optional<ParentFile>& parent);
/// The stopping rules that a configuration means.
StoppingRules stoppingRules(const RunConfig& config);

} // namespace furrow
