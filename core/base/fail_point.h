#pragma once

#include "core/base/process.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace furrow {

/// Named places where a process can be made to die as if by kill -9, in every build:
/// FURROW_FAIL_AT=checkpoint.renamed, or checkpoint.renamed:3 for the third time it is reached.
inline constexpr std::array<std::string_view, 28> kFailPoints {
    "supervisor.began", // the attempt is recorded, nothing is in order yet
    "supervisor.recovered", // leftovers in order, no worker started
    "supervisor.revoked", // a dead worker's chunks are free, it is not started again
    "supervisor.removing", // a checkpoint's row says removed, its files are there
    "supervisor.merging", // the merge at the end, or of another number of workers, has started
    "supervisor.ending", // no worker is left, the end is not recorded
    "feeder.planned", // blocks are known to the feeder, not to the ledger
    "feeder.prepared", // a block's file is there, not in the ledger
    "feeder.recorded",
    "worker.started", // registered, nothing claimed
    "claim.begun",
    "step.done", // an optimiser step inside a chunk
    "chunk.trained", // told to the ledger, not in a checkpoint
    "checkpoint.frozen", // copied, nothing on disk
    "checkpoint.weights", // weights file written
    "checkpoint.optimizer",
    "checkpoint.manifest", // all files written, not synced
    "checkpoint.synced",
    "checkpoint.renamed", // final name, parent folder not synced
    "checkpoint.published", // durable, not in the ledger
    "checkpoint.committed",
    "merge.contributed",
    "merge.taken",
    "merge.averaged",
    "merge.published", // merged files durable, not in the ledger
    "merge.committed",
    "merge.loaded",
    "worker.ending", // last checkpoint committed, incarnation still open
};

/// More of them, where only a run with frozen weights (LoRA) comes by; a storm trains the counting model, which has
/// none.
inline constexpr std::array<std::string_view, 2> kFrozenFailPoints {
    "frozen.written", // not under its name
    "frozen.stored", // durable, and no checkpoint names it
};

/// Dies here when the environment says so; costs one comparison otherwise. With FURROW_FAIL_ONCE=file only the process
/// dies that makes this file. Call on any thread.
inline void failPoint(std::string_view name)
{
    struct Armed {
        std::string_view name;
        long hit = 1;
    };
    static const Armed armed = [] {
        const char* text = std::getenv("FURROW_FAIL_AT");
        Armed found { text ? std::string_view(text) : std::string_view() };
        if (const auto colon = found.name.find(':'); colon != std::string_view::npos) {
            found.hit = std::strtol(text + colon + 1, nullptr, 10);
            found.name = found.name.substr(0, colon);
        }
        return found;
    }();
    if (armed.name.empty() || armed.name != name) [[likely]]
        return;
    static std::atomic<long> hits = 0;
    if (++hits < armed.hit)
        return;
    if (const char* once = std::getenv("FURROW_FAIL_ONCE")) {
        std::FILE* made = std::fopen(once, "wx"); // fails when it exists
        if (!made)
            return;
        std::fclose(made);
    }
    killProcess(thisProcess());
    std::_Exit(137);
}

} // namespace furrow
