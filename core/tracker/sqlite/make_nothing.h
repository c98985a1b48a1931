#pragma once

namespace furrow {

/// While one lives, SQLite makes no file beside a database on this thread: it makes them for readers too, also in a
/// folder that somebody is removing at the moment. What is missing cannot be opened then (SQLITE_CANTOPEN). Does
/// nothing on Windows, where nobody removes what is open.
class MakeNothing {
public:
    /// Once for the process, before its first database.
    static void install();
    /// @param mayMakeIndex  the file of shared memory (-shm) may be made, though not the WAL
    explicit MakeNothing(bool mayMakeIndex);
    ~MakeNothing();
    MakeNothing(const MakeNothing&) = delete;
    MakeNothing& operator=(const MakeNothing&) = delete;
};

} // namespace furrow
