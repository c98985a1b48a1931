#include "core/libtorch/torch_place.h"

#include "core/base/file_system.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/base/user_data.h"

#include <cstdlib>

namespace furrow {

namespace {

constexpr std::uint64_t kMostPathBytes = 8192;
#ifdef _WIN32
constexpr const char* kLibrary = "torch_cpu.dll";
#else
constexpr const char* kLibrary = "libtorch_cpu.so";
#endif

Result<std::filesystem::path> choiceFile()
{
    FURROW_TRY_ASSIGN(auto home, torchHome());
    return home / "chosen";
}

} // namespace

Result<std::filesystem::path> torchHome()
{
    FURROW_TRY_ASSIGN(const auto data, userDataFolder());
    return data / "torch";
}

std::filesystem::path torchForAll() { return (executablePath().parent_path() / ".." / "torch").lexically_normal(); }

bool hasTorch(const std::filesystem::path& folder)
{
    std::error_code error;
    return std::filesystem::exists(folder / "lib" / kLibrary, error);
}

std::filesystem::path chosenTorch()
{
    const auto file = choiceFile();
    const auto text = file.ok() ? readFile(file.value(), kMostPathBytes) : Result<std::string>(file.error());
    const auto folder
        = text.ok() ? pathFromUtf8(text.value().substr(0, text.value().find('\n'))) : std::filesystem::path();
    return folder.is_absolute() ? folder : std::filesystem::path();
}

Result<TorchPlace> torchInUse()
{
    if (const auto forAll = torchForAll(); hasTorch(forAll))
        return TorchPlace { forAll, true };
    const auto chosen = chosenTorch();
    if (chosen.empty())
        return Error {
            ErrorCode::NotFound,
            sentence(
                "Training is not possible here: libtorch is missing. `furrowctl torch install` brings it, `furrowctl torch find` takes one that is there already. Runs can be watched without it.")
        };
    if (!hasTorch(chosen))
        return Error { ErrorCode::NotFound,
            sentence(
                "Training is not possible here: libtorch was in %1 and is there no more. `furrowctl torch find` looks for another one, `furrowctl torch install` brings one.",
                { utf8Text(chosen) }) };
    return TorchPlace { chosen, false };
}

Status chooseTorch(const std::filesystem::path& folder)
{
    FURROW_TRY_ASSIGN(const auto file, choiceFile());
    FURROW_TRY(refuseRootInFolderOf(file.parent_path()));
    FURROW_TRY(realFileSystem().createFolders(file.parent_path()));
    return writeFileDurably(realFileSystem(), file, utf8Text(folder) + "\n");
}

Status forgetTorch()
{
    FURROW_TRY_ASSIGN(const auto file, choiceFile());
    return realFileSystem().removeAll(file);
}

std::string librarySearchPath(const std::filesystem::path& folder)
{
    const char* before = std::getenv("LD_LIBRARY_PATH");
    const std::string own = utf8Text(folder / "lib");
    return before && *before ? own + ":" + before : own;
}

} // namespace furrow
