#pragma once

#include <cstdint>
#include <filesystem>

namespace furrow {

/// The group may make and remove names in the folder: it is shared. One for everybody's files, as /tmp, is not. False
/// on Windows, where rights are inherited.
bool mayGroupWrite(const std::filesystem::path& folder);

/// What this process makes in the folder or below it from now on may be written by the group as well, if that is so of
/// the folder now. As shareWithGroupOf(), but for a program with threads and several runs before it: the umask, which
/// is one for all of them and for every place, stays. Of two folders that were named the inner one counts; one that is
/// not there does not. Any thread. Does nothing on Windows.
void shareBelow(const std::filesystem::path& folder);

/// For who makes files and folders here: of what was made just now, see shareBelow().
void shareMade(std::intptr_t handle, const std::filesystem::path& made);
void shareMadeFolder(const std::filesystem::path& made);

} // namespace furrow
