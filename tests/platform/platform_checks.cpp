// The promises of core/base that everything else stands on, checked without any framework, on Linux and (cross-built,
// under wine) on Windows: platform_checks [FOLDER]. Prints one line a check; exit code 1 when one failed.
#include "core/base/clock.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/random.h"
#include "core/base/regular_file.h"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <thread>

using namespace furrow;
using namespace std::chrono_literals;
using std::filesystem::path;

namespace {

int checkNumber = 0;
int failures = 0;

void check(bool holds, const std::string& claim, const std::string& detail = {})
{
    std::printf("%2d %s %s%s%s\n", ++checkNumber, holds ? "ok    " : "FAILED", claim.c_str(),
        detail.empty() ? "" : ": ", detail.c_str());
    std::fflush(stdout);
    failures += holds ? 0 : 1;
}

template <typename T> void checkOk(const Result<T>& result, const std::string& claim)
{
    check(result.ok(), claim, result.ok() ? "" : result.error().message);
}

path helper() { return executablePath().parent_path() / "process_helper"; }

/// True as soon as `holds()` is, false when it is not within ten seconds.
template <typename Holds> bool soon(const Holds& holds)
{
    for (int round = 0; round < 1000; ++round) {
        if (holds())
            return true;
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

std::string newsIn(const path& file)
{
    std::string text;
    soon([&] {
        const auto news = readFile(file);
        text = news.ok() ? news.value() : "";
        return news.ok();
    });
    return text;
}

path with(path file, const char* ending)
{
    file += ending;
    return file;
}

ProcessIdentity identityFrom(const std::string& news)
{
    ProcessIdentity identity;
    std::istringstream(news) >> identity.pid >> identity.startTime;
    identity.place = processPlace();
    return identity;
}

Result<ChildProcess> startHelper(const std::string& role, const std::string& rest = {})
{
    return ChildProcess::start(helper(), { { role, rest }, {}, {}, {} });
}

void checkClock()
{
    const std::int64_t begin = systemClock().monotonicNs();
    std::int64_t last = begin;
    bool forward = true;
    for (int round = 0; round < 10'000; ++round) {
        const std::int64_t now = systemClock().monotonicNs();
        forward = forward && now >= last;
        last = now;
    }
    std::this_thread::sleep_for(120ms);
    const double sleptMs = static_cast<double>(systemClock().monotonicNs() - last) / 1e6;
    check(forward && begin > 0, "the clock never goes back");
    check(sleptMs >= 100 && sleptMs < 5000, "the clock runs as fast as time", std::to_string(sleptMs) + " ms of 120");
    check(isoTime(systemClock().wallNs()) > "2024", "the wall clock is set", isoTime(systemClock().wallNs()));
    check(bootId().size() >= 8, "this boot has an id", bootId());
}

void checkHashes()
{
    check(sha256Hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "SHA-256 gives the published digest");
    check(xxh3("abc") == 0x78AF5F94892F3950, "XXH3 gives the reference value");
    check(randomHex(32) != randomHex(32), "the system has random numbers");
    check(permutation(8, 42) == std::vector<std::uint32_t> { 7, 2, 4, 0, 3, 5, 1, 6 },
        "a chunk order is the same on every system");
}

void checkFiles(const path& folder)
{
    FileSystem& files = realFileSystem();
    const path file = folder / "file";
    checkOk(writeFileDurably(files, file, "one"), "writes a file durably");
    checkOk(writeFileDurably(files, file, "two"), "replaces it");
    check(newsIn(file) == "two", "and reads the new one");
    {
        const auto open = RandomAccessFile::open(file);
        // Windows before 10, and wine, refuse; then the old file must be whole.
        const bool replaced = writeFileDurably(files, file, "three").ok();
        check(newsIn(file) == (replaced ? "three" : "two"), "while a reader has it open, it is replaced or untouched",
            replaced ? "replaced" : "untouched");
        std::string bytes(3, ' ');
        check(open.ok() && open.value().readAt(0, std::as_writable_bytes(std::span(bytes))).ok() && bytes == "two",
            "the reader still sees the old one");
    }
    check(std::distance(std::filesystem::directory_iterator(folder), {}) == 1, "no temporary file is left");
    const std::string before = newsIn(file);
    check(writeFileDurably(files, folder / "other", "x").ok() && !files.rename(folder / "other", file).ok()
            && newsIn(file) == before,
        "rename refuses a taken name");
    checkOk(files.createFolders(folder / "made.tmp" / "deep"), "makes folders");
    checkOk(files.createFolder(folder / "made.tmp"), "makes no folder anew");
    check(!files.createFolder(folder / "away" / "deep").ok() && !std::filesystem::exists(folder / "away"),
        "makes nothing in the place of a folder that is away");
    checkOk(files.rename(folder / "made.tmp", folder / "made"), "renames a folder");
    checkOk(files.syncFolder(folder), "syncs a folder");
    checkOk(files.removeAll(folder / "made"), "removes a folder");
    check(!std::filesystem::exists(folder / "made") && files.removeAll(folder / "made").ok(), "twice is no error");
    check(RandomAccessFile::open(folder).error().code == ErrorCode::InvalidArgument, "a folder is not a file");
    check(readFile(folder / "none").error().code == ErrorCode::NotFound, "a missing file is not found");
    const auto syncMs = measureSyncMs(folder, 9);
    check(syncMs.ok() && syncMs.value() > 0, "measures the disk",
        std::to_string(syncMs.ok() ? syncMs.value() : 0) + " ms");
    const auto space = freeBytes(folder / "not" / "yet");
    check(space.ok() && space.value() > 0, "knows the free space");
    check(!unsafeForLedgerReason(folder / "OneDrive - Acme").empty(), "refuses a synchronised folder for the ledger");
}

void checkNames(const path& folder)
{
    FileSystem& files = realFileSystem();
    const path named = folder / pathFromUtf8("\xD0\xBF\xD0\xBE\xD0\xBB\xD0\xB5 \xE7\x95\x91 \xF0\x9F\x8C\xBE");
    checkOk(writeFileDurably(files, named, "x"), "writes a name in other scripts");
    check(newsIn(named) == "x", "and reads it");
    path deep = folder;
    for (int level = 0; level < 12; ++level)
        deep /= std::string(30, static_cast<char>('a' + level));
    checkOk(files.createFolders(deep), "makes a path of " + std::to_string(utf8Text(deep).size()) + " letters");
    checkOk(writeFileDurably(files, deep / "file", "deep"), "writes there");
    check(newsIn(deep / "file") == "deep", "and reads it");
    checkOk(files.removeAll(folder / std::string(30, 'a')), "and removes it");
    auto log = RegularFile::open(with(named, ".log"), RegularFile::At::End);
    checkOk(log, "opens such a file to append to it");
    check(log.ok() && log.value().write("hello") == 5 && log.value().write("!") == 1
            && newsIn(with(named, ".log")) == "hello!",
        "and does");
    check(!RegularFile::open(folder, RegularFile::At::End).ok(), "opens no folder for writing");
}

void checkLocks(const path& folder)
{
    const path file = folder / "lock";
    {
        const auto lock = FileLock::tryLock(file);
        checkOk(lock, "takes a lock");
        check(isLocked(file) && FileLock::tryLock(file).error().code == ErrorCode::Busy, "nobody else gets it");
    }
    check(!isLocked(file), "it is free when its holder goes");
    auto holder = startHelper("hold-lock", utf8Text(file));
    checkOk(holder, "another process takes it");
    check(newsIn(with(file, ".held")) == "held" && isLocked(file), "we see that");
    if (holder.ok())
        holder.value().killTree();
    check(soon([&] { return FileLock::tryLock(file).ok(); }), "it is free when its holder is killed");
    const path inherited = folder / "lock2";
    auto parent = startHelper("hold-lock-with-child", utf8Text(inherited));
    const ProcessIdentity left = identityFrom(newsIn(with(inherited, ".held")));
    if (parent.ok())
        parent.value().killTree();
    check(isAlive(left) && soon([&] { return !isLocked(inherited); }), "a child of the holder does not keep it");
    killProcessTree(left);
    check(soon([&] { return !isAlive(left); }), "and that child can be killed by its identity");
}

void checkProcesses(const path& folder)
{
    auto child = startHelper("exit", "7");
    const auto exit = child.ok() ? child.value().wait(10s) : std::nullopt;
    check(exit && exit->exitCode == 7, "an exit code arrives", exit ? exit->describe() : "no exit");
    check(!ChildProcess::start(folder / "no-such-program", {}).ok(), "a missing program is an error");
    const std::string nasty = "a \"b\\\" c\\\\ \xC3\xA9\xE7\x95\x91 $x %PATH%";
    ProcessOptions options { { "print", nasty }, { { "FURROW_TEST_VARIABLE", "x" } }, {}, folder / "printed" };
    auto printer = ChildProcess::start(helper(), options);
    const bool printed = printer.ok() && printer.value().wait(10s);
    check(printed && newsIn(folder / "printed").find("out " + nasty) != std::string::npos,
        "an argument arrives as it was", newsIn(folder / "printed"));
    ProcessIdentity self = thisProcess();
    check(isAlive(self), "this process lives");
    self.startTime -= 1;
    check(!isAlive(self), "a reused pid is another process");
    auto sleeper = startHelper("sleep");
    check(sleeper.ok() && isAlive(sleeper.value().identity()) && !sleeper.value().wait(50ms), "a wait is bounded");
}

void checkTrees(const path& folder)
{
    ProcessIdentity grandchild;
    {
        auto child = startHelper("start-grandchild", utf8Text(folder / "grandchild"));
        grandchild = identityFrom(newsIn(folder / "grandchild"));
        check(isAlive(grandchild), "a child starts a grandchild");
    }
    check(soon([&] { return !isAlive(grandchild); }), "both die with the object");
    const auto root = startDetached(helper(), { { "start-grandchild", utf8Text(folder / "grandchild2") }, {}, {}, {} });
    checkOk(root, "starts a detached process");
    grandchild = identityFrom(newsIn(folder / "grandchild2"));
    check(root.ok() && isAlive(root.value()) && isAlive(grandchild), "it lives, and so does its child");
    if (root.ok())
        killProcessTree(root.value());
    check(soon([&] { return !isAlive(root.value()) && !isAlive(grandchild); }), "the tree is killed by identity");
    auto writer = startHelper("append", utf8Text(folder / "lines"));
    newsIn(folder / "lines.ready");
    if (writer.ok())
        writer.value().killTree();
    const std::string lines = newsIn(folder / "lines");
    check(std::count(lines.begin(), lines.end(), '\n') > 20, "what a killed process synced is there");
}

void checkStops(const path& folder)
{
    const auto waiting = startDetached(helper(), { { "wait-stop", utf8Text(folder / "stop") }, {}, {}, {} });
    newsIn(folder / "stop.ready");
    if (waiting.ok())
        requestProcessStop(waiting.value());
    check(newsIn(folder / "stop") == "asked to stop", "a stop asked by identity arrives");
    auto child = startHelper("watch-parent", utf8Text(folder / "child"));
    newsIn(folder / "child.ready");
    if (child.ok())
        child.value().requestStop();
    check(newsIn(folder / "child") == "asked to stop", "a stop asked of a child arrives");
    const auto parent = startHelper("start-watcher-and-die", utf8Text(folder / "orphan"));
    check(newsIn(folder / "orphan") == "parent died", "a child sees the death of its parent");
}

} // namespace

int main(int argc, char** argv)
{
    const auto words = commandLineArguments(argc, argv);
    const path base = words.empty() ? std::filesystem::temp_directory_path() : pathFromUtf8(words[0]);
    const path folder = base / ("furrow-checks-" + randomHex(8));
    checkOk(realFileSystem().createFolders(folder / "files"), "makes a folder to work in");
    checkClock();
    checkHashes();
    checkFiles(folder / "files");
    checkNames(folder);
    checkLocks(folder);
    checkProcesses(folder);
    checkTrees(folder);
    checkStops(folder);
    checkOk(realFileSystem().removeAll(folder), "removes it all");
    std::printf("%d of %d checks passed\n", checkNumber - failures, checkNumber);
    return failures == 0 ? 0 : 1;
}
