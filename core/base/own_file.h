#pragma once

#include "core/base/path.h"
#include "core/base/result.h"
#include "core/base/sentence.h"

namespace furrow {

/// Why a file that was made with a run, and that nobody else has, cannot be read.
inline Error ofOwnFile(const Error& error, const std::filesystem::path& path)
{
    if (error.code != ErrorCode::NotFound)
        return error;
    return { error.code,
        sentence("%1 is not there. It was made with the run and there is no other: put it back from a copy of the run.",
            { utf8Text(path) }) };
}

} // namespace furrow
