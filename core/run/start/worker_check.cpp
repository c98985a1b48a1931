#include "core/run/start/worker_check.h"

#include "core/base/path.h"
#include "core/base/process_answer.h"
#include "core/base/sentence.h"
#include "core/libtorch/torch_place.h"

#include <atomic>

namespace furrow {

namespace {

constexpr auto kLongest = std::chrono::seconds(60); // a cold disk reads libtorch for a while

} // namespace

Result<std::filesystem::path> workerProgram()
{
    auto worker = executablePath().parent_path() / "furrow-worker";
    worker += executablePath().extension();
    std::error_code unknown;
    if (!std::filesystem::exists(worker, unknown))
        return Error { ErrorCode::NotFound,
            sentence(
                "Training is not possible here: %1 is missing. Install Furrow whole, or build it with libtorch (packaging/run.sh).",
                { utf8Text(worker) }) };
    FURROW_TRY(torchInUse());
    return worker;
}

Result<std::string> workerVersion()
{
    FURROW_TRY_ASSIGN(const auto worker, workerProgram());
    FURROW_TRY_ASSIGN(const auto torch, torchInUse());
    ProcessOptions options;
    options.arguments = { "--version" };
    FURROW_TRY_ASSIGN(const auto answer, askProcess(worker, options, kLongest));
    if (answer.isGood())
        return answer.lastLine();
    if (const auto why = answer.unanswered(); !why.empty())
        return Error { ErrorCode::Busy,
            sentence(
                "Whether furrow-worker starts with the libtorch in %1 could not be found out: %2. Try again; if it is so each time, `furrowctl torch install` brings another one.",
                { utf8Text(torch.folder), why }) };
    return Error { ErrorCode::NotFound,
        sentence(
            "Training is not possible here: furrow-worker does not start with the libtorch in %1 (%2). `furrowctl torch install` brings one that fits; of a build run packaging/run.sh again.",
            { utf8Text(torch.folder), answer.reason() }) };
}

Status requireWorker()
{
    static std::atomic<bool> isGood = false;
    if (isGood)
        return {};
    FURROW_TRY(workerVersion());
    isGood = true;
    return {};
}

} // namespace furrow
