#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/data/source/block_cache.h"
#include "core/run/folder/before_writing.h"
#include "core/run/folder/memory_file.h"
#include "core/run/folder/run_file.h"
#include "core/tracker/sqlite/database.h"
#include "core/workspace/compare_runs.h"
#include "core/workspace/memory_history.h"
#include "core/workspace/queue_runner.h"
#include "core/workspace/run_folders.h"
#include "core/workspace/trash.h"
#include "core/workspace/workspace_problems.h"

#include <QTemporaryDir>
#include <QtTest>
#include <algorithm>
#include <atomic>
#include <fstream>
#include <memory>
#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace furrow;

namespace {

QueueEntry entry(std::int64_t id, const char* lane, QueueState state = QueueState::Waiting)
{
    return { id, "/runs/" + std::to_string(id), std::to_string(id), lane, state, "" };
}

std::vector<std::int64_t> idsOf(const std::vector<QueueEntry>& entries)
{
    std::vector<std::int64_t> ids;
    for (const QueueEntry& e : entries)
        ids.push_back(e.id);
    return ids;
}

using Ids = std::vector<std::int64_t>;

/// Runs the queue of a workspace while the test goes on; ends with it.
struct QueueBeside {
    explicit QueueBeside(const std::filesystem::path& space)
        : thread([this, space] {
            const StopRequest stop(false);
            (void)runQueue(space, stop);
            isDone = true;
        })
    {
    }
    std::atomic<bool> isDone = false;
    std::jthread thread;
};

} // namespace

class TestWorkspace : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::filesystem::path workspace(const char* name) const
    {
        return std::filesystem::path(folder_.path().toStdString()) / name;
    }

