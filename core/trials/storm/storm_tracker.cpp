// The tracker under attack: locks that somebody holds, a disk that fails under SQLite, clocks that jump, programs of
// another version.

#include "core/trials/storm/storm_deeds.h"

#include "core/tracker/sqlite/database.h"

namespace furrow::deeds {

namespace {

constexpr std::int64_t kFreezePatienceMs = 10'000;

/// The next process that `file` names stands still inside a transaction when this returns true. False: it came to none.
bool freezeInTransaction(
    const StormRun& run, const std::filesystem::path& file, std::int64_t pid, const std::string& kind)
{
    run.put(file, std::to_string(pid) + " " + kind);
    std::error_code failed;
    return waitFor([&] { return !std::filesystem::exists(file, failed); }, kFreezePatienceMs)
        || !std::filesystem::remove(file, failed);
}

std::int64_t someSeconds(Random& random, std::int64_t least, std::uint64_t more)
{
    return least + static_cast<std::int64_t>(random.below(more));
}

/// As a command of this version reads it.
Status setVersion(Database& db, std::int64_t version)
{
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(db));
    db.script(("PRAGMA user_version=" + std::to_string(version)).c_str());
    return transaction.commit();
}

} // namespace

/// It holds the lock that everybody needs, until its supervisor ends it.
StormDeed freezeWriter(StormRun& run, Random& random)
{
    const bool feeder = random.below(4) == 0;
    const auto victim = feeder ? run.feederAlive() : oneWorker(run, random);
    const auto attempt = run.attempt();
    if (!victim || !freezeInTransaction(run, run.freezeFile(), victim->pid, "write"))
        return { "no process came to a transaction" };
    const bool ended = waitFor([&] { return !isAlive(*victim) || !run.isHeld(); }, 60'000) && !isAlive(*victim);
    freezeProcess(*victim, false);
    StormDeed deed { (feeder ? "froze the feeder, " : "froze worker ") + named(*victim) + " inside a write transaction",
        ended ? 1 : 0, run.endOf(attempt) };
    if (!ended)
        deed.problem = "a process that stood still inside a write transaction for a minute was not ended";
    return deed;
}

/// Ctrl+Z, as people press it.
StormDeed freezeReader(StormRun& run, Random& random)
{
    const auto freeze = run.faultFile("reader-stands-still");
    ProcessOptions options;
    options.arguments = { "audit", run.paths().folder().string() };
    options.environment = { { "FURROW_FREEZE", freeze.string() } };
    options.outputFile = run.faultFile("audit.log");
    run.put(freeze, "0 read");
    auto reader = ChildProcess::start(executablePath(), options);
    if (!reader.ok())
        return { reader.error().message };
    std::error_code failed;
    if (!waitFor([&] { return !std::filesystem::exists(freeze, failed) || reader.value().poll(); }, kFreezePatienceMs))
        return { "'furrowctl audit' came to no transaction" };
    const auto seconds = someSeconds(random, 3, 4);
    pause(seconds * 1000);
    freezeProcess(reader.value().identity(), false);
    const bool ended = reader.value().wait(std::chrono::seconds(60)).has_value();
    return { "'furrowctl audit' stood still for " + std::to_string(seconds) + " s inside a read transaction", 0,
        ended ? "" : "'furrowctl audit' did not end" };
}

StormDeed foreignReader(StormRun& run, Random& random)
{
    auto db = Database::open(run.paths().tracker(), { Database::Access::ReadOnly });
    auto reading = db.ok() ? Transaction::read(db.value()) : db.error();
    if (!reading.ok())
        return { reading.error().message };
    (void)db.value().integer("SELECT count(*) FROM event");
    const auto seconds = someSeconds(random, 3, 4);
    pause(seconds * 1000);
    return { "a foreign program read the tracker for " + std::to_string(seconds) + " s" };
}

/// Now and then longer than anybody's patience.
StormDeed foreignLock(StormRun& run, Random& random)
{
    const auto attempt = run.attempt();
    auto db = Database::open(run.paths().tracker(), {});
    auto writing = db.ok() ? Transaction::begin(db.value()) : db.error();
    if (!writing.ok())
        return { writing.error().message };
    const Stopwatch held;
    pause((random.below(4) == 0 ? 40 : someSeconds(random, 2, 5)) * 1000);
    const double seconds = held.seconds();
    {
        const auto given = std::move(writing).value();
    }
    return { "a foreign program held the lock of the tracker for " + std::to_string(static_cast<int>(seconds)) + " s",
        0, run.endOf(attempt), seconds };
}

StormDeed failSqlite(StormRun& run, Random& random)
{
    constexpr const char* kKinds[] = { "full", "write", "sync", "read", "unread" };
    const std::string kind = kKinds[random.below(std::size(kKinds))];
    const Stopwatch failing;
    run.put(run.sqliteFaultFile(), kind);
    pause(200 + static_cast<std::int64_t>(random.below(2500)));
    std::error_code failed;
    std::filesystem::remove(run.sqliteFaultFile(), failed);
    return { "the disk under the tracker failed (" + kind + ") for "
            + std::to_string(static_cast<int>(failing.seconds() * 1000)) + " ms",
        0, "", failing.seconds() };
}

/// Many small jumps, so that some of them fall into commits. The monotonic clock goes forward, as when a virtual
/// machine was held.
StormDeed jumpClock(StormRun& run, Random& random)
{
    std::int64_t days = 0;
    std::int64_t forward = 0;
    for (auto jumps = 3 + random.below(8); jumps > 0; --jumps) {
        days = static_cast<std::int64_t>(random.below(61)) - 30;
        const auto more = random.below(4) == 0 ? static_cast<std::int64_t>(random.below(20)) : 0;
        forward += more;
        run.jumpClocks(days * 86'400, more);
        pause(50 + static_cast<std::int64_t>(random.below(200)));
    }
    return { "the wall clock jumped, and is " + std::to_string(days) + " days off from now on; the monotonic one went "
            + std::to_string(forward) + " s forward",
        0, "", std::nullopt };
}

/// The live run is one of an older Furrow for a moment. A control command of this one must leave its tracker alone.
StormDeed olderVersion(StormRun& run, Random&)
{
    const auto tracker = run.paths().tracker();
    auto db = Database::open(tracker, {});
    if (!db.ok())
        return { db.error().message };
    const auto version = db.value().integer("PRAGMA user_version").value_or(0);
    const auto backup = tracker.string() + ".v" + std::to_string(version - 1) + ".bak";
    if (auto set = setVersion(db.value(), version - 1); !set.ok())
        return { set.error().message };
    ProcessOptions options;
    options.arguments = { "stop", run.paths().folder().string() };
    options.outputFile = run.faultFile("stop.log");
    auto command = ChildProcess::start(executablePath(), options);
    const auto exit = command.ok() ? command.value().wait(std::chrono::seconds(60)) : std::nullopt;
    const auto after = db.value().integer("PRAGMA user_version").value_or(0);
    std::error_code failed;
    StormDeed deed { "'furrowctl stop' met a run of an older version" };
    if (after != version - 1 || std::filesystem::remove(backup, failed))
        deed.problem = "a control command migrated the tracker under a run that trains";
    else if (!exit || exit->exitCode == 0)
        deed.problem = "a control command did not refuse the tracker of another version";
    if (auto set = setVersion(db.value(), version); !set.ok())
        deed.problem = set.error().message;
    return deed;
}

} // namespace furrow::deeds
