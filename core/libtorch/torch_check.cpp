#include "core/libtorch/torch_check.h"

#include "core/base/file_system.h"
#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/config/worker_task.h"
#include "core/libtorch/torch_place.h"

#include <nlohmann/json.hpp>

namespace furrow {

namespace {

constexpr auto kPatience = std::chrono::minutes(2); // a cold disk reads half a gigabyte
constexpr std::uint64_t kMostVersionBytes = 64 << 10;

std::filesystem::path trainerProgram() { return executablePath().parent_path() / "furrow-trainer"; }

/// What stands between quotes behind `mark`.
std::string quotedAfter(std::string_view text, std::string_view mark)
{
    const auto at = text.find(mark);
    const auto from = at == std::string_view::npos ? at : text.find_first_of("'\"", at);
    if (from == std::string_view::npos)
        return {};
    const auto to = text.find(text[from], from + 1);
    return to == std::string_view::npos ? std::string() : std::string(text.substr(from + 1, to - from - 1));
}

/// A wheel has version.py, a libtorch archive build-version.
std::string versionOf(const std::filesystem::path& folder)
{
    if (const auto text = readFile(folder / "version.py", kMostVersionBytes); text.ok())
        return quotedAfter(text.value(), "__version__ =");
    const auto text = readFile(folder / "build-version", kMostVersionBytes);
    if (!text.ok())
        return {};
    const auto end = text.value().find_first_of(" \r\n");
    return text.value().substr(0, end);
}

/// "2.11" of "2.11.0+cu130".
std::string_view seriesOf(std::string_view version)
{
    const auto dot = version.find('.');
    return dot == std::string_view::npos ? version : version.substr(0, version.find_first_of(".+", dot + 1));
}

} // namespace

bool isSameSeries(std::string_view a, std::string_view b) { return !a.empty() && seriesOf(a) == seriesOf(b); }

Status requireTrainer()
{
    std::error_code error;
    if (std::filesystem::exists(trainerProgram(), error))
        return {};
    return Error { ErrorCode::NotFound,
        sentence(
            "Training is not possible here: %1 is missing. Install Furrow whole, or build it with libtorch (packaging/run.sh).",
            { utf8Text(trainerProgram()) }) };
}

Result<TorchFacts> lookAtTorch(const std::filesystem::path& folder)
{
    if (!hasTorch(folder))
        return Error { ErrorCode::NotFound,
            sentence(
                "%1 is not a libtorch: there is no lib/libtorch_cpu.so in it. Name the folder of an unpacked libtorch or site-packages/torch.",
                { utf8Text(folder) }) };
    TorchFacts facts { folder, versionOf(folder), isThere(folder / "lib" / "libtorch_cuda.so") };
    return facts;
}

Result<TorchFacts> checkTorch(const std::filesystem::path& folder)
{
    FURROW_TRY_ASSIGN(auto facts, lookAtTorch(folder));
    FURROW_TRY(requireTrainer());
    ProcessOptions options;
    options.arguments = taskArguments(WorkerTask::Torch, { "--device", "cpu", "--threads", "1", "--json" });
    options.environment = { { "LD_LIBRARY_PATH", librarySearchPath(folder) }, { "LD_BIND_NOW", "1" } };
    FURROW_TRY_ASSIGN(const auto answer, askProcess(trainerProgram(), options, kPatience));
    return judgeTrial(facts, answer);
}

Result<TorchFacts> judgeTrial(const TorchFacts& facts, const ProcessAnswer& answer)
{
    if (const auto why = answer.unanswered(); !why.empty())
        return Error { ErrorCode::Busy,
            sentence(
                "Whether the libtorch %1 in %2 fits could not be found out: furrow-trainer was started with it, and %3. Try again; if it is so each time, `furrowctl torch install` brings another one.",
                { facts.version, utf8Text(facts.folder), why }) };
    const auto said = nlohmann::json::parse(answer.lastLine(), nullptr, false);
    const auto text = [&](const char* key) {
        return said.is_object() && said.contains(key) && said[key].is_string() ? said[key].get<std::string>()
                                                                               : std::string();
    };
    if (!answer.isGood()) {
        const auto why = answeredError(said);
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "The libtorch %1 in %2 does not fit this Furrow (%3). `furrowctl torch install` brings one that fits.",
                { facts.version, utf8Text(facts.folder), why ? *why : answer.reason() }) };
    }
    if (const auto built = text("built_with"); !isSameSeries(facts.version, built))
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "The libtorch in %1 is %2 and this Furrow was built with %3; libtorch promises nothing to programs that were built with another series. `furrowctl torch install` brings one that fits.",
                { utf8Text(facts.folder),
                    facts.version.empty() ? sentence("of an unknown version") : Message(facts.version), built }) };
    return facts;
}

} // namespace furrow
