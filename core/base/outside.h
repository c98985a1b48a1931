#pragma once

#include "core/base/result.h"

namespace furrow {

/// Trouble of the way to a thing, not of the thing: a network, hub, share or disk that is away, busy or full. It may
/// mend itself, so it is waited for and never counted as damage.
inline bool isOutside(const Error& error)
{
    return error.code == ErrorCode::Io || error.code == ErrorCode::Network || error.code == ErrorCode::Busy
        || error.code == ErrorCode::NotFound;
}

} // namespace furrow
