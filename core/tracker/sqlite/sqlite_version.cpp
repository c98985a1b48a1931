#include "core/tracker/sqlite/sqlite_version.h"

#include "core/base/sentence.h"

#include <sqlite3.h>

namespace furrow {

namespace {

bool canLoseCommits(int number)
{
    const bool mendedInItsBranch
        = (number >= 3'044'006 && number < 3'045'000) || (number >= 3'050'007 && number < 3'051'000);
    return number >= 3'007'000 && number <= 3'051'002 && !mendedInItsBranch;
}

std::string versionText(int number)
{
    return std::to_string(number / 1'000'000) + "." + std::to_string(number / 1000 % 1000) + "."
        + std::to_string(number % 1000);
}

} // namespace

std::string sqliteVersion() { return sqlite3_libversion(); }

Status checkSqliteVersion(int number)
{
    if (!canLoseCommits(number))
        return {};
    return Error { ErrorCode::Internal,
        sentence(
            "This program was built with SQLite %1, which can damage a tracker that several processes use (WAL-reset bug of 3.7.0 to 3.51.2): no tracker is written. Run packaging/native.sh and build it again.",
            { versionText(number) }) };
}

Status checkSqliteVersion() { return checkSqliteVersion(sqlite3_libversion_number()); }

} // namespace furrow
