#include "core/run/status/not_saved.h"
#include "core/run/status/own_process.h"
#include "core/run/status/recorded_trouble.h"
#include "core/run/status/run_holder.h"
#include "core/run/start/recovery.h"
#include "core/run/start/replica_heads.h"

#include "core/base/denied.h"
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/told.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/run/folder/finite_weights.h"
#include "core/run/folder/kept_states.h"
#include "core/run/folder/removed_weights.h"
#include "core/run/supervise/head_check.h"
#include "core/run/supervise/keep_policy.h"
#include "core/run/audit/repair.h"
#include "core/run/start/resume_check.h"
#include "core/run/start/resume_effect.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/training_notes.h"
#include "tests/core/tracker/ledger_fixture.h"
#include "tests/fakes/fault_file_system.h"
#include "tests/fakes/read_hook.h"
#include "tests/fakes/small_weights.h"

#include <QElapsedTimer>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>
#include <thread>

#include <atomic>
#include <functional>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace furrow;

namespace {

ReplicaHeads headsOf(std::initializer_list<std::tuple<int, int, CheckpointKind>> replicas) // replica, checkpoint, kind
{
    ReplicaHeads heads;
    for (const auto& [replica, checkpoint, kind] : replicas) {
        heads.replicas.push_back({ replica, CheckpointId { checkpoint }, false });
        SupervisorLedger::CheckpointRow row;
        row.id = CheckpointId { checkpoint };
        row.record.kind = kind;
        heads.checkpoints.push_back(row);
    }
    return heads;
}

constexpr const char* kRun = "run-1"; // of Field

/// Files of another user: they can be read, and not moved or removed.
class FilesOfAnother final : public FileSystem {
public:
    bool refuses = true;

    Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& path) override
    {
        return realFileSystem().create(path);
    }
    Result<std::string> read(const std::filesystem::path& path) override { return realFileSystem().read(path); }
    Status createFolders(const std::filesystem::path& path) override { return realFileSystem().createFolders(path); }
    Status createFolder(const std::filesystem::path& path) override { return realFileSystem().createFolder(path); }
    Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override
    {
        return refuses ? no(from) : realFileSystem().rename(from, to);
    }
    Status replace(const std::filesystem::path& from, const std::filesystem::path& to) override
    {
        return refuses ? no(from) : realFileSystem().replace(from, to);
    }
    Status syncFolder(const std::filesystem::path& folder) override { return realFileSystem().syncFolder(folder); }
    Status removeAll(const std::filesystem::path& path) override
    {
        return refuses ? no(path) : realFileSystem().removeAll(path);
    }

private:
    static Status no(const std::filesystem::path& path)
    {
        return Error { ErrorCode::Io, sentence("cannot rename %1: %2", { path.string(), "Permission denied" }) };
    }
};
constexpr std::chrono::seconds kPatience { 60 };

/// A whole checkpoint folder; gives the record of it.
CheckpointRecord writeCheckpoint(
    const RunPaths& paths, const std::string& name, int replica = 0, const std::string& run = kRun)
{
    CheckpointManifest manifest;
    manifest.runId = run;
    manifest.replica = replica;
    manifest.namesParents = true;
    const auto weights = test::smallWeights(name);
    manifest.files = { { "weights.safetensors", weights.size(), sha256Hex(weights) } };
    const auto text = toJsonText(manifest);
    good(realFileSystem().createFolders(paths.checkpointFolder(name)));
    good(writeFileDurably(realFileSystem(), paths.checkpointFolder(name) / "weights.safetensors", weights));
    good(writeFileDurably(realFileSystem(), paths.checkpointFolder(name) / "manifest.json", text));
    auto written = record(replica, name);
    written.manifestSha256 = sha256Hex(text);
    return written;
}

CheckpointId trainAndWrite(const RunPaths& paths, WorkerLedger& worker, const std::string& name, int replica = 0)
{
    const auto claim = claimed(worker);
    if (!claim)
        qFatal("nothing to claim");
    good(worker.begin(*claim));
    good(worker.finish(*claim, trainedAll(*claim)));
    return good(worker.commit(writeCheckpoint(paths, name, replica), partsOf(*claim)));
}

void writeText(const std::filesystem::path& file, const std::string& text)
{
    good(realFileSystem().createFolders(file.parent_path()));
    good(writeFileDurably(realFileSystem(), file, text));
}

/// A run of three checkpoints that nobody trains.
struct Stopped {
    Field field;
    RunPaths paths { field.tracker.parent_path() };
    RunFile file;
    CheckpointId last;

    Stopped()
    {
        field.fill(1, 8);
        file.runId = kRun;
        auto worker = field.worker(0);
        for (int i = 0; i < 3; ++i)
            last = trainAndWrite(paths, worker, "r0-" + std::to_string(i));
        auto supervisor = field.supervisor();
        good(supervisor.revoke(field.ids[0], "ended"));
    }

    Result<std::vector<Message>> recover(bool acceptLoss = false)
    {
        auto supervisor = field.supervisor();
        return recoverRun(paths, file, supervisor, { .acceptLoss = acceptLoss });
    }
    std::filesystem::path weights(int number) const
    {
        return paths.checkpointFolder("r0-" + std::to_string(number)) / "weights.safetensors";
    }
};

std::string joined(const std::vector<Message>& notes)
{
    std::string text;
    for (const auto& note : notes)
        text += note + "\n";
    return text;
}

constexpr auto R = CheckpointKind::Replica;
constexpr auto M = CheckpointKind::Merge;

} // namespace

