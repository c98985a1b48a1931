#pragma once

#include "core/base/process_limit.h"

namespace furrow {

inline constexpr SentenceText kCannotOpen("%1 cannot be opened; check the permissions of the run folder");

/// Whether a database could not be opened because of rights or of a limit of this process: nothing is said of what is
/// in it.
inline bool isForOpening(const Error& error)
{
    return error.code == ErrorCode::Io && (isForLimit(error.message) || tells(error.message, { kCannotOpen }));
}

} // namespace furrow
