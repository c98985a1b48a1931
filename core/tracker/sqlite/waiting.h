#pragma once

#include "core/tracker/sqlite/patience.h"

#include <chrono>
#include <random>

struct sqlite3_stmt;

namespace furrow {

/// SQLite's own busy timeout sleeps longer the longer one has waited, so newcomers win and the worst claim takes
/// seconds. Here everybody who waits polls in the same short, random rhythm, however long it has waited; slower after a
/// second, when somebody stands still with the lock and there are no turns to be fair about.
struct Waiting {
    int limitMs = 0;
    Patience patience; // instead of the limit
    std::chrono::steady_clock::time_point since;
    std::chrono::steady_clock::time_point asked; // patience
    std::minstd_rand random;

    bool mayGoOn(std::chrono::steady_clock::time_point now)
    {
        if (!patience)
            return now - since <= std::chrono::milliseconds(limitMs);
        if (now - asked < std::chrono::milliseconds(100))
            return true;
        asked = now;
        return patience(std::chrono::duration_cast<std::chrono::milliseconds>(now - since));
    }
};

/// SQLite's busy handler. @param context  a Waiting
int waitForTurn(void* context, int count);

/// Of a statement that could not begin to read, as somebody holds all marks of readers. SQLite tries for ten seconds
/// and asks no busy handler meanwhile, so whoever waits is asked here.
int beginReading(sqlite3_stmt* statement, Waiting& waiting);

} // namespace furrow
