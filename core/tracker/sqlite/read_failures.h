#pragma once

namespace furrow {

/// Reads that the system refused to SQLite in this thread. Some of them (EIO, ENXIO) SQLite reports as a database that
/// is damaged, which nobody can say of what was not read.
class ReadFailures {
public:
    /// Once, before the first connection.
    static void install();
    /// errno of the newest since the last call; 0: there was none.
    static int take();
};

} // namespace furrow
