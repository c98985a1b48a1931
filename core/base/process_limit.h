#pragma once

#include "core/base/result.h"
#include "core/base/told.h"

namespace furrow {

/// How it is told that a file may not grow: what this process may write (ulimit -f), what the disk can hold.
inline constexpr SentenceText kFileLimit(
    "files may not be larger than %1 here; raise the limit (ulimit -f) and start again");
inline constexpr SentenceText kLargerThanDisk("the file is larger than its disk can hold; choose another place");
/// How it is told that this process may open no more files.
inline constexpr SentenceText kOpenFileLimit("too many open files; raise the limit (ulimit -n)");

/// Whether something failed at a limit that holds as long as the process lives, and for each process that it starts:
/// who waits until that is over waits for ever.
inline bool isForLimit(const Message& failure)
{
    return tells(failure, { kFileLimit, kLargerThanDisk, kOpenFileLimit });
}

/// Whether a disk failed in a way that may be over by itself, as when it is full or away.
inline bool mayPass(const Error& error) { return error.code == ErrorCode::Io && !isForLimit(error.message); }

/// Exit code of a process of a run that ended at such a limit: another one would end there too.
inline constexpr int kLimitExit = 3;

} // namespace furrow