private Q_SLOTS:
    /// Another user's `queue list` wanted to write in the workspace.
    void aLookAtAWorkspaceNeededTheRightToWrite()
    {
        const auto folder = workspace("looked at");
        QVERIFY(WorkspaceFile::open(folder).value().enqueue("/a", "a", "cpu").ok());
        const auto before = entriesOf(folder).value();
        auto looked = WorkspaceFile::look(folder);
        QVERIFY2(looked.ok(), looked.ok() ? "" : looked.error().message.c_str());
        QCOMPARE(looked.value().queue().value().size(), std::size_t(1));
        QVERIFY(!looked.value().enqueue("/b", "b", "cpu").ok());
        QVERIFY(entriesOf(folder).value() == before);
        auto writer = WorkspaceFile::open(folder); // which has a WAL now
        QVERIFY(writer.value().enqueue("/b", "b", "cpu").ok());
        QCOMPARE(WorkspaceFile::look(folder).value().queue().value().size(), std::size_t(2));
    }

    void notesSurviveReopening()
    {
        const RunNotes written { { "b", "a", "b" }, "sweep", "looks good", true };
        {
            auto file = WorkspaceFile::open(workspace("notes"));
            QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
            QVERIFY(file.value().setNotes("runs/one", written).ok());
        }
        auto file = WorkspaceFile::open(workspace("notes"));
        const auto notes = file.value().notes();
        QVERIFY(notes.ok());
        QCOMPARE(notes.value().size(), std::size_t(1));
        const RunNotes& read = notes.value().at("runs/one");
        QVERIFY((read.tags == std::vector<std::string> { "a", "b" }));
        QCOMPARE(read.note, written.note);
        QVERIFY(read.archived);
        QVERIFY(file.value().setNotes("runs/one", {}).ok());
        QVERIFY(file.value().notes().value().empty());
    }

    void memoryOfEarlierRunsIsFound()
    {
        const auto at = workspace("memory");
        QVERIFY(memoryHistory(at).empty()); // there is no such folder yet
        const MeasuredMemory measured { { "CPU", StepPath::CpuFast, "gpt" }, 1000, 1100 };
        for (const char* run : { "one", "two" })
            for (const int worker : { 0, 1 })
                QVERIFY(publishMemory(RunPaths(at / "runs" / run), worker, measured).ok());
        std::ofstream(RunPaths(at / "runs" / "two").memoryFile(1)) << "{\"device\":"; // torn
        std::filesystem::create_directories(at / "runs" / "never trained");
        const auto history = memoryHistory(at);
        QCOMPARE(history.size(), std::size_t(3));
        QVERIFY(history.front().of == measured.of && history.front().peakBytes == 1100);
    }

    /// "the tracker ... is damaged; furrowctl doctor WORKSPACE --repair", which is refused.
    void aDamagedLibraryWasCalledATracker()
    {
        QVERIFY(WorkspaceFile::open(workspace("damaged")).ok());
        QFile file(QString::fromStdString((workspace("damaged") / "library.sqlite").string()));
        QVERIFY(file.open(QIODevice::ReadWrite));
        file.write(QByteArray(4096, 'x'));
        file.close();
        const auto opened = WorkspaceFile::open(workspace("damaged"));
        QVERIFY(!opened.ok());
        const auto said = QString::fromStdString(opened.error().message);
        QVERIFY2(said.contains("library.sqlite, which holds tags, notes and the queue, is damaged. Move it away"),
            qPrintable(said));
        QVERIFY(!said.contains("doctor"));
    }
    /// "written by a newer Furrow (version 0); use that one", and "cannot rename ...: the name is taken".
    void aLibraryThatIsNoneGotAdviceThatDidNotHelp()
    {
        std::filesystem::create_directories(workspace("strange"));
        const auto file = workspace("strange") / "library.sqlite";
        const auto refused = [&] {
            const auto opened = WorkspaceFile::open(workspace("strange"));
            return opened.ok() ? QString() : QString::fromStdString(opened.error().message);
        };
        QVERIFY(Database::create(file).ok());
        QVERIFY2(refused().contains("is a database of another program. Move it away"), qPrintable(refused()));
        std::filesystem::remove(file);
        std::filesystem::create_symlink(workspace("strange") / "gone", file);
        QVERIFY2(refused().contains("is a link to what is not there."), qPrintable(refused()));
        QVERIFY(!std::filesystem::exists(workspace("strange") / "gone"));
        std::filesystem::remove(file);
        std::ofstream { file };
        QVERIFY2(refused().contains("is damaged. Move it away"), qPrintable(refused()));
    }
    /// Buttons of a tag of 300 letters pushed all pages out of the screen; a shared file can hold any.
    void aTagWithoutEndWasKeptAndShown()
    {
        auto file = WorkspaceFile::open(workspace("tags"));
        QVERIFY(file.ok());
        RunNotes notes;
        notes.tags = { std::string(300, 'x') };
        const auto refused = file.value().setNotes("runs/one", notes);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("is too long") != std::string::npos, refused.error().message.c_str());
        {
            auto db = Database::open(workspace("tags") / "library.sqlite", {});
            QVERIFY(db.ok());
            db.value().run("INSERT INTO run VALUES ('runs/two', ?, '', ?, 0)", std::string(1'000'000, 'y'),
                std::string(3'000'000, 'z'));
            QVERIFY(db.value().takeStatus().ok());
        }
        const auto read = file.value().notes();
        QVERIFY(read.ok());
        const RunNotes& two = read.value().at("runs/two");
        QCOMPARE(two.tags.size(), std::size_t(1));
        QVERIFY(two.tags.front().size() < 200 && two.note.size() < 100'000);
    }
    void twoConsolesMayWriteAtOnce()
    {
        auto one = WorkspaceFile::open(workspace("two"));
        auto two = WorkspaceFile::open(workspace("two"));
        QVERIFY(one.ok() && two.ok());
        QVERIFY(one.value().setNotes("a", { { "x" }, "", "", false }).ok());
        QVERIFY(two.value().setNotes("b", { { "y" }, "", "", false }).ok());
        QCOMPARE(one.value().notes().value().size(), std::size_t(2));
    }

    void queueKeepsItsOrderAndRefusesDoubles()
    {
        auto file = WorkspaceFile::open(workspace("queue"));
        for (const char* run : { "/a", "/b", "/c" })
            QVERIFY(file.value().enqueue(run, run, "cpu").ok());
        QVERIFY(!file.value().enqueue("/b", "b", "cpu").ok());
        QCOMPARE(idsOf(file.value().queue().value()), (Ids { 1, 2, 3 }));
        QVERIFY(file.value().moveEntry(3, 0).ok());
        QCOMPARE(idsOf(file.value().queue().value()), (Ids { 3, 1, 2 }));
        QVERIFY(file.value().setEntry(3, QueueState::Running, "").ok());
        QVERIFY(!file.value().removeEntry(3).ok());
        QVERIFY(file.value().setEntry(3, QueueState::Ended, "finished").ok());
        QVERIFY(file.value().removeEnded().ok());
        QCOMPARE(idsOf(file.value().queue().value()), (Ids { 1, 2 }));
        QVERIFY(!file.value().removeEntry(77).ok());
    }

    /// doctor said that everything works.
    void aPipeInPlaceOfWhatAWorkspaceKeepsWasOverlooked()
    {
        const auto space = workspace("odd");
        QVERIFY(workspaceProblems(space).empty()); // it is not there yet
        std::filesystem::create_directories(space / "cache" / "blocks");
        std::filesystem::create_directories(space / "elsewhere");
        std::filesystem::create_directory_symlink(space / "elsewhere", space / "runs");
        std::ofstream(queueLock(space)) << "";
        QVERIFY(WorkspaceFile::open(space).ok());
        QVERIFY(workspaceProblems(space).empty());
        std::vector<std::filesystem::path> odd { space / "trash", space / "queue.lock", space / "queue.log",
            space / "library.lock", space / "library.sqlite-wal", space / "cache" / "cache.lock",
            space / "cache" / "blocks" };
        for (const auto& path : odd) {
            std::filesystem::remove_all(path);
            QCOMPARE(::mkfifo(path.c_str(), 0600), 0);
        }
        std::filesystem::remove_all(space / "elsewhere");
        odd.push_back(space / "runs");
        std::string said;
        for (const auto& problem : workspaceProblems(space))
            said += problem.text() + "\n";
        for (const auto& path : odd)
            QVERIFY2(said.find(utf8Text(path) + " is ") != std::string::npos
                    || said.find(utf8Text(path) + ": it is not a regular file") != std::string::npos,
                (utf8Text(path) + " of " + said).c_str());
        std::filesystem::remove_all(space / "cache");
        QCOMPARE(::mkfifo((space / "cache").c_str(), 0600), 0);
        const auto problems = workspaceProblems(space);
        QVERIFY(std::any_of(problems.begin(), problems.end(), [&](const Message& problem) {
            return problem.text().starts_with(utf8Text(space / "cache") + " is not a folder");
        }));
    }

    void lanesOfDifferentDevicesDoNotWaitForEachOther()
    {
        QCOMPARE(idsOf(startable({ entry(1, "0"), entry(2, "1"), entry(3, "0"), entry(4, "cpu") })), (Ids { 1, 2, 4 }));
        QCOMPARE(idsOf(startable({ entry(1, "0", QueueState::Running), entry(2, "0,1"), entry(3, "1") })),
            Ids {}); // nobody overtakes
        QCOMPARE(
            idsOf(startable({ entry(1, "auto", QueueState::Running), entry(2, "1"), entry(3, "cpu:2") })), (Ids { 3 }));
        QCOMPARE(idsOf(startable({ entry(1, "0", QueueState::Ended), entry(2, "0") })), (Ids { 2 }));
        QVERIFY(shareDevice("cpu", "cpu:4"));
        QVERIFY(!shareDevice("GPU-5b1e", "GPU-91d4"));
    }

    void onlyOneProcessRunsTheQueue()
    {
        auto file = WorkspaceFile::open(workspace("locked"));
        const auto held = FileLock::tryLock(queueLock(workspace("locked")));
        QVERIFY(held.ok());
        const StopRequest stop(false);
        const auto status = runQueue(workspace("locked"), stop);
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, ErrorCode::Busy);
    }

    /// Whoever could read the workspace held its lock, and the queue stood: no word why, not even afterwards.
    void aStrangerWhoHeldTheLockOfTheQueueStoppedItSilently()
    {
        const auto space = workspace("held-up");
        auto file = WorkspaceFile::open(space);
        QVERIFY(file.value().enqueue("/nowhere/at/all", "ghost", "cpu").ok());
        std::ofstream(queueLock(space)) << "";
        int until[2];
        QCOMPARE(pipe(until), 0);
        const pid_t stranger = fork();
        if (stranger == 0) {
            ::close(until[1]);
            char nothing = 0;
            (void)::flock(::open(queueLock(space).c_str(), O_RDONLY), LOCK_EX);
            (void)!::read(until[0], &nothing, 1);
            _exit(0);
        }
        QTRY_VERIFY(isLocked(queueLock(space)));
        const auto told = whatHoldsQueueUp(space);
        QVERIFY2(told.find(std::to_string(stranger)) != std::string::npos, told.c_str());
        const QueueBeside queue(space);
        QTest::qWait(1500);
        QVERIFY(!queue.isDone);
        ::close(until[1]);
        QTRY_VERIFY_WITH_TIMEOUT(queue.isDone, 30'000);
        QVERIFY(file.value().queue().value().front().state == QueueState::Ended);
        QCOMPARE(waitpid(stranger, nullptr, 0), stranger);
        using enum std::filesystem::perms;
        QVERIFY((std::filesystem::status(queueLock(space)).permissions() & (others_all | group_all)) == none);
        QVERIFY(whatHoldsQueueUp(space).empty() && !isQueueRun(space));
    }

    /// Of a user whose run the process of another one may not write: "waiting", and hours later "failed: cannot write".
    void aRunThatTheQueueOfAnotherUserCouldNeverStartWasQueued()
    {
        if (::geteuid() != 0)
            QSKIP("only root can be another user");
        const auto space = workspace("of-another");
        const auto run = space / "runs" / "one";
        std::filesystem::create_directories(run);
        std::ofstream(RunPaths(run).tracker()) << "";
        QVERIFY(checkQueueCanStart(space, run).ok()); // nobody runs it
        std::ofstream(queueLock(space)) << "";
        int until[2];
        QCOMPARE(pipe(until), 0);
        const pid_t other = fork();
        if (other == 0) {
            ::close(until[1]);
            char nothing = 0;
            (void)::flock(::open(queueLock(space).c_str(), O_RDONLY), LOCK_EX);
            const bool isOther = ::setgroups(0, nullptr) == 0 && ::setgid(65534) == 0 && ::setuid(65534) == 0
                && ::prctl(PR_SET_DUMPABLE, 1) == 0; // as of a program that was begun by that user
            (void)!::read(until[0], &nothing, 1);
            _exit(isOther ? 0 : 1);
        }
        QTRY_VERIFY(!ownerOfAnother(other).empty() && isLocked(queueLock(space)));
        const auto refused = checkQueueCanStart(space, run);
        QVERIFY(!refused.ok());
        for (const std::string& part : { std::to_string(other), run.string(), std::string("chmod -R g+rwX") })
            QVERIFY2(refused.error().message.find(part) != std::string::npos, refused.error().message.c_str());
        using std::filesystem::perms;
        for (const auto& shared : { run, RunPaths(run).tracker() })
            std::filesystem::permissions(shared, perms::others_write, std::filesystem::perm_options::add);
        const auto again = checkQueueCanStart(space, run);
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().message.c_str());
        ::close(until[1]);
        int ended = -1;
        QCOMPARE(waitpid(other, &ended, 0), other);
        QCOMPARE(WEXITSTATUS(ended), 0);
        QVERIFY(checkQueueCanStart(space, run).ok());
    }

    /// Who queued a run just as the process that ran the queue found nothing more to do saw it run and started nobody:
    /// the entry waited for ever.
    void whatWasQueuedAsTheQueueEndedWasNeverStarted()
    {
        const auto space = workspace("queued-at-the-end");
        auto file = WorkspaceFile::open(space);
        for (int i = 0; i < 30; ++i) {
            const QueueBeside queue(space);
            while (!isLocked(queueLock(space)) && !queue.isDone)
                std::this_thread::yield();
            QVERIFY(file.value().enqueue("/nowhere/" + std::to_string(i), "ghost", "cpu").ok());
            const bool isSeenToRun = isQueueRun(space);
            QTRY_VERIFY_WITH_TIMEOUT(queue.isDone, 30'000);
            const auto entries = file.value().queue().value();
            QVERIFY2(!isSeenToRun || entries.back().state == QueueState::Ended, std::to_string(i).c_str());
            QVERIFY(file.value().setEntry(entries.back().id, QueueState::Ended, "by the test").ok());
        }
    }

    /// "No process runs the queue", said `queue add` of the one that it had just started.
    void aQueueThatWasJustStartedWasSaidToRunNowhere()
    {
        if (!std::filesystem::exists(executablePath().parent_path() / "furrowctl"))
            QSKIP("furrowctl is not built beside this test.");
        const auto space = workspace("just-started");
        auto file = WorkspaceFile::open(space);
        QVERIFY(file.value().enqueue("/nowhere/at/all", "ghost", "cpu").ok());
        QVERIFY(startQueue(space).ok());
        QVERIFY(isQueueRun(space) || file.value().queue().value().front().state == QueueState::Ended);
        QTRY_VERIFY_WITH_TIMEOUT(
            !isQueueRun(space) && file.value().queue().value().front().state == QueueState::Ended, 30'000);
    }

    /// Who ran the queue was killed: the run was finished, and the queue said "running" and would not let it go.
    void aRunThatHadEndedStoodInTheQueueAsRunning()
    {
        auto file = WorkspaceFile::open(workspace("nobody-runs-it"));
        QVERIFY(file.value().enqueue("/nowhere/at/all", "ghost", "cpu").ok());
        QVERIFY(file.value().setEntry(1, QueueState::Running, "").ok());
        const auto now = queueNow(file.value()).value().front();
        QVERIFY(now.state == QueueState::Ended && !now.outcome.empty());
        QVERIFY(settleQueue(file.value()).ok() && file.value().queue().value().front() == now);
        QVERIFY(file.value().removeEntry(1).ok());
    }

    /// Only runs of the queue counted: four of them trained beside one that a person had started.
    void theQueueStartedARunOnADeviceThatAnotherRunTrainedOn()
    {
        QCOMPARE(idsOf(startable({ entry(1, "cpu"), entry(2, "GPU-5b1e") }, { "cpu:2" })), (Ids { 2 }));
        const auto space = workspace("beside-the-queue");
        const RunPaths alive(space / "alive"); // its settings cannot be read: it may use whatever there is
        std::filesystem::create_directories(alive.folder());
        std::ofstream(alive.configFile()) << "{}";
        auto file = WorkspaceFile::open(space);
        QVERIFY(file.value().enqueue("/nowhere/at/all", "ghost", laneOf("")).ok());
        auto held = std::make_unique<Result<FileLock>>(FileLock::tryLock(alive.supervisorLock()));
        QVERIFY(held->ok());
        const QueueBeside queue(space);
        QTest::qWait(1500);
        QVERIFY(!queue.isDone);
        QVERIFY(file.value().queue().value().front().state == QueueState::Waiting);
        held.reset();
        QTRY_VERIFY_WITH_TIMEOUT(queue.isDone, 60'000);
        QVERIFY(file.value().queue().value().front().state == QueueState::Ended);
    }

    /// `queue start` said nothing, and all waited for ever: the reason stood in queue.log alone.
    void aQueueWhoseLockCannotBeOpenedWasSaidToStart()
    {
        const auto lock = queueLock(workspace("unlockable"));
        std::filesystem::create_directories(workspace("unlockable"));
        QVERIFY(checkQueueCanRun(workspace("unlockable")).ok());
        QVERIFY(!std::filesystem::exists(lock)); // a look makes nothing
        const auto isNamed = [&] {
            const auto refused = startQueue(workspace("unlockable"));
            return !refused.ok() && refused.error().message.find(lock.string()) != std::string::npos
                && !std::filesystem::exists(workspace("unlockable") / "queue.log");
        };
        std::filesystem::create_directory(lock);
        QVERIFY(isNamed());
        std::filesystem::remove(lock);
        QCOMPARE(::mkfifo(lock.c_str(), 0600), 0);
        QVERIFY(isNamed());
        std::filesystem::remove(lock);
        std::filesystem::create_symlink("/nowhere", lock);
        QVERIFY(isNamed());
        std::filesystem::remove(lock);
        const auto held = FileLock::tryLock(lock);
        QVERIFY(held.ok() && checkQueueCanRun(workspace("unlockable")).ok());
    }

    void aRunThatCannotBeginEndsWithItsReasonAndTheQueueGoesOn()
    {
        auto file = WorkspaceFile::open(workspace("broken"));
        QVERIFY(file.value().enqueue("/nowhere/at/all", "ghost", "cpu").ok());
        const StopRequest stop(false);
        QVERIFY(runQueue(workspace("broken"), stop).ok());
        const auto queue = file.value().queue().value();
        QVERIFY(queue.front().state == QueueState::Ended);
        QVERIFY2(queue.front().outcome.starts_with("failed: "), queue.front().outcome.c_str());
    }

    void runsGoToTheTrashAndComeBack()
    {
        const auto run = workspace("trash") / "runs" / "one";
        std::filesystem::create_directories(run);
        std::ofstream(run / "run.json") << "{}";
        auto trashed = moveToTrash(workspace("trash"), run);
        QVERIFY2(trashed.ok(), trashed.ok() ? "" : trashed.error().message.c_str());
        QVERIFY(!std::filesystem::exists(run));
        QCOMPARE(trashedRuns(workspace("trash")).size(), std::size_t(1));
        QVERIFY(restoreFromTrash(workspace("trash"), trashed.value()).ok());
        QVERIFY(std::filesystem::exists(run / "run.json"));
        QVERIFY(!moveToTrash(workspace("trash"), workspace("elsewhere") / "run").ok());
    }

    /// `list` showed a run made with --out WORKSPACE/NAME, and `trash` said that it did not lie in this workspace.
    void aRunBesideRunsDidNotLieInItsWorkspace()
    {
        const auto space = workspace("beside");
        for (const auto& run : { space / "one", space / "runs" / "one" }) {
            std::filesystem::create_directories(run);
            std::ofstream(run / "run.json") << "{}";
        }
        QCOMPARE(runFolders(space).size(), std::size_t(2));
        for (const auto& run : runFolders(space)) {
            const auto trashed = moveToTrash(space / "", run / "");
            QVERIFY2(trashed.ok(), trashed.ok() ? "" : trashed.error().message.c_str());
        }
        QCOMPARE(runFolders(space).size(), std::size_t(0));
        QCOMPARE(trashedRuns(space).size(), std::size_t(2));
        for (const auto& trashed : trashedRuns(space))
            QVERIFY(restoreFromTrash(space, trashed).ok());
        QVERIFY(std::filesystem::exists(space / "one" / "run.json"));
        QVERIFY(std::filesystem::exists(space / "runs" / "one" / "run.json"));
    }

    /// The queue failed at its turn: "it was moved or deleted", by Furrow itself.
    void theTrashTookARunThatWaitsInTheQueue()
    {
        const auto run = workspace("awaited") / "runs" / "one";
        std::filesystem::create_directories(run);
        std::ofstream(run / "run.json") << "{}";
        auto file = WorkspaceFile::open(workspace("awaited"));
        QVERIFY(file.ok() && file.value().enqueue(utf8Text(run), "one", "cpu").ok());
        const auto entry = file.value().queue().value().front();
        const auto refused = moveToTrash(workspace("awaited"), run / "");
        QVERIFY(!refused.ok());
        const auto wayOut = "queue remove " + std::to_string(entry.id);
        QVERIFY2(refused.error().message.find(wayOut) != std::string::npos, refused.error().message.c_str());
        QVERIFY(std::filesystem::exists(run / "run.json"));
        QVERIFY(file.value().removeEntry(entry.id).ok());
        QVERIFY(moveToTrash(workspace("awaited"), run).ok());
    }

    /// In a shared workspace anybody can put a link there: runs went into the folder of a stranger.
    void theTrashOfAWorkspaceWasALink()
    {
        const auto run = workspace("linked") / "runs" / "one";
        std::filesystem::create_directories(run);
        std::ofstream(run / "run.json") << "{}";
        std::filesystem::create_directories(workspace("loot"));
        std::filesystem::create_symlink(workspace("loot"), workspace("linked") / "trash");
        const auto refused = moveToTrash(workspace("linked"), run);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("is a link") != std::string::npos, refused.error().message.c_str());
        QVERIFY(std::filesystem::exists(run / "run.json"));
    }

    /// `trash` says that it moves runs, and moved any folder, and links.
    void aFolderThatIsNoRunWentToTheTrash()
    {
        const auto runs = workspace("strange") / "runs";
        std::filesystem::create_directories(runs / "real");
        std::ofstream(runs / "real" / "run.json") << "{}";
        std::filesystem::create_directories(runs / "notrun");
        std::ofstream(runs / "notrun" / "thesis.txt") << "mine";
        std::filesystem::create_directory_symlink(runs / "real", runs / "link");
        for (const auto& [name, why] : { std::pair { "notrun", "is not a run" }, std::pair { "link", "is a link" } }) {
            const auto refused = moveToTrash(workspace("strange"), runs / name);
            QVERIFY(!refused.ok());
            QVERIFY2(refused.error().message.find(why) != std::string::npos, refused.error().message.c_str());
            QVERIFY(std::filesystem::exists(runs / name));
        }
        const auto moved = moveToTrash(workspace("strange"), runs / "real" / "."); // "does not lie in this workspace"
        QVERIFY2(moved.ok(), moved.ok() ? "" : moved.error().message.c_str());
    }

    /// "Invalid cross-device link", and no word of what to do.
    void aRunOnAnotherDiskThanItsTrashHadNoAdvice()
    {
        QTemporaryDir other(QStringLiteral("/dev/shm/furrow-XXXXXX"));
        const std::filesystem::path runs(other.path().toStdString());
        std::filesystem::create_directories(workspace("disks"));
        struct stat here {};
        struct stat there {};
        QCOMPARE(::stat(workspace("disks").c_str(), &here), 0);
        if (!other.isValid() || ::stat(runs.c_str(), &there) != 0 || here.st_dev == there.st_dev)
            QSKIP("There is only one disk: /dev/shm is not one of its own.");
        std::filesystem::create_directory_symlink(runs, workspace("disks") / "runs");
        std::filesystem::create_directories(runs / "one");
        std::ofstream(runs / "one" / "run.json") << "{}";
        const auto refused = moveToTrash(workspace("disks"), workspace("disks") / "runs" / "one");
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("on different disks; move it by hand") != std::string::npos,
            refused.error().message.c_str());
    }

    /// In a workspace that a group may write to, `trash` moved whatever lay there.
    void theRunOfAnotherUserWentToTheTrash()
    {
        if (::geteuid() != 0)
            QSKIP("only root can become another user");
        using std::filesystem::perms;
        const auto run = workspace("shared") / "runs" / "one";
        const auto trashed = workspace("shared") / "trash" / "two";
        for (const auto& folder : { run, trashed }) {
            std::filesystem::create_directories(folder);
            std::ofstream(folder / "run.json") << "{}";
        }
        for (auto open = run; open != std::filesystem::path(folder_.path().toStdString()).parent_path();
            open = open.parent_path())
            std::filesystem::permissions(open, perms::all);
        for (const auto& open : { trashed, trashed.parent_path() })
            std::filesystem::permissions(open, perms::all);
        constexpr int kRefused = 7;
        const auto isRefused = [](const Result<std::filesystem::path>& moved) {
            return !moved.ok() && moved.error().message.find("belongs to user root. Only they") != std::string::npos;
        };
        const pid_t child = ::fork();
        if (child == 0)
            ::_exit(::setuid(65534) == 0 && isRefused(moveToTrash(workspace("shared"), run))
                        && isRefused(restoreFromTrash(workspace("shared"), trashed))
                    ? kRefused
                    : 1);
        int status = -1;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(WEXITSTATUS(status), kRefused);
        QVERIFY(std::filesystem::exists(run) && std::filesystem::exists(trashed));
        QVERIFY(moveToTrash(workspace("shared"), run).ok()); // root may
    }

    /// library.sqlite 644, queue.lock 600 and a trash of its own: a member of the group with an ordinary umask kept all
    /// others from tags, queue and trash.
    void aMemberWithAnOrdinaryUmaskLockedTheGroupOut()
    {
        const mode_t before = ::umask(022);
        const auto restore = qScopeGuard([before] { ::umask(before); });
        const auto space = workspace("of a group");
        std::filesystem::create_directory(space);
        QCOMPARE(::chmod(space.c_str(), 02775), 0);
        const auto run = space / "runs" / "one";
        auto file = WorkspaceFile::open(space);
        QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
        QVERIFY(file.value().enqueue("/nowhere/at/all", "ghost", "cpu").ok());
        const StopRequest stop(false);
        QVERIFY(runQueue(space, stop).ok());
        std::filesystem::create_directories(run);
        std::ofstream(run / "run.json") << "{}";
        QVERIFY(moveToTrash(space, run).ok());
        QVERIFY(realFileSystem().createFolders(space / "cache" / "blocks").ok());
        for (const char* made : { "library.sqlite", "library.sqlite-wal", "library.sqlite-shm", "queue.lock", "trash",
                 "cache", "cache/blocks" })
            QVERIFY2((std::filesystem::status(space / made).permissions() & std::filesystem::perms::group_write)
                    != std::filesystem::perms::none,
                made);
    }

    /// "cannot rename .../a to .../trash/a: permission denied": which folder denied it, and whose that is, was not
    /// said.
    void theTrashOfAnotherUserWasNotNamed()
    {
        if (::geteuid() != 0)
            QSKIP("only root can become another user");
        constexpr uid_t kNobody = 65534;
        const auto space = workspace("trash of root");
        const auto run = space / "runs" / "one";
        std::filesystem::create_directories(run);
        std::filesystem::create_directory(space / "trash");
        std::ofstream(run / "run.json") << "{}";
        QCOMPARE(::chown(run.c_str(), kNobody, kNobody), 0);
        for (const auto& open : { space, run.parent_path() })
            std::filesystem::permissions(open, std::filesystem::perms::all);
        std::filesystem::permissions(space / "trash", std::filesystem::perms(0755));
        std::filesystem::permissions(
            folder_.path().toStdString(), std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
        const auto named = (space / "trash").string() + " belongs to user root, who can let a group write it";
        const pid_t child = ::fork();
        if (child == 0) {
            const bool isNobody = ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
            const auto moved = moveToTrash(space, run);
            ::_exit(isNobody && !moved.ok() && moved.error().message.find(named) != std::string::npos ? 0 : 1);
        }
        int ended = -1;
        QCOMPARE(::waitpid(child, &ended, 0), child);
        QCOMPARE(WEXITSTATUS(ended), 0);
        QVERIFY(std::filesystem::exists(run / "run.json"));
    }

    /// A run may be for one alone in a workspace of several.
    void aPrivateRunIsNotSharedByItsWorkspace()
    {
        const mode_t before = ::umask(022);
        const auto restore = qScopeGuard([before] { ::umask(before); });
        const auto space = workspace("of some");
        const RunPaths run(space / "runs" / "own");
        std::filesystem::create_directories(run.folder());
        QCOMPARE(::chmod(space.c_str(), 0775), 0);
        QVERIFY(beforeWritingInto(run).ok());
        const auto isShared = [](const std::filesystem::path& made) {
            return writeFileWhole(realFileSystem(), made, "x").ok()
                && (std::filesystem::status(made).permissions() & std::filesystem::perms::group_write)
                != std::filesystem::perms::none;
        };
        QVERIFY(!isShared(run.folder() / "notes"));
        QVERIFY(isShared(space / "notes"));
        QVERIFY(isShared(space / "runs" / "notes"));
    }

    /// sudo that keeps HOME: ~/furrow was root's, and its user could never train again.
    void rootMadeAWorkspaceThatItsUserCouldNotWrite()
    {
        if (::geteuid() != 0)
            QSKIP("only root writes for others");
        const auto home = workspace("home of nobody");
        std::filesystem::create_directory(home);
        QCOMPARE(::chown(home.c_str(), 65534, 65534), 0);
        const auto isRefused = [](const Status& done) {
            return !done.ok() && done.error().message.find("sudo -u nobody furrowctl") != std::string::npos;
        };
        const auto statusOf = [](const auto& result) { return result.ok() ? Status {} : Status(result.error()); };
        for (const auto& space : { home, home / "furrow", home / "deep" / "furrow" / "" }) {
            const StopRequest stop(false);
            QVERIFY(isRefused(statusOf(WorkspaceFile::open(space))));
            QVERIFY(isRefused(runQueue(space, stop)));
            QVERIFY(isRefused(startQueue(space)));
            QVERIFY(isRefused(beforeWritingInto(RunPaths(space / "runs" / "one"))));
            QVERIFY(isRefused(statusOf(BlockCache::open(space / "cache", 0))));
        }
        QVERIFY(std::filesystem::is_empty(home));
        const auto run = home / "runs" / "one";
        std::filesystem::create_directories(run); // root's own
        std::ofstream(run / "run.json") << "{}";
        QVERIFY(isRefused(statusOf(moveToTrash(home, run))));
        QVERIFY(std::filesystem::exists(run) && !std::filesystem::exists(home / "trash"));
        qputenv("FURROW_AS_ROOT", "1");
        const bool mayAllTheSame = WorkspaceFile::open(home).ok();
        qunsetenv("FURROW_AS_ROOT");
        QVERIFY(mayAllTheSame);
    }

    /// "check the permissions of the run folder": of a workspace, and whose they are was not said.
    void theLibraryOfAnotherUserWasCalledARunFolder()
    {
        if (::geteuid() != 0)
            QSKIP("only root can become another user");
        const auto space = workspace("library of root");
        QVERIFY(WorkspaceFile::open(space).ok());
        std::filesystem::permissions(space, std::filesystem::perms::all);
        for (const auto& entry : std::filesystem::directory_iterator(space))
            QCOMPARE(::chmod(entry.path().c_str(), 0644), 0);
        std::filesystem::permissions(
            folder_.path().toStdString(), std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
        const pid_t child = ::fork();
        if (child == 0) {
            const bool isNobody = ::setgid(65534) == 0 && ::setuid(65534) == 0;
            const auto opened = WorkspaceFile::open(space);
            ::_exit(isNobody && !opened.ok()
                        && opened.error().message.find("library.sqlite belongs to user root, who can")
                            != std::string::npos
                    ? 0
                    : 1);
        }
        int ended = -1;
        QCOMPARE(::waitpid(child, &ended, 0), child);
        QCOMPARE(WEXITSTATUS(ended), 0);
    }

    /// `list` had "unreadable .../lost+found" in a workspace that is a disk of its own.
    void theFolderOfAFileSystemWasAnUnreadableRun()
    {
        constexpr uid_t kNobody = 65534;
        if (geteuid() != 0)
            QSKIP("only root can be another user");
        const auto space = workspace("own-disk");
        for (const char* name : { "lost+found", ".Trash-0", "cache", "runs/secret" }) {
            std::filesystem::create_directories(space / name);
            std::filesystem::permissions(space / name, std::filesystem::perms::owner_all);
        }
        std::filesystem::permissions(
            folder_.path().toStdString(), std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
        const pid_t child = fork();
        if (child == 0) {
            const bool isNobody = setgid(kNobody) == 0 && setuid(kNobody) == 0;
            const auto runs = runFolders(space);
            _exit(isNobody && runs.size() == 1 && runs.front().filename() == "secret" ? 0 : 1);
        }
        int ended = 0;
        QCOMPARE(waitpid(child, &ended, 0), child);
        QCOMPARE(WEXITSTATUS(ended), 0);
    }

    /// ".../nox/r cannot be looked at (Permission denied)": neither what is in the way was named, nor whose it is.
    void aFolderThatCannotBeEnteredWasNotNamed()
    {
        constexpr uid_t kNobody = 65534;
        if (geteuid() != 0)
            QSKIP("only root can be another user");
        const auto closed = workspace("nox");
        std::filesystem::create_directories(closed / "runs" / "r");
        std::filesystem::permissions(closed, std::filesystem::perms::owner_all);
        std::filesystem::permissions(
            folder_.path().toStdString(), std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
        const std::string wanted
            = "the folder " + closed.string() + " belongs to user root, who can let a group enter it (chmod g+x)";
        const pid_t child = fork();
        if (child == 0) {
            const bool isNobody = setgid(kNobody) == 0 && setuid(kNobody) == 0;
            const auto looked = checkIsRun(RunPaths(closed / "runs" / "r"));
            _exit(isNobody && !looked.ok() && looked.error().message.find(wanted) != std::string::npos ? 0 : 1);
        }
        int ended = 0;
        QCOMPARE(waitpid(child, &ended, 0), child);
        QCOMPARE(WEXITSTATUS(ended), 0);
    }

    void aRunInTrainingDoesNotGoToTheTrash()
    {
        const auto run = workspace("alive") / "runs" / "one";
        std::filesystem::create_directories(run);
        const auto held = FileLock::tryLock(RunPaths(run).supervisorLock());
        QVERIFY(held.ok());
        const auto refused = moveToTrash(workspace("alive"), run);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::Busy);
        QVERIFY(std::filesystem::exists(run));
    }

    void compareRefusesOneRunAndNine()
    {
        for (const std::size_t count : { std::size_t { 1 }, std::size_t { 9 } }) {
            const auto refused = compareRuns(std::vector<std::filesystem::path>(count, "/a")); // which is no run either
            QVERIFY(!refused.ok());
            QVERIFY2(refused.error().message.find("two to eight runs can be compared, not " + std::to_string(count))
                    != std::string::npos,
                refused.error().message.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestWorkspace)
#include "tst_workspace.moc"
