#pragma once

#include "core/base/message.h"
#include "core/base/process.h"

#include <filesystem>

namespace furrow {

/// "user ann", to whom a file or folder belongs, where this process acts as somebody else. Empty: it is one's own, this
/// is root, or there is nothing; on Windows always, where rights say who may do what. A sentence.
Message otherOwner(const std::filesystem::path& path);

/// The same of a process that this one may not end; "another user" where the system does not say which.
Message otherOwner(const ProcessIdentity& process);

} // namespace furrow
