#include "core/tracker/sqlite/waiting.h"

#include <sqlite3.h>

#include <thread>

namespace furrow {

int waitForTurn(void* context, int count)
{
    auto& waiting = *static_cast<Waiting*>(context);
    const auto now = std::chrono::steady_clock::now();
    if (count == 0) {
        waiting.since = waiting.asked = now;
        waiting.random.seed(static_cast<std::minstd_rand::result_type>(
            now.time_since_epoch().count())); // each waiter has a rhythm of its own
    }
    if (!waiting.mayGoOn(now))
        return 0;
    const bool standsStill = now - waiting.since > std::chrono::seconds(1);
    std::uniform_int_distribution<int> microseconds(20, 180);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds(waiting.random) * (standsStill ? 50 : 1)));
    return 1;
}

int beginReading(sqlite3_stmt* statement, Waiting& waiting)
{
    constexpr auto kTriedBySqlite = std::chrono::seconds(10);
    waiting.since = waiting.asked = std::chrono::steady_clock::now() - kTriedBySqlite;
    int code = SQLITE_PROTOCOL;
    while ((code & 0xff) == SQLITE_PROTOCOL && waiting.mayGoOn(std::chrono::steady_clock::now())) {
        sqlite3_reset(statement);
        code = sqlite3_step(statement);
    }
    return code;
}

} // namespace furrow
