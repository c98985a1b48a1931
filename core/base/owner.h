#pragma once

#include "core/base/message.h"
#include "core/base/process.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>

namespace furrow {

/// "user ann", to whom a file or folder belongs, where this process acts as somebody else. Empty: it is one's own, this
/// is root, or there is nothing; on Windows always, where rights say who may do what. A sentence.
Message otherOwner(const std::filesystem::path& path);

/// The same of a process that this one may not end; "another user" where the system does not say which.
Message otherOwner(const ProcessIdentity& process);

/// "user ann", to whom a process belongs that is not of this process's own user, root or not. Empty: it is one's own,
/// is gone, or the system does not tell. A sentence.
Message ownerOfAnother(std::int64_t pid);

/// Whether the user of a process may write a file or folder, by its mode bits. True where the system does not tell.
bool mayItsUserWrite(std::int64_t pid, const std::filesystem::path& path);

/// InvalidArgument where this is root and the folder belongs to another user: they could not write what root makes
/// there. One that is yet to be made is as the first above it that is there: a home, where sudo keeps HOME. With
/// FURROW_AS_ROOT=1 in the environment nothing is refused.
Status refuseRootInFolderOf(const std::filesystem::path& folder);

/// What this process makes from now on, anywhere, may be written by the group as well, if that is so of the folder: in
/// a run that several users share, each would take the others' rights by what it makes. For a program that is about
/// one run. Does nothing on Windows.
void shareWithGroupOf(const std::filesystem::path& folder);

} // namespace furrow