class TestRecovery : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// A worker gave up, and the supervisor read gigabytes in its only thread: no lease ended meanwhile, no stop was
    /// heard.
    void readingTheHeadsHeldTheSupervisorUp()
    {
        Stopped run;
        auto ledger = run.field.supervisor();
        std::atomic<bool> mayRead = false;
        const test::ReadHook slow(run.weights(2), [&mayRead] {
            mayRead.wait(false);
            return 0;
        });
        HeadCheck heads(run.paths, run.file.runId);
        const auto read = [&mayRead] {
            mayRead = true;
            mayRead.notify_all();
        };
        const auto atTheEnd = qScopeGuard(read); // whatever failed: the thread is waited for
        QVERIFY(!good(heads.poll(ledger)) && !heads.isOpen());
        WorkerPool::Ended gaveUp;
        heads.ask(gaveUp);
        QVERIFY(!good(heads.poll(ledger)) && heads.isOpen()); // it is being read
        gaveUp.worker = 1;
        heads.ask(gaveUp); // what it met may be newer than what was read by then
        QVERIFY(!good(heads.poll(ledger)) && heads.isOpen());
        read();
        std::vector<int> answered;
        const auto areBothAnswered = [&] {
            const auto verdict = good(heads.poll(ledger));
            if (verdict && verdict->refusal.empty() && verdict->of.size() == 1)
                answered.push_back(verdict->of.front().worker);
            return !heads.isOpen();
        };
        QTRY_VERIFY(areBothAnswered());
        QVERIFY((answered == std::vector<int> { 0, 1 }));
    }

    /// Others train while heads are read, and the keep policy removes what they leave behind: that is no damage.
    void aHeadThatWasLeftBehindWhileItWasReadIsNotMissed()
    {
        Stopped run;
        auto ledger = run.field.supervisor();
        std::atomic<bool> mayFail = false;
        const test::ReadHook gone(run.weights(2), [&mayFail] {
            mayFail.wait(false);
            return ENOENT;
        });
        HeadCheck heads(run.paths, run.file.runId);
        const auto fail = [&mayFail] {
            mayFail = true;
            mayFail.notify_all();
        };
        const auto atTheEnd = qScopeGuard(fail);
        heads.ask({});
        QVERIFY(!good(heads.poll(ledger)));
        auto worker = run.field.worker(0);
        trainAndWrite(run.paths, worker, "r0-3");
        fail();
        std::optional<HeadCheck::Verdict> verdict;
        const auto isAnswered = [&] {
            if (auto answer = good(heads.poll(ledger))) // QTRY_VERIFY asks once more
                verdict = std::move(answer);
            return verdict.has_value();
        };
        QTRY_VERIFY(isAnswered());
        QVERIFY2(verdict->refusal.empty(), verdict->refusal.c_str());
    }

    void newestWeightsThatAreDamagedAreRefusedAndKept()
    {
        Stopped run;
        auto ledger = run.field.supervisor();
        writeText(run.weights(2), "of somebody else");
        HeadCheck heads(run.paths, run.file.runId);
        heads.ask({});
        std::optional<HeadCheck::Verdict> verdict;
        const auto isAnswered = [&] {
            if (auto answer = good(heads.poll(ledger))) // QTRY_VERIFY asks once more
                verdict = std::move(answer);
            return verdict.has_value();
        };
        QTRY_VERIFY(isAnswered());
        QCOMPARE(verdict->of.size(), std::size_t(1));
        QVERIFY2(verdict->refusal.find("--accept-loss") != std::string::npos, verdict->refusal.c_str());
        QVERIFY(good(heads.waitFor(ledger, [] { return true; })) == verdict->refusal);
        for (const auto& row : good(ledger.checkpoints()))
            QVERIFY(!row.damaged); // a person is asked
    }

    /// A disk with a bad block, or one that went away while it was read. Only a hash that differs is damage.
    void newestWeightsThatTheDiskDidNotReadAreNotDamaged()
    {
        Stopped run;
        {
            const test::ReadHook bad(run.weights(2), [] { return EIO; });
            const auto refused = run.recover();
            QVERIFY(!refused.ok());
            QVERIFY2(
                refused.error().message.find("cannot be read") != std::string::npos, refused.error().message.c_str());
            QVERIFY2(refused.error().message.find("Bring the file or its disk back") != std::string::npos,
                refused.error().message.c_str());
        }
        auto ledger = run.field.supervisor();
        for (const auto& row : good(ledger.checkpoints()))
            QVERIFY(!row.damaged && row.head == (row.id == run.last));
        QVERIFY(good(run.recover()).empty()); // it is read again
    }

    /// Parts of putting a run in order waited thirty seconds for a lock of somebody else, heard no stop in that time,
    /// and failed the attempt.
    void aForeignLockEndedAnAttemptThatBegan()
    {
        Stopped run;
        good(keepGoesOnWithout(run.field.tracker, { Message("the moments are gone") }));
        auto theirs = good(Database::open(run.field.tracker, {}));
        std::optional<Transaction> held(good(Transaction::begin(theirs)));
        auto supervisor = run.field.supervisor();
        int asked = 0;
        supervisor.setPatience([&asked](std::chrono::milliseconds) {
            ++asked;
            return false; // as when a stop was asked for
        });
        QElapsedTimer timer;
        timer.start();
        const auto stopped = recoverRun(run.paths, run.file, supervisor);
        QVERIFY(!stopped.ok() && stopped.error().code == ErrorCode::Busy);
        QVERIFY(asked > 0 && timer.elapsed() < 20'000);
        QVERIFY(!good(run.field.reader().goesOnWithout()).empty());
        supervisor.setPatience([&held](std::chrono::milliseconds) {
            held.reset();
            return true;
        });
        good(recoverRun(run.paths, run.file, supervisor));
        QVERIFY(!held && good(run.field.reader().goesOnWithout()).empty());
    }

    /// It was a plain English text, so the console showed it so in every language.
    void theEndOfAWorkerThatDiedUnseenLostWhatItIsMadeOf()
    {
        Stopped run;
        (void)run.field.worker(0);
        {
            auto db = good(Database::open(run.field.tracker, {}));
            db.script("UPDATE incarnation SET start_time=start_time-1 WHERE live=1"); // of a process that is gone
            good(db.takeStatus());
        }
        good(run.recover());
        const Message cause = good(run.field.reader().incarnations()).back().endCause;
        QVERIFY2(cause.starts_with("its supervisor was gone; it was last seen at "), cause.c_str());
        QCOMPARE(std::string(cause.id()), "its supervisor was gone; it was last seen at %1 and found dead at %2");
    }

    /// The disk of the checkpoints died, and its backup was older: what it held had been removed since by the keep
    /// policy. A resume offered to begin at step 0 with these weights beside it, and --from-checkpoint refused them.
    void weightsOfABackupThatTheKeepPolicyHadRemovedWereNoWayBack()
    {
        Stopped run;
        const auto backup = run.paths.folder() / "backup";
        std::filesystem::copy(run.paths.checkpointsFolder(), backup, std::filesystem::copy_options::recursive);
        {
            auto supervisor = run.field.supervisor();
            good(supervisor.markRemoved(CheckpointId { 2 }));
            good(removeWeights(run.paths, "r0-1"));
            good(supervisor.advance());
        }
        QVERIFY(!std::filesystem::exists(run.weights(1)));
        std::filesystem::remove_all(run.paths.checkpointsFolder());
        std::filesystem::remove_all(backup / "r0-2");
        std::filesystem::rename(backup, run.paths.checkpointsFolder());

        auto supervisor = run.field.supervisor();
        const auto rows = good(supervisor.checkpoints());
        QVERIFY(isThereAgain(run.paths, kRun, rows.at(1)));
        auto reader = run.field.reader();
        const auto isWhole = [&run](CheckpointId id) { return id != run.last; };
        const auto said = good(resumeEffect(reader, std::nullopt, { isWhole, { CheckpointId { 2 } } }));
        QCOMPARE(said.again(), 1);
        QVERIFY(!run.recover().ok()); // the newest is gone: a person decides
        (void)good(run.recover(true));
        SAME(newestHead(run.field, 0), CheckpointId { 2 });
        QCOMPARE(run.field.counts()[ChunkState::Committed], 2);
        QVERIFY(std::filesystem::exists(run.weights(1)));
        verifyClean(run.field);
    }

    /// The disk with the checkpoints was away, a person accepted the loss and trained on; then the new folder went and
    /// the old one was back. doctor called the old weights whole, and a resume with --accept-loss began at step 0
    /// beside them.
    void acceptingTheLossOfNewWeightsReturnsToOlderOnesThatAreBack()
    {
        Stopped run;
        const auto away = run.paths.folder() / "away";
        std::filesystem::rename(run.paths.checkpointsFolder(), away);
        good(realFileSystem().createFolders(run.paths.checkpointsFolder()));
        QVERIFY(!run.recover().ok());
        good(run.recover(true));
        QCOMPARE(run.field.counts()[ChunkState::Committed], 0);
        {
            auto worker = run.field.worker(0);
            trainAndWrite(run.paths, worker, "r0-new");
            auto supervisor = run.field.supervisor();
            good(supervisor.revoke(run.field.ids.rbegin()->second, "ended"));
        }
        std::filesystem::rename(run.paths.checkpointsFolder(), run.paths.folder() / "new");
        std::filesystem::rename(away, run.paths.checkpointsFolder());
        QVERIFY(!run.recover().ok()); // what is newest cannot be read: a person decides
        const auto notes = joined(good(run.recover(true)));
        QVERIFY2(notes.find("it is taken back with") != std::string::npos, notes.c_str());
        QCOMPARE(run.field.counts()[ChunkState::Committed], 3);
        SAME(newestHead(run.field, 0), run.last);
        verifyClean(run.field);
    }

    void replicasThatNobodyWouldTakeUpAreMergedFirst()
    {
        // Four of seven replicas had work, and four workers came back: as many as before, but not the same ones.
        QVERIFY(mustMergeBefore(headsOf({ { 3, 1, R }, { 4, 2, R }, { 5, 3, R }, { 6, 4, R } }), 4));
        QVERIFY(mustMergeBefore(headsOf({ { 3, 1, R } }), 1)); // alone, and out of reach
        QVERIFY(mustMergeBefore(headsOf({ { 0, 1, R }, { 1, 2, R } }), 4)); // another number is a merge point
        QVERIFY(!mustMergeBefore(headsOf({ { 0, 1, R }, { 1, 2, R } }), 2));
        QVERIFY(!mustMergeBefore(headsOf({ { 0, 1, R }, { 1, 9, M } }), 2)); // the second has its base
        QVERIFY(!mustMergeBefore(headsOf({ { 0, 9, M }, { 1, 9, M }, { 6, 9, M } }), 1));
        QVERIFY(!mustMergeBefore({}, 2));
    }

    void anAddedWorkerBeganWhereTheRunBegan()
    {
        // One worker had trained for long, and nothing was ever merged: the second one began with random weights.
        const auto alone = headsOf({ { 0, 1, R } });
        QVERIFY(mustMergeBefore(alone, 2));
        QVERIFY(!mustMergeBefore(alone, 1));
        auto again = headsOf({ { 0, 10, R }, { 1, 9, M } }); // alone since a merge of two
        again.replicas[1].parked = true;
        QVERIFY(mustMergeBefore(again, 2));
        RunConfig wanted;
        wanted.workers = 2;
        const std::string words = replicasInWords(alone, wanted);
        QVERIFY2(words.find("each starts from the merge") != std::string::npos, words.c_str());
        wanted.merge = MergeMethod::None;
        const std::string fresh = replicasInWords(alone, wanted);
        QVERIFY2(fresh.find("what the run began with") != std::string::npos, fresh.c_str());
    }

    void aResumeWithFewerWorkersDidNotSayThatItMerges()
    {
        const auto two = headsOf({ { 0, 1, R }, { 1, 2, R } });
        RunConfig wanted;
        wanted.workers = 1;
        const std::string words = replicasInWords(two, wanted);
        QVERIFY2(words.find("they are merged") != std::string::npos, words.c_str());
        wanted.merge = MergeMethod::None;
        const std::string left = replicasInWords(two, wanted);
        QVERIFY2(left.find("They are not merged") != std::string::npos, left.c_str());
        wanted.workers = 2;
        QVERIFY(replicasInWords(two, wanted).empty());
    }

    void parkedReplicaWithWorkIsAPieceOfTheModel()
    {
        QVERIFY(isInPieces(headsOf({ { 0, 9, M }, { 5, 10, R } })));
        QVERIFY(!isInPieces(headsOf({ { 0, 9, M }, { 1, 9, M } })));
        QVERIFY(!isInPieces({}));
    }

    void keepPolicyKeepsTheMergeThatAKeptReplicaGrewFrom()
    {
        Field field;
        field.fill(1, 40);
        const RunPaths paths(field.tracker.parent_path());
        auto first = field.worker(0);
        auto second = field.worker(1);
        std::vector<std::string> merges;
        for (int round = 0; round < 5; ++round) {
            // Replica 1 trains in the first round only: its newest checkpoint grows from no merge, those of replica 0
            // from the newest.
            const auto mine = trainAndWrite(paths, first, "r0-" + std::to_string(round));
            auto supervisor = field.supervisor();
            const auto number = good(supervisor.openMergeRound());
            good(first.contribute(number, mine));
            good(second.contribute(number, newestHead(field, 1)));
            const auto job = good(first.takeMerge(number));
            QVERIFY(job.has_value());
            merges.push_back("m" + std::to_string(round));
            good(first.commitMerge(number, writeCheckpoint(paths, merges.back(), -1)));
        }
        trainAndWrite(paths, first, "r0-last");
        auto supervisor = field.supervisor();
        good(KeepPolicy(paths, kRun, 2).finish(supervisor, kPatience));
        std::map<std::string, bool> removed;
        std::map<std::int64_t, std::string> nameOf;
        const auto rows = good(supervisor.checkpoints());
        for (const auto& row : rows) {
            removed[row.record.folder] = row.removed;
            nameOf[row.id.value] = row.record.folder;
        }
        QVERIFY(!removed["r0-last"] && !removed["r0-4"]); // two of the line are kept
        QVERIFY(!removed["m4"]);
        QVERIFY(!removed["m3"]); // r0-4 grew from it
        QVERIFY(removed["m0"] && removed["r0-0"]);
        for (const auto& [name, gone] : removed)
            QCOMPARE(std::filesystem::exists(paths.checkpointFolder(name)), !gone);
    }

    /// Workers wrote faster than the supervisor removed, one by one, the lineage read for each: it had no turn for a
    /// heartbeat or a stop for minutes, and status said that somebody had locked the tracker.
    void checkpointsThatPiledUpKeptTheSupervisorFromItsWork()
    {
        constexpr int kCheckpoints = 40;
        Field field;
        field.fill(1, kCheckpoints);
        const RunPaths paths(field.tracker.parent_path());
        auto worker = field.worker(0);
        for (int i = 0; i < kCheckpoints; ++i)
            trainAndWrite(paths, worker, "r0-" + std::to_string(i));
        auto supervisor = field.supervisor();
        const auto left = [&supervisor] {
            const auto rows = good(supervisor.checkpoints());
            return std::ranges::count_if(rows, [](const auto& row) { return !row.removed; });
        };
        KeepPolicy policy(paths, kRun, 2, realFileSystem(), std::chrono::milliseconds(0));
        QElapsedTimer timer;
        timer.start();
        for (; left() == kCheckpoints && !timer.hasExpired(60'000); QTest::qWait(5)) // two are read whole first
            good(policy.apply(supervisor));
        QCOMPARE(left(), kCheckpoints - 16); // one step of one turn
        good(policy.finish(supervisor, kPatience));
        QCOMPARE(left(), 2);
    }

    /// Files of another user piled up until the disk was full, and supervisor.log alone said so, once for each.
    void checkpointsThatCouldNotBeRemovedWereToldInALogOnly()
    {
        Field field;
        field.fill(1, 8);
        const RunPaths paths(field.tracker.parent_path());
        auto worker = field.worker(0);
        for (int i = 0; i < 4; ++i)
            trainAndWrite(paths, worker, "r0-" + std::to_string(i));
        auto supervisor = field.supervisor();
        auto reader = field.reader();
        const auto before = good(reader.newestEvent());
        const auto told = [&] { return good(reader.eventsSince(before, 100)); };
        FilesOfAnother files;
        KeepPolicy policy(paths, kRun, 2, files, std::chrono::milliseconds(300), field.clock);
        good(policy.finish(supervisor, kPatience));
        const Message why = good(reader.notRemoved());
        QVERIFY2(tells(why, { kCannotRemove }), why.text().c_str());
        QVERIFY2(why.text().find("r0-0: cannot rename") != std::string::npos, why.text().c_str());
        QCOMPARE(told().size(), std::size_t(1)); // of two that stay
        const auto trouble = recordedTrouble(told().front());
        QVERIFY(trouble && trouble->kind == RecordedTrouble::Kind::CheckpointsStay);
        for (const auto& row : good(supervisor.checkpoints()))
            QVERIFY(!row.removed);

        files.refuses = false;
        good(policy.finish(supervisor, kPatience)); // not yet
        QVERIFY(std::filesystem::exists(paths.checkpointFolder("r0-0")));
        field.clock.advance(11 * 60);
        good(policy.finish(supervisor, kPatience));
        QVERIFY(!std::filesystem::exists(paths.checkpointFolder("r0-0")));
        QVERIFY(good(reader.notRemoved()).empty());
        QCOMPARE(told().size(), std::size_t(2));
        const auto end = recordedEnd(told().back());
        QVERIFY(end && end->kind == RecordedTrouble::Kind::CheckpointsStay);
    }

    void weightsGoAndTheirManifestStaysAsProof()
    {
        Field field;
        field.fill(1, 8);
        const RunPaths paths(field.tracker.parent_path());
        auto worker = field.worker(0);
        for (int i = 0; i < 4; ++i)
            trainAndWrite(paths, worker, "r0-" + std::to_string(i));
        const auto manifest = good(readFile(paths.checkpointFolder("r0-0") / "manifest.json"));
        auto supervisor = field.supervisor();
        good(KeepPolicy(paths, kRun, 2).finish(supervisor, kPatience));
        QVERIFY(!std::filesystem::exists(paths.checkpointFolder("r0-0")));
        QCOMPARE(good(readFile(paths.removedManifestsFolder() / "r0-0.json")), manifest);
        QVERIFY(std::filesystem::exists(paths.checkpointFolder("r0-3") / "weights.safetensors"));
    }

    /// The newest checkpoint was bad on disk, and the good ones before it were gone already.
    void olderCheckpointsStayUntilTwoNewerAreWhole()
    {
        Field field;
        field.fill(1, 8);
        const RunPaths paths(field.tracker.parent_path());
        auto worker = field.worker(0);
        for (int i = 0; i < 5; ++i)
            trainAndWrite(paths, worker, "r0-" + std::to_string(i));
        writeText(paths.checkpointFolder("r0-4") / "weights.safetensors", "flipped");
        auto supervisor = field.supervisor();
        good(KeepPolicy(paths, kRun, 2).apply(supervisor)); // nothing was read yet
        QVERIFY(std::filesystem::exists(paths.checkpointFolder("r0-0")));
        good(KeepPolicy(paths, kRun, 2).finish(supervisor, kPatience));
        for (int i = 0; i < 5; ++i)
            QCOMPARE(std::filesystem::exists(paths.checkpointFolder("r0-" + std::to_string(i))),
                i >= 2); // 3 and 2 are the whole ones
        good(realFileSystem().removeAll(
            paths.checkpointFolder("r0-3"))); // cannot be read: that counts for nothing either
        good(KeepPolicy(paths, kRun, 2).finish(supervisor, kPatience));
        QVERIFY(std::filesystem::exists(paths.checkpointFolder("r0-2")));
    }

    /// Notes beside the weights went with them when the keep policy removed the checkpoint, and so did files on a disk
    /// that was mounted there.
    void filesOfAPersonInsideACheckpointAreKept()
    {
        Stopped run;
        const auto folder = run.paths.checkpointFolder("r0-0");
        writeText(folder / "mynotes.txt", "mine");
        writeText(folder / "sub" / "thesis.txt", "mine");
        writeText(run.paths.removedManifestsFolder() / "r0-0.json", "mine too");
        auto supervisor = run.field.supervisor();
        good(KeepPolicy(run.paths, kRun, 2).finish(supervisor, kPatience));
        const auto aside = run.paths.unknownCheckpointsFolder();
        QVERIFY(!std::filesystem::exists(folder) && !std::filesystem::exists(aside / "r0-0" / "weights.safetensors"));
        SAME(good(readFile(aside / "r0-0" / "mynotes.txt")), std::string("mine"));
        SAME(good(readFile(aside / "r0-0" / "sub" / "thesis.txt")), std::string("mine"));
        SAME(good(readFile(aside / "r0-0.json")), std::string("mine too"));
        QVERIFY(good(readFile(run.paths.removedManifestsFolder() / "r0-0.json")) != "mine too");
    }

    /// Its folder came back from a backup, and the next resume deleted it again without a word.
    void aCheckpointThatWasPutBackWasDeletedAgain()
    {
        Stopped run;
        const auto backup = run.paths.folder() / "backup";
        std::filesystem::copy(run.paths.checkpointFolder("r0-0"), backup);
        auto supervisor = run.field.supervisor();
        good(KeepPolicy(run.paths, kRun, 2).finish(supervisor, kPatience));
        std::filesystem::copy(backup, run.paths.checkpointFolder("r0-0"));
        const auto notes = joined(good(run.recover()));
        QVERIFY2(notes.find("Checkpoint r0-0 had been removed and is there again") != std::string::npos, notes.c_str());
        const auto row = good(supervisor.checkpoints()).front();
        QVERIFY(!row.removed && row.pinned);
        good(KeepPolicy(run.paths, kRun, 2).finish(supervisor, kPatience));
        QVERIFY(std::filesystem::exists(run.weights(0)));
        good(supervisor.setPinned(row.id, false));
        good(KeepPolicy(run.paths, kRun, 2).finish(supervisor, kPatience));
        QVERIFY(!std::filesystem::exists(run.paths.checkpointFolder("r0-0")));
        QVERIFY(!std::filesystem::exists(
            run.paths.unknownCheckpointsFolder())); // its manifest is the one that was kept the first time
        std::filesystem::copy(backup, run.paths.checkpointFolder("r0-0"));
        writeText(run.weights(0), "damaged"); // put back, and not whole
        good(run.recover());
        SAME(good(readFile(run.paths.unknownCheckpointsFolder() / "r0-0" / "weights.safetensors")),
            std::string("damaged"));
    }

    /// One column changed in the tracker, and the resume deleted all weights.
    void aTrackerThatCallsWholeWeightsRemovedDeletedThem()
    {
        Stopped run;
        good(Database::open(run.paths.tracker(), {})).run("UPDATE checkpoint SET removed=1");
        good(run.recover());
        for (int i = 0; i < 3; ++i)
            QVERIFY(std::filesystem::exists(run.weights(i)));
        auto supervisor = run.field.supervisor();
        for (const auto& row : good(supervisor.checkpoints()))
            QVERIFY(!row.removed && !row.pinned);
    }

    /// The power went after the manifest was kept: the rest goes at the next start.
    void aRemovalThatWasBegunIsEnded()
    {
        Stopped run;
        auto supervisor = run.field.supervisor();
        good(supervisor.markRemoved(CheckpointId { 1 }));
        std::filesystem::create_directories(run.paths.removedManifestsFolder());
        std::filesystem::rename(
            run.paths.checkpointFolder("r0-0") / "manifest.json", run.paths.removedManifestsFolder() / "r0-0.json");
        QVERIFY(good(run.recover()).empty());
        QVERIFY(!std::filesystem::exists(run.paths.checkpointFolder("r0-0")));
        QVERIFY(std::filesystem::exists(run.paths.removedManifestsFolder() / "r0-0.json"));
    }

    /// A person had put weights of their own into an older checkpoint, and they went with it.
    void weightsOfAPersonWentWithTheCheckpoint()
    {
        Stopped run;
        const auto size = std::filesystem::file_size(run.weights(0));
        const std::string mine(size, 'm'); // of the same size
        std::this_thread::sleep_for(std::chrono::milliseconds(20)); // later than the manifest
        writeText(run.weights(0), mine);
        auto supervisor = run.field.supervisor();
        good(KeepPolicy(run.paths, kRun, 2).finish(supervisor, kPatience));
        QVERIFY(!std::filesystem::exists(run.paths.checkpointFolder("r0-0")));
        SAME(good(readFile(run.paths.unknownCheckpointsFolder() / "r0-0" / "weights.safetensors")), mine);
        QVERIFY(std::filesystem::exists(run.paths.removedManifestsFolder() / "r0-0.json"));
    }

    /// Whatever lay in checkpoints/ and was not in the tracker was deleted: people's copies, and all weights after an
    /// older tracker was put back.
    void whatIsUnknownIsPutAsideAndNamed()
    {
        Stopped run;
        const auto copy = run.paths.checkpointFolder("my copy of the best");
        std::filesystem::copy(run.paths.checkpointFolder("r0-1"), copy);
        writeText(run.paths.checkpointsFolder() / "notes.txt", "thesis");
        writeText(run.paths.checkpointFolder("r0-9-other.tmp") / "weights.safetensors", "half");
        writeCheckpoint(run.paths, "r0-8-foreign", 0, "run-2");
        const auto notes = joined(good(run.recover()));
        QVERIFY2(notes.find("notes.txt") != std::string::npos && notes.find("my copy of the best") != std::string::npos,
            notes.c_str());
        for (const char* name : { "my copy of the best/weights.safetensors", "notes.txt",
                 "r0-9-other.tmp/weights.safetensors", "r0-8-foreign/manifest.json" })
            QVERIFY2(std::filesystem::exists(run.paths.unknownCheckpointsFolder() / name), name);
        writeText(run.paths.checkpointsFolder() / "notes.txt", "another thesis");
        good(run.recover());
        QCOMPARE(good(readFile(run.paths.unknownCheckpointsFolder() / "notes.txt")), std::string("thesis"));
        QCOMPARE(good(entriesOf(run.paths.unknownCheckpointsFolder())).size(), std::size_t(5));
        QVERIFY(good(run.recover()).empty());
    }

    void onlyWhatThisRunWasWritingIsSwept()
    {
        Stopped run;
        good(prepareNotes(run.paths));
        good(noteWriting(run.paths, kRun, "r0-3-begun"));
        writeText(run.paths.checkpointFolder("r0-3-begun.tmp") / "weights.safetensors", "half");
        good(noteWriting(run.paths, kRun, "r0-4-published"));
        writeCheckpoint(run.paths, "r0-4-published");
        good(noteWriting(run.paths, kRun, "r0-2")); // it was committed, and the process died before the note went
        good(noteWriting(run.paths, "run-2", "r0-5-theirs"));
        writeText(run.paths.checkpointFolder("r0-5-theirs.tmp") / "weights.safetensors", "half");
        good(run.recover());
        QVERIFY(!std::filesystem::exists(run.paths.checkpointFolder("r0-3-begun.tmp")));
        QVERIFY(!std::filesystem::exists(run.paths.checkpointFolder("r0-4-published")));
        // A note may outlive the commit, and an older tracker that is put back then has no row: it was deleted.
        QVERIFY(
            std::filesystem::exists(run.paths.unknownCheckpointsFolder() / "r0-4-published" / "weights.safetensors"));
        QVERIFY(std::filesystem::exists(run.weights(2)));
        QVERIFY(std::filesystem::exists(run.paths.unknownCheckpointsFolder() / "r0-5-theirs.tmp"));
        QVERIFY(good(writingNotes(run.paths, kRun)).empty());
    }

    /// Doctor and audit called it whole, and a resume deleted every newer checkpoint.
    void anOlderTrackerStopsTheResume()
    {
        Stopped run;
        writeCheckpoint(run.paths, "r0-7-newer");
        const auto refused = run.recover();
        QVERIFY(!refused.ok());
        for (const char* part : { "r0-7-newer", "r0-2", "older than the weights" })
            QVERIFY2(refused.error().message.find(part) != std::string::npos, refused.error().message.c_str());
        QVERIFY(std::filesystem::exists(run.paths.checkpointFolder("r0-7-newer")));
        QVERIFY(good(run.recover(true)).size() == 1); // a person wants the older state
        QVERIFY(std::filesystem::exists(run.paths.unknownCheckpointsFolder() / "r0-7-newer" / "weights.safetensors"));
        QVERIFY(good(run.recover()).empty());
    }

    /// "'resume --accept-loss' goes on from the older state instead", and it began with the start weights: the keep
    /// policy had removed what the older tracker knew.
    void acceptingTheLossOfAnOlderTrackerBeganAtZeroWithoutAWord()
    {
        Stopped run;
        writeCheckpoint(run.paths, "r0-7-newer");
        const auto says = [&run](const std::string& words) {
            const auto refused = run.recover();
            const bool isSaid = !refused.ok() && refused.error().message.find(words) != std::string::npos;
            if (!isSaid)
                qWarning("%s", refused.ok() ? "not refused" : refused.error().message.c_str());
            return isSaid && refused.error().message.find("--accept-loss --dry-run'") != std::string::npos;
        };
        QVERIFY(says("go on from r0-2. Chunks that the tracker has as trained and that would be trained again: 0."));
        std::filesystem::remove_all(run.paths.checkpointFolder("r0-2"));
        QVERIFY(says("go on from r0-1. Chunks that the tracker has as trained and that would be trained again: 1."));
        for (const char* name : { "r0-0", "r0-1" })
            std::filesystem::remove_all(run.paths.checkpointFolder(name));
        QVERIFY(
            says("begin from the start weights. Chunks that it has as trained and that would be trained again: 3."));
        QVERIFY(good(olderTrackerInFull(run.paths, kRun)).find("start weights") != std::string::npos); // doctor
        good(run.recover(true));
        for (const auto& row : good(run.field.reader().checkpoints()))
            QVERIFY(!row.head && !row.surviving); // as was said
    }

    /// The audit of a run in training read rows, then the folder, which had moved on: "the tracker is older than the
    /// checkpoints".
    void aCheckpointThatIsCommittedMeanwhileIsNotNewerThanTheTracker()
    {
        Stopped run;
        good(prepareNotes(run.paths));
        good(noteWriting(run.paths, kRun, "r0-8-begun"));
        writeCheckpoint(run.paths, "r0-8-begun"); // published, its row comes with the next turn
        auto reader = good(LedgerReader::open(run.field.tracker));
        const auto strays = good(findStrays(run.paths, kRun, [&] {
            auto rows = reader.checkpoints();
            writeCheckpoint(run.paths, "r0-9-after-the-rows");
            return rows;
        }));
        QVERIFY(strays.newer.empty() && strays.unknown.empty());
        QCOMPARE(good(findStrays(run.paths, kRun, [&] { return reader.checkpoints(); })).newer.front().folder,
            std::string("r0-9-after-the-rows"));
    }

    /// "The disk of … is full", and below it "… has 5.2 MiB free, and 5.2 MiB are needed" of some time before.
    void theRoomOfBeforeStoodBelowADiskThatIsFull()
    {
        const QTemporaryDir folder;
        const auto full = folder.path().toStdString();
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0
            || ::mount("tmpfs", full.c_str(), "tmpfs", 0, "size=1m") != 0)
            QSKIP("This user may not make a small disk here: that takes root outside of containers.");
        const auto away = qScopeGuard([&full] { ::umount(full.c_str()); });
        const Message other = sentence("The supervisor process is gone.");
        RunStatus status;
        status.state = RunState::Running;
        status.evidence = { other, sentence(kCannotSave, { "1", "the disk of /runs/a has 5.2 MiB free" }) };
        sayWhatIsNotSaved(status, RunPaths(full), RunConfig {}, nullptr);
        QCOMPARE(status.evidence.size(), std::size_t(2));
        QVERIFY2(status.evidence.front().find("is full: nothing is saved") != std::string::npos,
            status.evidence.front().c_str());
        QVERIFY(status.evidence.back() == other);
    }

    /// "a process that cannot be seen from here ... is not a program of Furrow", said a resume right after a kill: the
    /// first thread of the supervisor was dead, and the last one had its lock still.
    void aSupervisorThatWasJustKilledWasTakenForAStranger()
    {
        const QTemporaryDir folder;
        const RunPaths paths(folder.path().toStdString());
        std::ofstream(paths.supervisorLock()) << "";
        int held[2] = {};
        QCOMPARE(::pipe(held), 0);
        const pid_t ending = ::fork();
        if (ending == 0) {
            (void)::flock(::open(paths.supervisorLock().c_str(), O_RDONLY), LOCK_EX);
            (void)!::write(held[1], "y", 1);
            std::thread([] {
                constexpr int kMoment = 700'000;
                ::usleep(kMoment);
                ::_exit(0);
            }).detach();
            ::syscall(SYS_exit, 0); // of the first thread alone
        }
        char told = 0;
        QVERIFY(::read(held[0], &told, 1) == 1);
        QTRY_VERIFY(!holderOf(paths).has_value());
        QVERIFY(isLocked(paths.supervisorLock()));
        QVERIFY(!staysHeld(paths));
        QCOMPARE(::waitpid(ending, nullptr, 0), ending);
        const pid_t stranger = ::fork();
        if (stranger == 0) {
            (void)::flock(::open(paths.supervisorLock().c_str(), O_RDONLY), LOCK_EX);
            (void)!::write(held[1], "y", 1);
            ::pause();
        }
        QVERIFY(::read(held[0], &told, 1) == 1);
        QVERIFY(staysHeld(paths));
        ::kill(stranger, SIGKILL);
        QCOMPARE(::waitpid(stranger, nullptr, 0), stranger);
    }

    /// Good weights with a wrong mode bit: "or 'furrowctl resume --accept-loss' goes on without it".
    void weightsOfWhichOnlyARightWasMissingWereToBeGivenUp()
    {
        const RunPaths paths("/run");
        const auto denied = [](const Message& why) {
            return Error { ErrorCode::Io,
                sentence("checkpoint %1 cannot be read: %2",
                    { "r0-2", sentence("cannot read %1", { "/w" }) + ": " + why }) };
        };
        const auto rights = denied(sentence(kMayNotRead, { "/w", sentence("user %1", { "ann" }) }));
        for (const auto& told : { waysPast(paths, rights), waysPastState(paths, rights) }) {
            QVERIFY2(told.find("--accept-loss") == std::string::npos, told.c_str());
            QVERIFY2(told.starts_with("Nothing is lost"), told.c_str());
        }
        QVERIFY(waysPast(paths, denied("the disk is away")).find("--accept-loss") != std::string::npos);
    }

    /// Training began from zero, silently, and there was no way back when the disk returned.
    void checkpointsOfADiskThatIsAwayAreNotLost()
    {
        Stopped run;
        const auto away = run.paths.folder() / "away";
        std::filesystem::rename(run.paths.checkpointsFolder(), away);
        for (const bool mountPointIsThere : { false, true }) {
            if (mountPointIsThere)
                std::filesystem::create_directories(run.paths.checkpointsFolder());
            const auto refused = run.recover();
            QVERIFY(!refused.ok());
            QVERIFY2(
                refused.error().message.find("--accept-loss") != std::string::npos, refused.error().message.c_str());
            SAME(newestHead(run.field, 0), run.last);
            QCOMPARE(run.field.counts()[ChunkState::Committed], 3);
        }
        good(run.recover(true)); // a person says yes
        SAME(newestHead(run.field, 0), CheckpointId {});
        QCOMPARE(run.field.counts()[ChunkState::Committed], 0);
        good(realFileSystem().removeAll(run.paths.checkpointsFolder()));
        std::filesystem::rename(
            away, run.paths.checkpointsFolder()); // the disk is back, and nothing was trained meanwhile
        QCOMPARE(good(run.recover()).size(), std::size_t(3));
        SAME(newestHead(run.field, 0), run.last);
        QCOMPARE(run.field.counts()[ChunkState::Committed], 3);
        verifyClean(run.field);
    }

    void aDamagedHeadIsLeftOnlyWithAYes()
    {
        Stopped run;
        writeText(run.weights(2), "flipped");
        const auto refused = run.recover();
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("weights.safetensors has another size") != std::string::npos,
            refused.error().message.c_str());
        SAME(newestHead(run.field, 0), run.last);
        QCOMPARE(good(run.recover(true)).size(), std::size_t(1));
        QCOMPARE(run.field.counts()[ChunkState::Committed], 2);
        QVERIFY(good(run.recover()).empty()); // the damaged file stays, and is read again each time
        writeText(run.weights(2), test::smallWeights("r0-2")); // a whole copy was put back
        good(run.recover());
        QCOMPARE(run.field.counts()[ChunkState::Committed], 3);
        SAME(newestHead(run.field, 0), run.last);
        verifyClean(run.field);
    }

    /// `checkpoints` was a link to a disk that others used: their folders were deleted.
    /// A run folder that came from elsewhere had any process of this user killed, by naming it as a worker.
    void aTrackerHadAProcessKilledThatIsNoneOfItsRun()
    {
        Stopped run;
        (void)run.field.worker(0);
        auto stranger = good(ChildProcess::start("/bin/sleep", { .arguments = { "600" } }));
        const ProcessIdentity named = stranger.identity();
        {
            auto db = good(Database::open(run.field.tracker, {}));
            db.run("UPDATE incarnation SET pid=?, start_time=?, boot_id=? WHERE live=1", named.pid, named.startTime,
                named.place);
            good(db.takeStatus());
        }
        QVERIFY(!isOwnProcess(run.paths, named));
        QElapsedTimer clock;
        clock.start();
        good(run.recover());
        QVERIFY(clock.elapsed() < 10'000); // nobody waits for it either
        QVERIFY(isAlive(named));
        killOwnProcess(run.paths, named);
        QVERIFY(isAlive(named));
    }
    void aProcessOfTheRunIsKnownByWhatItWasStartedWith()
    {
        Stopped run;
        const auto program = run.paths.folder() / "furrow-worker";
        std::filesystem::copy_file("/bin/sh", program);
        const auto started = [&](const std::filesystem::path& path, const std::string& folder) {
            return good(ChildProcess::start(path,
                { .arguments = { "-c", "while :; do sleep 1; done", folder },
                    .workingFolder = run.paths.folder().parent_path() }));
        };
        const auto relative = started(program, utf8Text(run.paths.folder().filename()));
        const auto ofAnother = started(program, utf8Text(run.paths.folder().parent_path()));
        const auto another = started("/bin/sh", utf8Text(run.paths.folder()));
        QTRY_VERIFY(isOwnProcess(run.paths, relative.identity()));
        QVERIFY(!isOwnProcess(run.paths, ofAnother.identity()));
        QVERIFY(!isOwnProcess(run.paths, another.identity()));
        QVERIFY(isOfAnotherFolder(run.paths, ofAnother.identity()));
        QVERIFY(!isOfAnotherFolder(run.paths, relative.identity()));
        QVERIFY(!isOfAnotherFolder(run.paths, another.identity())); // nobody knows what it does
        killOwnProcess(run.paths, relative.identity());
        QTRY_VERIFY(!isAlive(relative.identity()));
    }

    void aLinkInTheRunFolderIsNotFollowed_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : { "checkpoints", "checkpoints/removed", "checkpoints/unknown", "telemetry", "logs",
                 "memory", "evaluations", "cache", "tracker.sqlite" })
            QTest::newRow(name) << QString::fromLatin1(name);
    }
    void aLinkInTheRunFolderIsNotFollowed()
    {
        QFETCH(QString, name);
        Stopped run;
        QTemporaryDir elsewhere;
        const std::filesystem::path shared = elsewhere.path().toStdString();
        writeText(shared / "theirs" / "weights", "of somebody else");
        const auto link = run.paths.folder() / name.toStdString();
        if (std::filesystem::exists(link))
            std::filesystem::rename(link, shared / "mine");
        std::filesystem::create_symlink(std::filesystem::exists(shared / "mine") ? shared / "mine" : shared, link);
        auto ledger = SupervisorLedger::open(
            name == QStringLiteral("tracker.sqlite") ? shared / "mine" : run.field.tracker, run.field.clock);
        const auto refused = recoverRun(run.paths, run.file, ledger.value(), { .acceptLoss = true });
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("is a link") != std::string::npos, refused.error().message.c_str());
        QVERIFY(std::filesystem::exists(shared / "theirs" / "weights"));
    }

    void
    acceptingTheLossOfAFolderThatIsAwayGaveChunksUpAndThenFailed() // "cannot create the folder checkpoints/writing: it
                                                                   // or its folder does not exist"
    {
        Stopped run;
        std::filesystem::rename(run.paths.checkpointsFolder(), run.paths.folder() / "away");
        good(run.recover(true));
        QVERIFY(std::filesystem::is_directory(run.paths.writingNotesFolder()));
    }

    void aCheckpointBehindALinkIsNotDeleted()
    {
        Stopped run;
        QTemporaryDir elsewhere;
        const std::filesystem::path disk = elsewhere.path().toStdString();
        std::filesystem::rename(run.paths.checkpointFolder("r0-0"), disk / "r0-0");
        std::filesystem::create_directory_symlink(disk / "r0-0", run.paths.checkpointFolder("r0-0"));
        std::filesystem::create_directory_symlink(disk, run.paths.checkpointFolder("shared"));
        const auto notes = joined(good(run.recover()));
        QVERIFY2(notes.find("shared is a link") != std::string::npos, notes.c_str());
        auto supervisor = run.field.supervisor();
        good(KeepPolicy(run.paths, kRun, 2).finish(supervisor, kPatience));
        QVERIFY(std::filesystem::exists(disk / "r0-0" / "weights.safetensors")
            && std::filesystem::exists(disk / "r0-0" / "manifest.json"));
        QVERIFY(isLink(run.paths.checkpointFolder("shared")));
    }

    /// A run of a million chunks was audited for seconds before it was said that its tokenizer is missing.
    void aRefusalWaitedForTheAuditOfTheLedger_data()
    {
        QTest::addColumn<std::function<void(const RunPaths&)>>("harm");
        QTest::addColumn<QString>("named"); // "": nothing refuses before, so the ledger is audited
        const auto row = [](const char* name, const char* named, std::function<void(const RunPaths&)> harm) {
            QTest::newRow(name) << std::move(harm) << QString::fromLatin1(named);
        };
        row("in order", "", [](const RunPaths&) { });
        row("no tokenizer", "tokenizer.json",
            [](const RunPaths& paths) { std::filesystem::remove(paths.tokenizer()); });
        row("a folder for a lock", "supervisor.lock: it is a folder",
            [](const RunPaths& paths) { std::filesystem::create_directory(paths.supervisorLock()); });
        row("newest weights that are away", "Bring the file or its disk back",
            [](const RunPaths& paths) { std::filesystem::remove_all(paths.checkpointsFolder()); });
        row("a link", "is a link", [](const RunPaths& paths) {
            std::filesystem::rename(paths.checkpointsFolder(), paths.folder() / "away");
            std::filesystem::create_directory_symlink(paths.folder() / "away", paths.checkpointsFolder());
        });
    }
    void aRefusalWaitedForTheAuditOfTheLedger()
    {
        QFETCH(std::function<void(const RunPaths&)>, harm);
        QFETCH(QString, named);
        Stopped run;
        const auto tokenizer = byteTokenizer();
        run.file.tokenizerHash = tokenizer->hash();
        run.file.config.seed = 7; // as the tracker of Field
        run.file.config.shuffle = false;
        run.file.config.shuffleWindowBlocks = TrackerConfig().shuffleWindowBlocks;
        run.file.config.seqLen = 0;
        writeText(run.paths.tokenizer(), tokenizer->definition());
        harm(run.paths);
        int audits = 0;
        auto reader = run.field.reader();
        const auto verdict = checkResume(run.paths, run.file, reader, {}, [&] {
            ++audits;
            return audit(run.paths.tracker());
        });
        QCOMPARE(audits, named.isEmpty() ? 1 : 0);
        if (named.isEmpty()) // what is audited then is invented: its blocks have no plans
            return;
        QVERIFY(!verdict.ok());
        QVERIFY2(QString::fromStdString(verdict.error().message).contains(named), verdict.error().message.c_str());
    }

    /// The WAL went first: a repair that was cut short left an older tracker that looked whole.
    void aTrackerThatIsMovedAsideGoesBeforeItsWal()
    {
        for (const int failing : { 1, 2, 3, 0 }) {
            QTemporaryDir folder;
            const std::filesystem::path at = folder.path().toStdString();
            for (const char* ending : { "", "-wal", "-shm" })
                writeText(at / (std::string("tracker.sqlite") + ending), ending);
            FaultFileSystem files(at);
            files.failAt(failing);
            QCOMPARE(moveDatabase(files, at / "tracker.sqlite", at / "aside").ok(), failing == 0);
            QCOMPARE(std::filesystem::exists(at / "tracker.sqlite"), failing == 1);
            QVERIFY(
                std::filesystem::exists(at / "tracker.sqlite-wal") || !std::filesystem::exists(at / "tracker.sqlite"));
        }
    }
};

QTEST_GUILESS_MAIN(TestRecovery)
#include "tst_recovery.moc"
