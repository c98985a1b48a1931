#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>

namespace furrow {

/// A libtorch that furrow-worker starts with.
struct TorchPlace {
    std::filesystem::path folder; ///< has lib/libtorch_cpu.so
    bool isForAll = false; ///< linked beside the programs, for all users of them; else this person's choice
};

/// Where Furrow keeps what it knows and has of libtorch for this person. As userDataFolder().
Result<std::filesystem::path> torchHome();

/// The folder or link beside the programs that serves all their users. The build tree has one.
std::filesystem::path torchForAll();

/// Whether a folder looks like a libtorch: the library that furrow-worker needs lies in its lib.
bool hasTorch(const std::filesystem::path& folder);

/// What furrow-worker starts with: what lies beside the programs, else what this person chose. NotFound says in one
/// sentence what is missing and what brings it. Reads two names and a small file.
Result<TorchPlace> torchInUse();

/// From now on this person's workers start with the libtorch in `folder`, where none lies beside the programs. Nothing
/// is copied.
Status chooseTorch(const std::filesystem::path& folder);
/// What chooseTorch recorded, whatever is there now; empty: nothing.
std::filesystem::path chosenTorch();
/// The choice is undone; the libtorch stays.
Status forgetTorch();

/// The value of LD_LIBRARY_PATH with which the loader finds the libtorch in `folder`, before all that was there.
std::string librarySearchPath(const std::filesystem::path& folder);

} // namespace furrow
