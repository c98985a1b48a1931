#pragma once

#include "core/base/result.h"

#include <string>

namespace furrow {

/// The version of the SQLite in this program, as "3.53.4".
std::string sqliteVersion();

/// Whether a SQLite may write a tracker that several processes have open; the error says what is wrong with it.
/// @param number  as sqlite3_libversion_number() counts: 3053004 is 3.53.4
/// Source: sqlite.org/wal.html, "The WAL-Reset Bug": 3.7.0 to 3.51.2, mended in 3.51.3 and in the branches 3.50.7
/// and 3.44.6.
Status checkSqliteVersion(int number);
/// The same for the SQLite in this program.
Status checkSqliteVersion();

} // namespace furrow
