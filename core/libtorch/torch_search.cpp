#include "core/libtorch/torch_search.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/process_answer.h"
#include "core/base/sentence.h"
#include "core/libtorch/torch_place.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace furrow {

namespace {

constexpr auto kPythonPatience = std::chrono::seconds(30);
/// Finds the package without loading it, which would take seconds and run what it holds; not in the folder that this is
/// started in, where a folder may have its name.
constexpr const char* kAskPython
    = "import sys; sys.path[:] = [p for p in sys.path if p]; import importlib.util as u; s = u.find_spec('torch'); "
      "print((s.submodule_search_locations or [''])[0] if s else '')";

std::filesystem::path torchOfPython(const std::filesystem::path& python)
{
    ProcessOptions options;
    options.arguments = { "-c", kAskPython };
    const auto answer = python.empty() ? Result<ProcessAnswer>(Error {}) : askProcess(python, options, kPythonPatience);
    const bool said = answer.ok() && answer.value().isGood();
    return said ? pathFromUtf8(answer.value().lastLine()) : std::filesystem::path();
}

std::filesystem::path environmentOf(const char* variable)
{
    const char* value = std::getenv(variable);
    return value && *value ? torchBelow(pathFromUtf8(value)) : std::filesystem::path();
}

} // namespace

std::filesystem::path torchBelow(const std::filesystem::path& folder)
{
    std::vector<std::filesystem::path> places = { folder, folder / "torch", folder / "libtorch" };
    const auto pythons = entriesOf(folder / "lib");
    for (const auto& python : pythons.ok() ? pythons.value() : std::vector<std::filesystem::path>())
        if (python.filename().native().starts_with(std::filesystem::path("python3").native()))
            places.push_back(python / "site-packages" / "torch");
    const auto found = std::find_if(places.begin(), places.end(), hasTorch);
    std::error_code error;
    return found == places.end() ? std::filesystem::path() : std::filesystem::absolute(*found, error);
}

std::vector<TorchCandidate> searchTorch()
{
    const std::pair<std::string, std::function<std::filesystem::path()>> places[] = {
        { sentence("the active environment"), [] { return environmentOf("VIRTUAL_ENV"); } },
        { sentence("the active environment"), [] { return environmentOf("CONDA_PREFIX"); } },
        { "python3", [] { return torchOfPython(programInPath("python3")); } },
        { "/opt/libtorch", [] { return torchBelow("/opt/libtorch"); } },
        { "/usr/local/libtorch", [] { return torchBelow("/usr/local/libtorch"); } },
    };
    std::vector<TorchCandidate> candidates;
    for (const auto& [from, find] : places) {
        const auto folder = find();
        const bool isKnown = std::any_of(
            candidates.begin(), candidates.end(), [&](const auto& known) { return known.folder == folder; });
        if (folder.empty() || isKnown)
            continue;
        candidates.push_back({ folder, from, checkTorch(folder) });
        if (candidates.back().checked.ok())
            break;
    }
    return candidates;
}

} // namespace furrow
