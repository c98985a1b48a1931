#pragma once

#include "core/base/denied.h"
#include "core/base/result.h"

#include <string>

/// Errors of the operating system as sentences that name the path and say what to do. Not for other folders.
namespace furrow {

/// @param failed  what could not be done, sentence("cannot write %1", ...)
/// @param code    errno, or GetLastError() on Windows
/// @param wanted  what would have been done to the path: whose right to that is missing may be said
Error systemError(const Message& failed, int code, Access wanted = Access::Write);

} // namespace furrow
