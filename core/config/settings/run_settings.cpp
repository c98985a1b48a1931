#include "core/config/settings/setting_table.h"

namespace furrow {

using C = RunConfig;
using enum ResumeRule;

void addRunSettings(SettingTable& table)
{
    table.group(SettingGroup::Run);

    table.text("name", &C::name)
        .label("Name")
        .resume(Refused)
        .basic()
        .help("What the run is called in the library and in its folder name. Empty: made from preset and data.");
}

void addDeviceSettings(SettingTable& table)
{
    table.group(SettingGroup::Devices);

    table.text("devices", &C::devices)
        .label("Devices")
        .resume(Safe)
        .basic()
        .help("auto (all GPUs, else the CPU), a list of GPU numbers or UUIDs, or cpu:2 for two workers on the CPU.");

    table.integer("workers", &C::workers)
        .label("Workers")
        .range(0, 256)
        .zeroMeans("one per device, two on a CPU")
        .resume(Safe)
        .basic()
        .help("Number of workers. Where they are never merged, 0 makes one on a CPU.");

    table.integer("threads", &C::threads)
        .label("Threads per worker")
        .range(0, 1024)
        .zeroMeans("cores divided by workers")
        .resume(Safe)
        .help("CPU threads of one worker.");

    table.choice("parallel", &C::parallel)
        .label("Workers train")
        .resume(Unsafe)
        .help(
            "independent: each worker trains its own chunks and its own copy of the model, merged from time to time. data: all workers train one model; each step is split over them, as if one worker had a batch so many times as large.");

    table.integer("rank_timeout", &C::rankTimeout)
        .label("Missing worker")
        .unit("seconds")
        .range(1, 86400)
        .resume(Safe)
        .help(
            "With parallel data: how long the workers wait for one that does not take part in a step. Then all of them end, name it, and start again together from the last checkpoint.");

    table.integer("max_restarts", &C::maxRestarts)
        .label("Restarts, at most")
        .range(0, 1000)
        .resume(Safe)
        .help("How often a worker that died is started again in one attempt.");
}

void addStopSettings(SettingTable& table)
{
    table.group(SettingGroup::StopAndSave);

    table.integer("epochs", &C::epochs)
        .label("Epochs")
        .unit("epochs")
        .range(1, 100000)
        .resume(Safe)
        .basic()
        .help("Passes over the data. The first stopping rule that is reached ends the run.");

    table.integer("steps", &C::steps)
        .label("Steps")
        .unit("steps")
        .atLeast(0)
        .zeroMeans("no limit")
        .resume(Safe)
        .basic()
        .help("Stop after this many optimiser steps, summed over the workers.");

    table.integer("tokens", &C::tokens)
        .label("Tokens")
        .unit("tokens")
        .atLeast(0)
        .zeroMeans("no limit")
        .resume(Safe)
        .help("Stop with the step that reaches this many trained tokens.");

    table.real("hours", &C::hours)
        .label("Hours")
        .unit("hours")
        .range(0, 100000)
        .zeroMeans("no limit")
        .resume(Safe)
        .help("Stop after this much active time. Pauses, and waits for data that cannot be reached, are not in it.");

    table.flag("stop_after_epoch", &C::stopAfterEpoch)
        .label("Stop after epoch")
        .resume(Safe)
        .help("End with the epoch that is being trained when the run starts or is resumed, also with iterate.");

    table.integer("stop_after_blocks", &C::stopAfterBlocks)
        .label("Stop after blocks")
        .unit("blocks")
        .atLeast(0)
        .zeroMeans("no limit")
        .resume(Safe)
        .help(
            "End when this many blocks are trained. Blocks are shuffled within a window (shuffle_window_blocks), so that chunks of others are trained by then too. A block of which this run trains nothing does not count: all of it is left out, was trained by the parent run, or has nothing to train.");

    table.flag("iterate", &C::iterate)
        .label("Iterate")
        .resume(Safe)
        .help("Begin another epoch whenever one ends, until another rule stops the run.");

    table.real("checkpoint_minutes", &C::checkpointMinutes)
        .label("Checkpoint every")
        .unit("minutes")
        .range(0.01, 10000)
        .resume(Safe)
        .basic()
        .help("Work that a crash can cost. 'minutes' of training between two checkpoints of a worker.");

    table.integer("checkpoint_steps", &C::checkpointSteps)
        .label("Checkpoint every")
        .unit("steps")
        .atLeast(0)
        .zeroMeans("by time only")
        .resume(Safe)
        .help(
            "Also save after this many own steps of a worker; at the end of its chunk where that is at most five seconds away.");

    table.integer("keep_last", &C::keepLast)
        .label("Keep")
        .unit("checkpoints")
        .range(2, 10000)
        .resume(Safe)
        .help("Newest checkpoints kept for each replica; the best one and pinned ones stay as well.");
}

} // namespace furrow
