#pragma once

#include <cstdint>

namespace furrow {

// What `furrowctl storm` and the tests ask of a process through its environment. Compiled into every build, so that
// what is tested is what people run; without the variable nothing happens.
//
// - FURROW_FAIL_AT=name[:n]: die at a named place (fail_point.h).
// - FURROW_FAIL_ONCE=file: ... but only the process that can make this file: one death, and proof of it.
// - FURROW_DISK_FULL=file: while that file exists, writing fails as on a full disk.
// - FURROW_LEASE_S=seconds: the shortest lease of a worker, and its first one.
// - FURROW_LINGER_S=seconds: a worker at its end does not exit for so long.
// - FURROW_START_S=seconds: how long who starts a run waits for its supervisor.
// - FURROW_EXIT_PATIENCE_S=seconds: how long the supervisor lets it.
// - FURROW_AWAY_PATIENCE_S=seconds: how long the supervisor waits for the disk of its run.
// - FURROW_REMOVED_PATIENCE_S=seconds: until a file of the data that is gone counts as removed.
// - FURROW_SQLITE_FAULT=file: while that file exists, SQLite's own reading and writing fails as its first word says:
// full, write, sync, read; unread: the system itself refuses to read.
// - FURROW_BUSY_S=seconds: how long at most who has no patience of its own waits for the lock of a tracker.
// - FURROW_CLOCK=file: two numbers in it are added to the wall clock and to the monotonic one [s]: clocks that jump.
// - FURROW_FREEZE=file: the process whose id is its first word (0: whoever looks) removes it and stands still, inside a
// transaction of the kind that is its second word: read, write.
// - FURROW_COUNTING=1: train the counting model. FURROW_COUNTING_STEP_MS=ms makes its steps as slow as real ones; a
// list (20,20,60) is for each worker in turn.
// - FURROW_SKIP_SUM=n: leave the n-th sum over the ranks of a data-parallel group out; only in builds with tests.

/// A number from the environment; `otherwise` when it is absent. Of a list with commas the one at `index`, or the last.
double faultNumber(const char* name, double otherwise, int index = 0);

/// Whether a write must fail now as on a full disk.
bool diskPretendsFull();

enum class SqliteFault { None, Full, Write, Sync, Read, Unread };
/// Whether SQLite's files are to fail at all in this process; else sqliteFault() need not be asked.
bool sqliteMayFail();
SqliteFault sqliteFault();

struct ClockFault {
    std::int64_t wallNs = 0;
    std::int64_t monotonicNs = 0;
};
/// What to add to the clocks.
ClockFault clockFault();

/// Called inside a transaction; returns when this process is told to go on.
void freezeWhenAsked(bool writing);

} // namespace furrow
