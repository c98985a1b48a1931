#pragma once

namespace furrow {

/// From now on SQLite opens what lies beside a database (-wal, -shm) for writing or not at all, in this whole process.
/// Without it a file that cannot be written for a moment is opened read-only, and stays so for every connection of the
/// process as long as one of them lives: the trouble ends and nobody notices. For the processes of a run, before their
/// first connection. A console or an audit of somebody else's run must read on, and do not call this.
void writeTrackersOrFail();

} // namespace furrow
