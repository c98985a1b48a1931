#pragma once

#include "core/base/message.h"
#include "core/config/run_config.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/named_chunks.h"

#include <filesystem>
#include <string>
#include <vector>

namespace furrow {

// Why an attempt ends that trained as long as it could, for people.

/// All is trained but what cannot be read, and what a person can do.
/// @param planningEnded  why no more blocks become known; "": all are
Message whatCannotBeRead(const std::vector<NamedChunk>& chunks, const std::string& planningEnded, BadFiles badFiles);

/// The end of an epoch before all the epochs of the configuration is what a person asked for.
StopReason asWished(StopReason reached, const RunConfig& config, const StoppingRules& inForce);

/// What a person asked for while the run trained, when that ends it before its own settings do, and what is left then;
/// "": its own settings end it.
/// @param own  by the settings, when the attempt began
Message stopAskedFor(
    StopReason reached, const StoppingRules& own, const StoppingRules& inForce, const std::vector<EpochRow>& epochs);

/// What never became part of the weights of a run that has met its rules, in a sentence, when it is worth a word (a
/// hundredth of the windows); else "".
Message whatWasLeftOut(const std::filesystem::path& tracker);

} // namespace furrow
