#pragma once

#include "core/base/process.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

namespace furrow {

/// Named places where a process can be made to die as if by kill -9, in every build:
/// FURROW_FAIL_AT=checkpoint.renamed, or checkpoint.renamed:3 for the third time it is reached.
inline constexpr std::array<std::string_view, 19> kFailPoints {
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

/// Dies here when the environment says so; costs one comparison otherwise. Call on any thread.
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
    killProcessTree(thisProcess());
    std::_Exit(137);
}

} // namespace furrow
