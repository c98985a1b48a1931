#include "core/run/audit/held_out_repair.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/folder/held_out_text.h"

namespace furrow {

namespace {

/// @param target  where it lies then
/// @return why it is not the text of the run; "": it is
Result<Message> makeAgain(const RunPaths& paths, const RunFile& file, const std::filesystem::path& target)
{
    const auto tokenizer = tokenizerOfRun(paths, file);
    if (!tokenizer.ok())
        return tokenizer.error().message;
    if (const auto made = writeHeldOut(file, *tokenizer.value(), target); !made.ok())
        return made.error().message;
    FURROW_TRY_ASSIGN(const auto hash, sha256File(target));
    return hash == file.heldOutHash
        ? Message()
        : sentence("what the data gives now is another text (its SHA-256 differs): it has changed");
}

/// @return where the file went that lay there; empty: there was none
Result<std::filesystem::path> putInPlace(const RunPaths& paths, const std::filesystem::path& fresh)
{
    auto& files = realFileSystem();
    std::filesystem::path aside;
    if (isTaken(paths.evaluationFile())) {
        aside = paths.evaluationFile();
        aside += ".damaged-" + randomHex(8);
        FURROW_TRY(files.rename(paths.evaluationFile(), aside));
    }
    FURROW_TRY(files.rename(fresh, paths.evaluationFile()));
    FURROW_TRY(files.syncFolder(paths.folder()));
    return aside;
}

} // namespace

Result<HeldOutRepair> repairHeldOut(
    const RunPaths& paths, const RunFile& file, const std::function<void(const std::string&)>& say)
{
    const auto now = checkHeldOut(paths, file);
    if (now.ok() || (now.error().code != ErrorCode::NotFound && now.error().code != ErrorCode::Corrupt))
        return HeldOutRepair {};
    HeldOutRepair repair;
    repair.was = now.error().message;
    say("Making the held-out text again");
    const auto place = utf8Text(paths.evaluationFile());
    FURROW_TRY_ASSIGN(const auto workshop, ScratchFolder::make(paths.folder()));
    const auto fresh = workshop.path() / paths.evaluationFile().filename();
    FURROW_TRY_ASSIGN(const auto problem, makeAgain(paths, file, fresh));
    if (!problem.empty()) {
        repair.problem = sentence(
            "%1 is gone or damaged, and cannot be made again: %2. Bring the data back as it was and repair then; or put the file back from a copy of the run: one of the same data and settings has it.",
            { place, problem });
        return repair;
    }
    FURROW_TRY_ASSIGN(const auto aside, putInPlace(paths, fresh));
    repair.note = aside.empty()
        ? sentence("%1 was gone and was made again from the data: its SHA-256 is that of the beginning.", { place })
        : sentence(
              "%1 was damaged and was made again from the data: its SHA-256 is that of the beginning. The damaged file is kept as %2.",
              { place, utf8Text(aside.filename()) });
    return repair;
}

} // namespace furrow
