#include "core/run/audit/held_out_again.h"

#include "core/base/path.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/source_identity.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/frozen_config.h"
#include "core/run/folder/held_out_text.h"

#include <algorithm>

namespace furrow {

namespace {

bool liesElsewhere(const DataManifest& manifest)
{
    return std::ranges::any_of(manifest.sources, [](const auto& source) {
        return std::ranges::any_of(source.files, [](const DataFile& one) { return isDistantPath(one.path); });
    });
}

/// As a new run does it. Of data that are other ones now it would be another text.
Result<HeldOut> setAsideAgain(const RunPaths& paths, const RunFile& file, const DataManifest& manifest)
{
    SourceIdentity identity;
    if (file.config.evalData.empty())
        FURROW_TRY(identity.checkAll(manifest));
    FURROW_TRY_ASSIGN(const auto tokenizer, tokenizerOfRun(paths, file));
    FURROW_TRY_ASSIGN(const auto scratch, ScratchFolder::make(std::filesystem::temp_directory_path()));
    const auto path = scratch.path() / paths.evaluationFile().filename();
    FURROW_TRY(writeHeldOut(file, *tokenizer, path));
    return readHeldOut(path);
}

bool isSame(const HeldOut& a, const HeldOut& b)
{
    return a.text.tokens == b.text.tokens && a.text.learnt == b.text.learnt && a.text.offsets == b.text.offsets
        && a.text.fingerprints == b.text.fingerprints && a.textBytes == b.textBytes && a.alsoTrained == b.alsoTrained;
}

} // namespace

bool auditHeldOutAgain(const RunPaths& paths, const RunFile& file, AuditLog& log)
{
    const auto kept = readHeldOut(paths.evaluationFile());
    if (!kept.ok()) // which is said of the file
        return false;
    const auto manifest = readManifest(file.dataManifest);
    if (manifest.ok() && file.config.evalData.empty() && liesElsewhere(manifest.value())) {
        log.notInspected(sentence("the held-out text against the data, which lie elsewhere"));
        return false;
    }
    log.say(sentence("Setting the held-out text aside once more"), 0);
    const auto again = manifest.ok() ? setAsideAgain(paths, file, manifest.value()) : Result<HeldOut>(manifest.error());
    if (!again.ok()) {
        log.notInspected(sentence("the held-out text against the data: %1", { again.error().message }));
        return false;
    }
    if (isSame(kept.value(), again.value()))
        return true;
    if (!file.config.evalData.empty()) {
        log.notInspected(sentence(
            "the held-out text against %1, which gives another one now: nothing says what it was when the run was made",
            { file.config.evalData }));
        return false;
    }
    if (file.furrowVersion != FURROW_VERSION) {
        log.notInspected(sentence(
            "the held-out text against the data: Furrow %1 set it aside, and this one would set another one aside",
            { file.furrowVersion }));
        return false;
    }
    log.wrong(FindingKind::Frozen, {},
        sentence(
            "the held-out text in %1 is not what the data of the run give: it was changed together with its hash in run.json and tracker",
            { utf8Text(paths.evaluationFile().filename()) }));
    return true;
}

} // namespace furrow
