#include "core/run/worker_check.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/scratch_folder.h"
#include "core/base/sentence.h"

#include <atomic>

namespace furrow {

namespace {

constexpr auto kLongest = std::chrono::seconds(60); // a cold disk reads libtorch for a while
constexpr std::uint64_t kMostOutput = 1 << 20;

std::filesystem::path workerProgram()
{
    auto worker = executablePath().parent_path() / "furrow-worker";
    worker += executablePath().extension();
    return worker;
}

/// Where the worker of an installed package looks for libtorch.
std::string torchLink()
{
    return utf8Text((executablePath().parent_path() / ".." / "lib" / "furrow" / "torch").lexically_normal());
}

/// The last line: the loader names the library that it does not find.
std::string lastLine(std::string text)
{
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.pop_back();
    return text.substr(text.find_last_of('\n') + 1);
}

} // namespace

Result<std::string> workerVersion()
{
    const auto worker = workerProgram();
    std::error_code unknown;
    if (!std::filesystem::exists(worker, unknown))
        return Error { ErrorCode::NotFound,
            sentence(
                "Training is not possible here: %1 is missing. Install Furrow whole, or build it with libtorch (packaging/run.sh).",
                { utf8Text(worker) }) };
    FURROW_TRY_ASSIGN(auto folder, ScratchFolder::make(std::filesystem::temp_directory_path(unknown)));
    ProcessOptions options;
    options.arguments = { "--version" };
    options.outputFile = folder.path() / "version";
    FURROW_TRY_ASSIGN(auto child, ChildProcess::start(worker, options));
    const auto exit = child.wait(kLongest);
    const auto said = readFile(options.outputFile, kMostOutput);
    const std::string text = said.ok() ? lastLine(said.value()) : std::string();
    if (exit && exit->signal == 0 && exit->exitCode == 0)
        return text;
    return Error { ErrorCode::NotFound,
        sentence(
            "Training is not possible here: furrow-worker does not start (%1). Link the folder of libtorch 2.6 or later (or site-packages/torch) to %2; of a build run packaging/run.sh again. `furrowctl doctor` checks it.",
            { !text.empty() ? text
                    : exit  ? exit->describe()
                            : sentence("no answer in a minute"),
                torchLink() }) };
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
