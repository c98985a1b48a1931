#pragma once

#include "core/base/message.h"
#include "core/base/result.h"
#include "core/run/folder/run_file.h"

#include <functional>
#include <string>

namespace furrow {

/// What became of a held-out text that was gone or another one; nothing where it was neither.
struct HeldOutRepair {
    Message note; ///< it was made again
    Message problem; ///< why it could not be
    Message was; ///< checkHeldOut() before that
};
/// Makes heldout.bin again where it is gone or its hash differs: which samples are held out depends on data and
/// settings alone, and run.json keeps the hash. What comes out takes its place only with that hash; a file that lies
/// there gets a name of its own beside it.
Result<HeldOutRepair> repairHeldOut(
    const RunPaths& paths, const RunFile& file, const std::function<void(const std::string&)>& say);

} // namespace furrow
