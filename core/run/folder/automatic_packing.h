#pragma once

#include "core/run/folder/run_file.h"

namespace furrow {

/// What `packing` is in a run that left it to Furrow. run.json keeps that and not "auto", so that a later version
/// trains the same.
Packing automaticPacking(const RunFile& file);
/// The preset as it would be in this run: who left the packing to Furrow has not changed it.
RunConfig presetInRun(RunConfig preset, const RunFile& file);
/// The settings of the run for another one: what Furrow would choose anyway is left to it.
RunConfig configForAnother(const RunFile& file);

} // namespace furrow
