#include "ledger_fixture.h"

#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/base/file_system.h"
#include "core/base/utf8.h"
#include "core/run/folder/run_file.h"
#include "core/run/start/life_cycle.h"
#include "core/tracker/audit/audit.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/audit/rebuild.h"
#include "core/tracker/schema.h"
#include "core/tracker/sqlite/tracker_locks.h"
#include "tests/core/base/foreign_lock.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QScopeGuard>

#include <zstd.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <thread>

#ifdef __linux__
#include <fcntl.h>
#include <unistd.h>
#endif

using namespace furrow;
using enum ChunkState;

namespace {

std::filesystem::path besideTracker(const Field& field, const char* ending)
{
    auto path = field.tracker;
    path += ending;
    return path;
}

} // namespace

/// The file under the ledger: transactions, versions, damage, snapshots.
class TestTrackerFile : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void rollsBackWhenNotCommitted();
    void firstFailureStopsTheTransaction();
    void writersWaitForTheirTurn();
    void whoHoldsTheLockIsNamed();
    void aLockForReadingThatKeepsWritersAwayWasNotNamed();
    void aWalThatCouldNotBeTakenUpSaidLockingProtocol();
    void eachOpeningWaitedAnewForWhoHadLockedTheWholeFile();
    void patienceDecidesHowLongAWriterWaits();
    void aReaderThatStandsStillHoldsNobodyUp();
    void aWalThatAReaderKeepsIsSpokenOf();
    void aLockOfAnOpenFileHadNoHolder();
    void createRefusesAnExistingFile();
    void readersWroteBesideTheTargetOfALink_data();
    void readersWroteBesideTheTargetOfALink();
    void aTrackerWithASecondNameWasChanged();
    void aRunFolderThatIsALinkIsReadAndWritten();
    void copyWasWrittenThroughALink();
    void aCopyIntoALockedFileWasTriedForEver();
    void missingAndStrangeFilesAreNamed_data();
    void missingAndStrangeFilesAreNamed();
    void flippedBytesAreFoundAndNamed();
    void cutFileIsRefusedOrFound();
    void newerVersionIsRefusedByEveryReader();
    void olderVersionIsMigratedAfterACopy();
    void anOldTrackerIsReadMigratedAndTrainedToItsEnd_data();
    void anOldTrackerIsReadMigratedAndTrainedToItsEnd();
    void aRunThatAnOlderFurrowTrainsIsNotMigrated();
    void onlyAnOlderTrackerIsOlder();
    void aSentenceIsKeptWithWhatItIsMadeOf();
    void aSnapshotWithLargerPagesIsAdopted();
    void failedMigrationLeavesTheFileAsItWas();
    void onlyTheSupervisorEmptiesTheWal();
    void aMovedWalIsWrittenFromItsStartAgain();
    void snapshotOpensWithoutAWal();
    void aReaderMadeFilesInAFolderThatWasBeingRemoved_data();
    void aReaderMadeFilesInAFolderThatWasBeingRemoved();
    void aTrackerWithoutItsWalIsReadAsItIs();
    void theMarkOfANewerVersionWentIntoTheSnapshotToo();
    void whatLayBesideAnUnfinishedSnapshotStayed();
    void snapshotTookAFileOfAPersonForItsOwnRemains();
    void aSentenceHeldTheRawBytesOfADamagedFile();
    void readerSeesChangesOnce();
    void controlReachesTheWorker();
    void auditFindsAChunkThatIsTwiceInTheWeights();
    void auditFindsAHole();
    void auditFindsOverlappingClaims();
    void auditFindsChangedCountersAndRows();
    void auditFindsAShortcutThatWouldOverlookSomething();
    void auditNamesPoisonedAndLostChunks();
    void aChunkThatWasLostTwiceWasTwoFindings();
    void aChunkGivenUpByGoingBackWasToldOfAsOneThatDied();
    void aLostChunkThatNobodyGotWasCalledGivenOutAgain();
    void auditJsonHasTheAgreedKeys();
    void eventOfATrillionChunksHoldsNobodyUp();
    void idsThatNoRunCanHaveAreDamageToEveryReader_data();
    void idsThatNoRunCanHaveAreDamageToEveryReader();
};

namespace {

void tamper(Field& field, const char* sql)
{
    auto db = good(Database::open(field.tracker, {}));
    auto transaction = good(Transaction::begin(db));
    db.script(sql);
    good(transaction.commit(), sql);
}

void unpack(const std::filesystem::path& packed, const std::filesystem::path& target)
{
    const std::string bytes = good(readFile(packed, 1 << 20));
    std::string text(ZSTD_getFrameContentSize(bytes.data(), bytes.size()), '\0');
    QCOMPARE(ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size()), text.size());
    std::ofstream(target, std::ios::binary) << text;
}

bool hasFinding(const AuditReport& report, FindingKind kind)
{
    return std::any_of(report.findings.begin(), report.findings.end(),
        [&](const AuditFinding& finding) { return finding.kind == kind && !finding.text.empty(); });
}

void overwrite(const std::filesystem::path& path, std::uint64_t at, const std::string& bytes)
{
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

} // namespace

void TestTrackerFile::rollsBackWhenNotCommitted()
{
    Field field;
    auto db = good(Database::open(field.tracker, {}));
    {
        auto transaction = good(Transaction::begin(db));
        db.run("UPDATE control SET desired=2");
    }
    QCOMPARE(db.integer("SELECT desired FROM control"), std::optional<std::int64_t>(0));
}

void TestTrackerFile::firstFailureStopsTheTransaction()
{
    Field field;
    auto db = good(Database::open(field.tracker, {}));
    auto transaction = good(Transaction::begin(db));
    db.run("UPDATE control SET desired=1");
    db.run("INSERT INTO epoch (epoch, opened_wall) VALUES (0, 0)"); // exists
    QCOMPARE(db.run("UPDATE control SET desired=2"), 0);
    const Status status = transaction.commit();
    QVERIFY(!status.ok());
    QVERIFY(status.error().message.find("tracker.sqlite") != std::string::npos);
    QCOMPARE(db.integer("SELECT desired FROM control"), std::optional<std::int64_t>(0));
}

void TestTrackerFile::writersWaitForTheirTurn()
{
    Field field;
    auto first = good(Database::open(field.tracker, {}));
    std::optional<Transaction> held(good(Transaction::begin(first)));
    Database::Options impatient;
    impatient.busyMs = 30;
    auto second = good(Database::open(field.tracker, impatient));
    QCOMPARE(Transaction::begin(second).error().code, ErrorCode::Busy);
    std::jthread releases([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        held.reset();
    });
    auto third = good(Database::open(field.tracker, {}));
    good(good(Transaction::begin(third)).commit());
}

#ifdef __linux__
#define SKIP_WHERE_LOCKS_ARE_NOT_TOLD
#else
#define SKIP_WHERE_LOCKS_ARE_NOT_TOLD QSKIP("this system does not tell who holds a lock")
#endif

void TestTrackerFile::whoHoldsTheLockIsNamed()
{
    SKIP_WHERE_LOCKS_ARE_NOT_TOLD;
    Field field;
    auto db = good(Database::open(field.tracker, {}));
    good(good(Transaction::read(db)).commit()); // it has the file open
    QVERIFY(trackerLocks(field.tracker).told);
    QVERIFY(!trackerLocks(field.tracker).writer);
    const auto held = good(Transaction::begin(db));
    const auto writer = trackerLocks(field.tracker).writer;
    QVERIFY(writer.has_value());
    QCOMPARE(writer->pid, thisProcess().pid);
    SAME(writer->program, "tst_tracker_fil"); // the kernel keeps 15 letters
    QVERIFY(!writer->stopped);
    Database::Options impatient;
    impatient.busyMs = 0;
    auto other = good(Database::open(field.tracker, impatient));
    const auto refused = Transaction::begin(other).error();
    QVERIFY2(refused.message.find("process " + std::to_string(writer->pid) + " (tst_tracker_fil)") != std::string::npos,
        refused.message.c_str());
}

// Another user's lock for reading, which takes no more than the right to read the file, stopped a run, and nobody was
// named.
void TestTrackerFile::aLockForReadingThatKeepsWritersAwayWasNotNamed()
{
    SKIP_WHERE_LOCKS_ARE_NOT_TOLD;
    Field field;
    auto db = good(Database::open(field.tracker, {}));
    good(good(Transaction::read(db)).commit());
    const test::ForeignLock lock(besideTracker(field, "-shm"), 120);
    const auto writer = trackerLocks(field.tracker).writer;
    QVERIFY(writer && writer->pid == lock.pid());
    Database::Options impatient;
    impatient.busyMs = 0;
    auto other = good(Database::open(field.tracker, impatient));
    const auto refused = Transaction::begin(other).error();
    QVERIFY(refused.code == ErrorCode::Busy);
    QVERIFY2(
        refused.message.find("process " + std::to_string(lock.pid())) != std::string::npos, refused.message.c_str());
}

// "locking protocol": SQLite's words, without a holder and without advice.
void TestTrackerFile::aWalThatCouldNotBeTakenUpSaidLockingProtocol()
{
    SKIP_WHERE_LOCKS_ARE_NOT_TOLD;
    Field field;
    good(field.supervisor().requestSave()); // it is closed, and leaves a WAL
    {
        const test::ForeignLock lock(besideTracker(field, "-shm"), 122);
        const auto locks = trackerLocks(field.tracker);
        QVERIFY(!locks.writer && locks.keeper && locks.keeper->pid == lock.pid());
    }
    const test::ForeignLock lock(besideTracker(field, "-shm"), 120);
    const auto opened = LedgerReader::open(field.tracker);
    QVERIFY(!opened.ok());
    QVERIFY(opened.error().code == ErrorCode::Busy);
    QVERIFY2(opened.error().message.find("process " + std::to_string(lock.pid())) != std::string::npos,
        opened.error().message.c_str());
}

// A lock of somebody else on byte 0x40000000: a command that opened the tracker four times answered after 20 s.
void TestTrackerFile::eachOpeningWaitedAnewForWhoHadLockedTheWholeFile()
{
    SKIP_WHERE_LOCKS_ARE_NOT_TOLD;
    Field field;
    std::optional<test::ForeignLock> lock(std::in_place, field.tracker, 0x40000000, 1);
    QVERIFY(lock->pid() > 0);
    QElapsedTimer timer;
    timer.start();
    for (int opening = 0; opening < 4; ++opening) {
        const auto opened = LedgerReader::open(field.tracker);
        QVERIFY(!opened.ok());
        QCOMPARE(opened.error().code, ErrorCode::Busy);
        QVERIFY2(opened.error().message.find("process " + std::to_string(lock->pid())) != std::string::npos,
            opened.error().message.c_str());
    }
    QVERIFY2(timer.elapsed() < 4'900, qPrintable(QString::number(timer.elapsed())));
    lock.reset();
    QVERIFY(LedgerReader::open(field.tracker).ok());
}

void TestTrackerFile::patienceDecidesHowLongAWriterWaits()
{
    Field field;
    auto first = good(Database::open(field.tracker, {}));
    std::optional<Transaction> held(good(Transaction::begin(first)));
    Database::Options impatient;
    impatient.busyMs = 0;
    auto second = good(Database::open(field.tracker, impatient));
    int asked = 0;
    second.setPatience([&](std::chrono::milliseconds) { return ++asked < 3; });
    QCOMPARE(Transaction::begin(second).error().code, ErrorCode::Busy);
    QCOMPARE(asked, 3);
    second.setPatience([&](std::chrono::milliseconds waited) {
        if (waited > std::chrono::milliseconds(1200)) // by now it polls slowly
            held.reset();
        return true;
    });
    good(good(Transaction::begin(second)).commit());
}

// The WAL was reset under the write lock, and SQLite waited there for readers: a `furrowctl audit` stopped by Ctrl+Z
// froze training for 30 s.
void TestTrackerFile::aReaderThatStandsStillHoldsNobodyUp()
{
    Field field;
    field.fill(4, 10);
    auto db = good(Database::open(field.tracker, {}));
    std::optional<Transaction> still(good(Transaction::read(db)));
    QVERIFY(db.integer("SELECT count(*) FROM chunk")); // what it sees is fixed from here on
    auto supervisor = field.supervisor();
    std::atomic<std::int64_t> written = 0;
    std::int64_t longestMs = 0;
    std::jthread writing([&](std::stop_token stop) {
        auto worker = field.worker(0);
        for (; !stop.stop_requested(); ++written) {
            QElapsedTimer turn;
            turn.start();
            good(worker.renew({}, 60));
            longestMs = std::max<std::int64_t>(longestMs, turn.elapsed());
        }
    });
    QTRY_VERIFY(written > 0);
    for (int i = 0; i < 20; ++i)
        QVERIFY(!good(supervisor.checkpointWal())); // it says that the WAL goes on growing
    const auto before = written.load();
    QTRY_VERIFY(written > before);
    writing.request_stop();
    writing.join();
    QVERIFY2(longestMs < 2000, qPrintable(QString::number(longestMs)));
    still.reset();
    QVERIFY(good(supervisor.checkpointWal()));
}

void TestTrackerFile::aWalThatAReaderKeepsIsSpokenOf()
{
    Field field;
    auto reader = good(Database::open(field.tracker, {}));
    std::optional<Transaction> still(good(Transaction::read(reader)));
    QVERIFY(reader.integer("SELECT count(*) FROM chunk"));
    auto db = good(Database::open(field.tracker, {}));
    for (int i = 0; i < 70; ++i) {
        auto transaction = good(Transaction::begin(db, Durability::Normal));
        db.run("UPDATE control SET one=one");
        db.run(
            "INSERT INTO meta (key, value) VALUES (?, ?)", "ballast " + std::to_string(i), std::string(1 << 20, 'x'));
        good(transaction.commit());
    }
    auto supervisor = field.supervisor();
    QVERIFY(!good(supervisor.checkpointWal()));
    const std::string said = sayWhatKeepsTheWal(field.tracker);
    QVERIFY2(said.find("tracker.sqlite-wal has grown to") != std::string::npos, said.c_str());
#ifdef __linux__
    QVERIFY2(said.find("process " + std::to_string(thisProcess().pid)) != std::string::npos, said.c_str());
#endif
    still.reset();
    QVERIFY(good(supervisor.emptyWal()));
    QVERIFY(sayWhatKeepsTheWal(field.tracker).empty());
}

/// It belongs to no process in the kernel's list: "nobody has locked it: look at the disk".
void TestTrackerFile::aLockOfAnOpenFileHadNoHolder()
{
#ifdef F_OFD_SETLK
    int file = -1; // closed behind the connections, whose own locks would go with it
    const auto atTheEnd = qScopeGuard([&file] { ::close(file); });
    Field field;
    const auto worker = field.worker(0);
    QVERIFY(!trackerLocks(field.tracker).writer);
    file = ::open((field.tracker.string() + "-shm").c_str(), O_RDONLY | O_CLOEXEC);
    QVERIFY(file >= 0);
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 120;
    lock.l_len = 1;
    QCOMPARE(::fcntl(file, F_OFD_SETLK, &lock), 0);
    const auto writer = trackerLocks(field.tracker).writer;
    QVERIFY(writer.has_value());
    QCOMPARE(writer->pid, thisProcess().pid);
#endif
}

void TestTrackerFile::createRefusesAnExistingFile()
{
    Field field;
    QVERIFY(!SupervisorLedger::create(field.tracker, { "other" }, {}).ok());
    QCOMPARE(good(field.reader().runId()), std::string("run-1"));
}

void TestTrackerFile::readersWroteBesideTheTargetOfALink_data()
{
    QTest::addColumn<QString>("ending");
    for (const char* ending : { "", "-wal", "-shm", "-journal" })
        QTest::newRow(*ending == 0 ? "the tracker" : ending) << QString::fromLatin1(ending);
}

/// A status of a folder that somebody sent made files beside the target of a link in it.
void TestTrackerFile::readersWroteBesideTheTargetOfALink()
{
    QFETCH(QString, ending);
    Field field;
    QTemporaryDir elsewhere;
    const auto target = std::filesystem::path(elsewhere.path().toStdString()) / "target";
    const std::filesystem::path link = field.tracker.string() + ending.toStdString();
    if (std::filesystem::exists(link))
        std::filesystem::rename(link, target);
    else
        std::ofstream(target) << "of somebody else";
    std::filesystem::create_symlink(target, link);
    for (const Error& error : { WorkerLedger::open(field.tracker, "run-1").error(),
             SupervisorLedger::open(field.tracker).error(), FeederLedger::open(field.tracker).error(),
             LedgerReader::open(field.tracker).error(), audit(field.tracker).error() }) {
        QCOMPARE(error.code, ErrorCode::InvalidArgument);
        QVERIFY2(error.message.find(link.string() + " is a link, and Furrow writes and deletes nothing through links")
                != std::string::npos,
            error.message.c_str());
    }
    QCOMPARE(good(entriesOf(target.parent_path())).size(), std::size_t(1));
}

namespace {

/// A run.json beside a tracker: the verbs of a run ask for it first.
void makeRun(const RunPaths& paths)
{
    RunFile file;
    file.runId = "run-1";
    file.preset = "char";
    file.samplesPerBlock = 100;
    file.vocabularySize = 257;
    file.dataManifest = R"({"version":1,"sources":[{"files":[{"path":"/a","size":3}]}]})";
    good(writeRunFile(paths, file));
}

} // namespace

/// `chunks retry` in a copy made by cp -al changed the tracker of the original.
void TestTrackerFile::aTrackerWithASecondNameWasChanged()
{
    Field field;
    const RunPaths paths(field.tracker.parent_path());
    makeRun(paths);
    QVERIFY(openForControl(paths).ok());
    QTemporaryDir elsewhere;
    const auto other = std::filesystem::path(elsewhere.path().toStdString()) / "tracker.sqlite";
    std::filesystem::create_hard_link(field.tracker, other);
    const auto refused = openForControl(paths);
    QVERIFY(!refused.ok());
    QVERIFY2(refused.error().message.find("has a second name") != std::string::npos, refused.error().message.c_str());
    good(LedgerReader::open(field.tracker)); // readers are not refused
}

void TestTrackerFile::aRunFolderThatIsALinkIsReadAndWritten()
{
    Field field;
    field.fill(2, 20);
    QTemporaryDir elsewhere;
    const auto run = std::filesystem::path(elsewhere.path().toStdString()) / "run";
    std::filesystem::create_directory_symlink(field.tracker.parent_path(), run);
    QVERIFY(good(audit(run / field.tracker.filename())).isClean());
    good(SupervisorLedger::open(run / field.tracker.filename()));
}

void TestTrackerFile::copyWasWrittenThroughALink()
{
    Field field;
    QTemporaryDir elsewhere;
    const std::filesystem::path theirs = std::filesystem::path(elsewhere.path().toStdString()) / "theirs.sqlite";
    std::ofstream(theirs).flush(); // an empty file is a database without tables
    const auto link = field.tracker.parent_path() / "copy.sqlite";
    std::filesystem::create_symlink(theirs, link);
    const auto copied = good(Database::open(field.tracker, {})).backupTo(link);
    QVERIFY(!copied.ok());
    QVERIFY2(copied.error().message.find("is a link") != std::string::npos, copied.error().message.c_str());
    QCOMPARE(std::filesystem::file_size(theirs), std::uintmax_t(0));
}

// It was tried without end, and nobody was named.
void TestTrackerFile::aCopyIntoALockedFileWasTriedForEver()
{
    SKIP_WHERE_LOCKS_ARE_NOT_TOLD;
    Field field;
    const auto target = field.tracker.parent_path() / "copy.sqlite";
    std::ofstream(target).flush();
    Database::Options impatient;
    impatient.busyMs = 50;
    int asked = 0;
    auto db = good(Database::open(field.tracker, impatient));
    {
        const test::ForeignLock lock(target);
        QVERIFY(lock.pid() > 0);
        const auto refused = db.backupTo(target);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().code, ErrorCode::Busy);
        QVERIFY2(refused.error().message.find("process " + std::to_string(lock.pid())) != std::string::npos,
            refused.error().message.c_str());
        db.setPatience([&asked](std::chrono::milliseconds) { return ++asked < 3; });
        QVERIFY(!db.backupTo(target).ok());
        QVERIFY(asked >= 3); // each time it may be told to stop
    }
    good(db.backupTo(target));
    QVERIFY(LedgerReader::open(target).ok());
}

void TestTrackerFile::missingAndStrangeFilesAreNamed_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("code");
    QTest::newRow("missing") << QByteArray() << int(ErrorCode::NotFound);
    QTest::newRow("empty") << QByteArray("") << int(ErrorCode::Corrupt);
    QTest::newRow("text") << QByteArray("this is not a tracker, it is a text of more than sixteen bytes")
                          << int(ErrorCode::Corrupt);
    QTest::newRow("magic only") << QByteArray("SQLite format 3\0", 16) << int(ErrorCode::Corrupt);
}

void TestTrackerFile::missingAndStrangeFilesAreNamed()
{
    QFETCH(QByteArray, bytes);
    QFETCH(int, code);
    QTemporaryDir folder;
    const std::filesystem::path path = std::filesystem::path(folder.path().toStdString()) / "tracker.sqlite";
    if (!bytes.isNull())
        std::ofstream(path, std::ios::binary).write(bytes.constData(), bytes.size());
    for (const Error& error : { WorkerLedger::open(path, "run-1").error(), SupervisorLedger::open(path).error(),
             FeederLedger::open(path).error(), LedgerReader::open(path).error(), audit(path).error() }) {
        QCOMPARE(int(error.code), code);
        QVERIFY2(error.message.find("tracker.sqlite") != std::string::npos, error.message.c_str());
        if (error.code == ErrorCode::Corrupt)
            QVERIFY2(
                error.message.find("--repair") != std::string::npos || error.message.find("WAL") != std::string::npos,
                error.message.c_str());
    }
}

void TestTrackerFile::flippedBytesAreFoundAndNamed()
{
    Field field;
    field.fill(20, 20);
    good(field.supervisor().emptyWal());
    const auto size = std::filesystem::file_size(field.tracker);
    for (std::uint64_t at = 8192; at < size; at += 4096)
        overwrite(field.tracker, at, std::string(64, '\x5a')); // the head of most pages
    auto worker = WorkerLedger::open(field.tracker, "run-1");
    Error error;
    if (!worker.ok()) {
        error = worker.error();
    } else if (auto started = worker.value().start({ field.attempt, 0, 0, "cpu", "" }, 60); !started.ok()) {
        error = started.error();
    } else {
        auto claim = worker.value().claim();
        QVERIFY(!claim.ok());
        error = claim.error();
    }
    QCOMPARE(error.code, ErrorCode::Corrupt);
    QVERIFY2(error.message.find("furrowctl doctor") != std::string::npos, error.message.c_str());
    const auto report = audit(field.tracker);
    QVERIFY(!report.ok() || !report.value().integrityOk);
}

void TestTrackerFile::cutFileIsRefusedOrFound()
{
    Field field;
    field.fill(20, 20);
    good(field.supervisor().emptyWal());
    const auto size = std::filesystem::file_size(field.tracker);
    for (const double share : { 0.9, 0.5, 0.1 }) {
        std::filesystem::resize_file(field.tracker, static_cast<std::uintmax_t>(static_cast<double>(size) * share));
        const auto report = audit(field.tracker);
        QVERIFY(!report.ok() || !report.value().isClean());
        if (!report.ok())
            QCOMPARE(report.error().code, ErrorCode::Corrupt);
    }
}

void TestTrackerFile::newerVersionIsRefusedByEveryReader()
{
    Field field;
    const std::string newer = std::to_string(kTrackerVersion + 1);
    tamper(field, ("PRAGMA user_version=" + newer).c_str());
    for (const Error& error :
        { WorkerLedger::open(field.tracker, "run-1").error(), SupervisorLedger::open(field.tracker).error(),
            FeederLedger::open(field.tracker).error(), LedgerReader::open(field.tracker).error() }) {
        QCOMPARE(error.code, ErrorCode::InvalidArgument);
        QVERIFY2(error.message.find("version " + newer) != std::string::npos, error.message.c_str());
    }
}

void TestTrackerFile::olderVersionIsMigratedAfterACopy()
{
    Field field;
    field.fill(2, 3);
    auto db = good(Database::open(field.tracker, {}));
    const MigrationStep steps[] = { { kTrackerVersion, "ALTER TABLE epoch ADD COLUMN note TEXT" },
        { kTrackerVersion + 1, "UPDATE epoch SET note='seen'" } };
    good(migrateSchema(db, steps, kTrackerVersion + 2));
    QCOMPARE(db.integer("PRAGMA user_version"), std::optional(kTrackerVersion + 2));
    QCOMPARE(db.integer("SELECT count(*) FROM epoch WHERE note='seen'"), std::optional<std::int64_t>(1));
    good(migrateSchema(db, steps, kTrackerVersion + 2)); // again: nothing to do
    std::filesystem::path backup = field.tracker;
    backup += ".v" + std::to_string(kTrackerVersion) + ".bak";
    auto reader = good(LedgerReader::open(backup)); // the copy is whole and of the old version
    QCOMPARE(good(reader.epochs())[0].chunks.sum(), 6);
    QVERIFY(!LedgerReader::open(field.tracker).ok()); // the new one is too new for this program
}

void TestTrackerFile::onlyAnOlderTrackerIsOlder()
{
    Field field;
    QVERIFY(!good(SupervisorLedger::isOlder(field.tracker)));
    const auto setVersion = [&field](std::int64_t version) {
        auto db = good(Database::open(field.tracker, {}));
        db.script(("PRAGMA user_version=" + std::to_string(version)).c_str());
        good(db.takeStatus());
    };
    setVersion(kTrackerVersion - 1); // a migration would make tables that are there
    const auto tampered = SupervisorLedger::isOlder(field.tracker);
    QVERIFY(!tampered.ok() && tampered.error().code == ErrorCode::Corrupt);
    QVERIFY2(tampered.error().message.text().find("doctor") != std::string::npos, tampered.error().message.c_str());
    tamper(field, "DROP TABLE active_stretch");
    QVERIFY(good(SupervisorLedger::isOlder(field.tracker)));
    setVersion(kTrackerVersion + 1);
    const auto refused = SupervisorLedger::isOlder(field.tracker);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, ErrorCode::InvalidArgument);
}

void TestTrackerFile::anOldTrackerIsReadMigratedAndTrainedToItsEnd_data()
{
    QTest::addColumn<int>("version");
    QTest::addColumn<int>("epoch"); // the newest
    QTest::addColumn<int>("chunks"); // of it
    QTest::addColumn<int>("committed"); // of them
    // Runs in which a worker was killed and then everything; the second one held trained chunks then.
    QTest::newRow("version 1") << 1 << 0 << 84 << 23;
    QTest::newRow("version 4") << 4 << 1 << 100 << 47;
}

void TestTrackerFile::anOldTrackerIsReadMigratedAndTrainedToItsEnd()
{
    QFETCH(const int, version);
    QFETCH(const int, epoch);
    QFETCH(const int, chunks);
    QFETCH(const int, committed);
    const auto at = static_cast<std::size_t>(epoch);
    Field field;
    field.removeTracker();
    unpack(FURROW_TEST_DATA "/tracker_v" + std::to_string(version) + ".sqlite.zst", field.tracker);
    const auto before = good(audit(field.tracker)); // nobody has migrated it: it is read as it is
    QVERIFY(before.isClean());
    QCOMPARE(before.epochs.at(at).committed, committed);
    QCOMPARE(good(field.reader().cells(epoch)).size(), static_cast<std::size_t>(chunks));
    const auto partsBehindEach = [&] {
        std::vector<std::size_t> counts;
        for (const auto& row : good(field.reader().checkpoints()))
            counts.push_back(good(field.reader().partsBehind(row.id)).size());
        return counts;
    };
    const auto partsBefore = partsBehindEach();

    QVERIFY(!SupervisorLedger::open(field.tracker).ok()); // opening changes nothing: an older Furrow may be training it
    QCOMPARE(good(audit(field.tracker)).epochs.at(at).digest, before.epochs.at(at).digest);
    good(SupervisorLedger::migrate(
        field.tracker, good(FileLock::tryLock(field.tracker.parent_path() / "supervisor.lock"))));
    field.attempt = good(field.supervisor().beginAttempt(thisProcess(), "{}"));
    std::filesystem::path backup = field.tracker;
    backup += ".v" + std::to_string(version) + ".bak";
    QCOMPARE(good(audit(backup)).epochs.at(at).digest, before.epochs.at(at).digest);
    for (const auto& row : good(field.reader().incarnations()))
        if (row.live)
            good(field.supervisor().revoke(row.id, "its process is gone")); // what it held is free
    const auto migrated = good(audit(field.tracker));
    QVERIFY2(migrated.isClean(), auditText(migrated).c_str());
    QCOMPARE(migrated.epochs.at(at).digest, before.epochs.at(at).digest);
    QCOMPARE(partsBehindEach(), partsBefore);
    auto worker = good(WorkerLedger::open(field.tracker, before.runId, field.clock));
    good(worker.start({ field.attempt, 0, 0, "cpu", "test" }, 60));
    std::vector<Part> parts;
    std::int64_t trained = 0; // to the end of this epoch, and those that the rules want after it
    while (const auto claim = claimed(worker)) {
        ++trained;
        ChunkOutcome outcome = trainedAll(*claim);
        outcome.tokens = good(Database::open(field.tracker, {}))
                             .integer("SELECT tokens FROM chunk WHERE id=?", claim->chunk)
                             .value_or(0);
        good(worker.finish(*claim, outcome));
        for (const auto& range : claim->remaining)
            parts.push_back({ claim->chunk, range });
    }
    CheckpointRecord record { CheckpointKind::Replica, 0, "r0-after", "sha", 1, 1, {}, 1, {} };
    for (const auto& replica : good(field.reader().replicas()))
        if (replica.replica == 0 && replica.head)
            record.parents.push_back(*replica.head);
    const CheckpointId newest = good(worker.commit(record, parts));
    const auto after = good(audit(field.tracker));
    QVERIFY2(after.isClean(), auditText(after).c_str());
    QCOMPARE(after.epochs.at(at).committed, chunks);

    // Checkpoints of both times know their parts: what is damaged leaves the weights, no more and no less.
    QVERIFY(trained >= chunks - committed);
    QCOMPARE(good(field.supervisor().markDamaged(newest, "bit flip")), trained);
    if (!record.parents.empty())
        QVERIFY(good(field.supervisor().markDamaged(record.parents[0], "bit flip")) > 0);
    const auto damaged = good(audit(field.tracker));
    QVERIFY2(damaged.isClean(), auditText(damaged).c_str());
}

// The console found the English text again by patterns: a name that reads like a setting was translated.
void TestTrackerFile::aSentenceIsKeptWithWhatItIsMadeOf()
{
    Field field;
    const Message detail = sentence("%1 epochs", { Count(1234) });
    good(field.supervisor().endAttempt(field.attempt, StopReason::Error, detail));
    const auto read = [&field] { return good(field.reader().attempts()).front().detail; };
    QCOMPARE(read().text(), std::string("1,234 epochs"));
    QCOMPARE(messageParts(read()), messageParts(detail));
    tamper(field, "UPDATE message SET parts='{\"id\":\"%1 lies\",\"args\":[\"1,234 epochs\"]}'");
    QCOMPARE(read().text(), std::string("1,234 epochs"));
    QVERIFY(read().isPlain());
    tamper(
        field, "DROP TABLE message; DROP TABLE active_stretch; PRAGMA user_version=5"); // as an earlier Furrow left it
    QCOMPARE(read().text(), std::string("1,234 epochs"));
    QVERIFY(read().isPlain());
}

// A newer furrowctl changed the tables under the processes of an older one, whose next write failed.
void TestTrackerFile::aRunThatAnOlderFurrowTrainsIsNotMigrated()
{
    Field field;
    field.removeTracker();
    unpack(FURROW_TEST_DATA "/tracker_v4.sqlite.zst", field.tracker);
    const RunPaths run(field.tracker.parent_path());
    makeRun(run);
    const auto version
        = [&] { return good(Database::open(field.tracker, {})).integer("PRAGMA user_version").value_or(0); };
    tamper(field,
        "UPDATE meta SET value='run-1' WHERE key='run_id';" // that of makeRun()
        "UPDATE budget SET active_ns=9000000000; UPDATE attempt SET ended_wall=started_wall+12000000000");
    const auto active = [&] { return good(field.reader().activeStretches()); };
    const auto before = active();
    QCOMPARE(activeSecondsUntil(before, std::numeric_limits<std::int64_t>::max()), 9.0);
    std::optional<FileLock> held(good(FileLock::tryLock(run.supervisorLock()))); // by the older one
    const auto refused = openForControl(run).error();
    QCOMPARE(refused.code, ErrorCode::InvalidArgument);
    QVERIFY2(refused.message.find("older Furrow trains the run, use that one") != std::string::npos,
        refused.message.c_str());
    QCOMPARE(version(), 4);
    held.reset(); // it has stopped
    good(good(openForControl(run)).setDesired(DesiredState::Stop));
    QCOMPARE(version(), kTrackerVersion);
    QCOMPARE(active().size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) // the same before it was migrated and after
        QVERIFY(active()[i].beganWallNs == before[i].beganWallNs && active()[i].activeNs == before[i].activeNs);
}

// A repair starts from the last snapshot, which an earlier Furrow may have made with pages of another size.
void TestTrackerFile::aSnapshotWithLargerPagesIsAdopted()
{
    Field field;
    field.removeTracker();
    std::filesystem::path snapshot = field.tracker;
    snapshot += ".snapshot";
    unpack(FURROW_TEST_DATA "/tracker_v4.sqlite.zst", snapshot);
    good(adoptSnapshot(snapshot, field.tracker));
    QVERIFY(!adoptSnapshot(snapshot, field.tracker).ok()); // never over another one
    field.attempt = good(field.supervisor().beginAttempt(thisProcess(), "{}"));
    QCOMPARE(good(audit(field.tracker)).epochs.at(0).committed, 100);
}

void TestTrackerFile::failedMigrationLeavesTheFileAsItWas()
{
    Field field;
    auto db = good(Database::open(field.tracker, {}));
    const MigrationStep steps[]
        = { { kTrackerVersion, "ALTER TABLE epoch ADD COLUMN note TEXT; UPDATE nothing SET x=1" } };
    QVERIFY(!migrateSchema(db, steps, kTrackerVersion + 1).ok());
    QCOMPARE(db.integer("PRAGMA user_version"), std::optional(kTrackerVersion));
    QVERIFY(field.supervisor().advance().ok());
}

void TestTrackerFile::onlyTheSupervisorEmptiesTheWal()
{
    Field field;
    field.fill(10, 20);
    std::filesystem::path wal = field.tracker;
    wal += "-wal";
    auto keepsOpen = field.supervisor(); // the last connection that may checkpoint
    {
        auto worker = field.worker(0);
        for (int i = 0; i < 200; ++i) {
            const auto claim = claimed(worker);
            good(worker.finish(*claim, trainedAll(*claim)));
        }
    }
    QVERIFY(std::filesystem::file_size(wal) > 1'000'000);
    good(keepsOpen.emptyWal());
    QCOMPARE(std::filesystem::file_size(wal), std::uintmax_t(0));
}

void TestTrackerFile::aMovedWalIsWrittenFromItsStartAgain()
{
    Field field;
    field.fill(10, 20);
    std::filesystem::path wal = field.tracker;
    wal += "-wal";
    auto supervisor = field.supervisor();
    auto worker = field.worker(0);
    const auto train = [&worker](int chunks) {
        for (int i = 0; i < chunks; ++i) {
            const auto claim = claimed(worker);
            good(worker.finish(*claim, trainedAll(*claim)));
        }
    };
    train(100);
    good(supervisor.checkpointWal());
    const auto size = std::filesystem::file_size(wal);
    QVERIFY(size > 500'000);
    train(50);
    QCOMPARE(std::filesystem::file_size(wal), size);
}

void TestTrackerFile::snapshotOpensWithoutAWal()
{
    Field field;
    field.fill(2, 3);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const std::filesystem::path view = field.tracker.parent_path() / "view.sqlite";
    for (int i = 0; i < 2; ++i)
        good(field.supervisor().publishSnapshot(view));
    auto reader = good(LedgerReader::open(view));
    QCOMPARE(good(reader.epochs())[0].chunks[Committed], 1);
    QCOMPARE(good(reader.checkpoints()).size(), std::size_t(1));
    std::filesystem::path wal = view;
    wal += "-wal";
    QVERIFY(!std::filesystem::exists(wal));
    QVERIFY(!WorkerLedger::open(view, "run-1").ok()); // a view is not for training
}

/// `rm -rf` of a run that the console showed ended with "Directory not empty": SQLite makes a WAL for readers too.
void TestTrackerFile::aReaderMadeFilesInAFolderThatWasBeingRemoved_data()
{
    QTest::addColumn<QStringList>("order");
    QTest::addColumn<bool>("inOrder"); ///< the run was stopped, so its WAL is empty
    for (const char* order :
        { "-wal -shm file", "-wal file -shm", "file -wal -shm", "file -shm -wal", "-shm -wal file", "-shm file -wal" })
        QTest::addRow("stopped, %s", order) << QString::fromLatin1(order).split(QLatin1Char(' ')) << true;
    for (const char* order : { "-wal -shm file", "-wal file -shm", "file -wal -shm", "file -shm -wal" })
        QTest::addRow("killed, %s", order) << QString::fromLatin1(order).split(QLatin1Char(' ')) << false;
}
void TestTrackerFile::aReaderMadeFilesInAFolderThatWasBeingRemoved()
{
    QFETCH(QStringList, order);
    QFETCH(bool, inOrder);
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    if (inOrder)
        QVERIFY(good(field.supervisor().emptyWal()));
    const auto folder = field.tracker.parent_path() / "copy";
    const auto tracker = folder / field.tracker.filename();
    int read = 0;
    std::atomic<bool> over = false;
    std::thread console([&] {
        while (!over) {
            auto reader = LedgerReader::open(tracker, {}, ReadFor::Look);
            read += reader.ok() && reader.value().totals().ok() ? 1 : 0;
        }
    });
    std::vector<std::string> left;
    for (int round = 0; round < 30; ++round) {
        std::filesystem::create_directory(folder);
        for (const char* ending : { "-shm", "-wal", "" }) // the file last: as of a run that is there
            std::filesystem::copy_file(field.tracker.string() + ending, tracker.string() + ending);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        for (const QString& name : order) {
            std::filesystem::remove(tracker.string() + (name == QLatin1String("file") ? "" : name.toStdString()));
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            left.push_back(entry.path().filename().string());
        std::filesystem::remove_all(folder);
    }
    over = true;
    console.join();
    QVERIFY(read > 0);
    QVERIFY2(left.empty(), left.empty() ? "" : left.front().c_str());
}

/// A copy of the file alone, and what is written to it afterwards: who opened it before that says that it does not see
/// it.
void TestTrackerFile::aTrackerWithoutItsWalIsReadAsItIs()
{
    Field field;
    field.fill(1, 2);
    QVERIFY(good(field.supervisor().emptyWal()));
    auto live = good(LedgerReader::open(field.tracker));
    QVERIFY(!live.isOfOneMoment());
    const auto copy = field.tracker.parent_path() / "copy?.sqlite"; // a name that a URI would cut
    std::filesystem::copy_file(field.tracker, copy);
    auto before = good(LedgerReader::open(copy, {}, ReadFor::Look));
    QVERIFY(before.isOfOneMoment());
    SAME(good(before.runId()), good(live.runId()));
    QVERIFY(!std::filesystem::exists(copy.string() + "-wal") && !std::filesystem::exists(copy.string() + "-shm"));
    {
        auto writer = good(SupervisorLedger::open(copy));
        good(writer.setDesired(DesiredState::Pause));
    }
    QVERIFY(good(before.totals()).desired == DesiredState::Run);
    auto after = good(LedgerReader::open(copy, {}, ReadFor::Look));
    QVERIFY(!after.isOfOneMoment() && good(after.totals()).desired == DesiredState::Pause);
}

/// Where somebody marked the tracker of a live run, status had no numbers at all.
void TestTrackerFile::theMarkOfANewerVersionWentIntoTheSnapshotToo()
{
    Field field;
    field.fill(1, 2);
    const auto snapshot = field.tracker.parent_path() / "view.sqlite";
    auto supervisor = field.supervisor();
    good(supervisor.publishSnapshot(snapshot));
    tamper(field, ("PRAGMA user_version=" + std::to_string(kTrackerVersion + 1)).c_str());
    good(supervisor.publishSnapshot(snapshot));
    good(LedgerReader::open(snapshot));
    tamper(field, ("PRAGMA user_version=" + std::to_string(kTrackerVersion)).c_str());
    std::filesystem::remove(snapshot);
    good(supervisor.publishSnapshot(snapshot));
    good(LedgerReader::open(snapshot));
}

/// A supervisor that was killed while it made one left two more files for ever.
void TestTrackerFile::whatLayBesideAnUnfinishedSnapshotStayed()
{
    Field field;
    field.fill(1, 2);
    const auto folder = field.tracker.parent_path();
    for (const char* ending : { "", "-wal", "-shm", "-journal" })
        std::ofstream(folder / ("view.sqlite.0123456789abcdef.tmp" + std::string(ending))) << "half";
    const auto theirs = folder / "view.sqlite.notes.tmp-wal";
    std::ofstream(theirs) << "mine";
    good(field.supervisor().publishSnapshot(folder / "view.sqlite"));
    for (const auto& file : good(entriesOf(folder)))
        QVERIFY2(file == theirs || file.filename().string().find(".tmp") == std::string::npos, file.c_str());
    QVERIFY(std::filesystem::exists(theirs));
}

void TestTrackerFile::snapshotTookAFileOfAPersonForItsOwnRemains()
{
    Field field;
    field.fill(1, 2);
    const auto folder = field.tracker.parent_path();
    const auto theirs = folder / "view.sqlite.tmp";
    const auto alsoTheirs = folder / "view.sqlite.0123456789abcdeX.tmp";
    const auto remains = folder / "view.sqlite.0123456789abcdef.tmp"; // of a supervisor that was killed
    for (const auto& file : { theirs, alsoTheirs, remains })
        std::ofstream(file) << "mine";
    good(field.supervisor().publishSnapshot(folder / "view.sqlite"));
    QCOMPARE(good(readFile(theirs)), std::string("mine"));
    QCOMPARE(good(readFile(alsoTheirs)), std::string("mine"));
    QVERIFY(!std::filesystem::exists(remains));
    for (const auto& file : good(entriesOf(folder)))
        QVERIFY2(file == theirs || file == alsoTheirs || file.extension() != ".tmp", file.c_str());
}

/// The words of SQLite quote a damaged file, and a sentence with such a byte in it was no JSON and no text.
void TestTrackerFile::aSentenceHeldTheRawBytesOfADamagedFile()
{
    Field field;
    const auto file = field.tracker.parent_path() / "copy.sqlite";
    {
        auto db = good(Database::open(field.tracker, {}));
        db.script("CREATE TABLE of_somebody (words TEXT)");
        db.run("INSERT INTO of_somebody VALUES (CAST(? AS TEXT))",
            std::string("a\xff"
                        "b"));
        auto rows = db.query("SELECT words FROM of_somebody");
        QVERIFY(rows.next());
        QCOMPARE(rows.text(0),
            std::string("a\xEF\xBF\xBD"
                        "b"));
        good(db.backupTo(file));
    }
    auto bytes = good(readFile(file));
    const auto place = bytes.find("CREATE TABLE of_somebody");
    QVERIFY(place != std::string::npos);
    bytes[place + 8] = '\xff';
    good(writeFileWhole(realFileSystem(), file, bytes));
    const auto opened = LedgerReader::open(file);
    QVERIFY(!opened.ok());
    QVERIFY2(opened.error().message.find("is damaged") != std::string::npos, opened.error().message.c_str());
    QVERIFY2(isValidUtf8(opened.error().message), opened.error().message.c_str());
}

void TestTrackerFile::readerSeesChangesOnce()
{
    Field field;
    field.fill(2, 3);
    auto reader = field.reader();
    std::int64_t seq = 0;
    QCOMPARE(good(reader.changedCells(0, seq)).size(), std::size_t(6));
    QVERIFY(good(reader.changedCells(0, seq)).empty());
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const auto changed = good(reader.changedCells(0, seq));
    QCOMPARE(changed.size(), std::size_t(1));
    SAME(changed[0].state, Committed);
    QCOMPARE(int(changed[0].worker), 0);
    QCOMPARE(int(changed[0].timesTrained), 1);
    QCOMPARE(changed[0].meanLoss, 2.0F);
    const auto cells = good(reader.cells(0));
    QCOMPARE(cells.size(), std::size_t(6));
    SAME(cells[0].state, Committed);
    QVERIFY(std::isnan(cells[1].meanLoss));
    const auto incarnation = good(reader.incarnations()).at(0);
    QVERIFY(incarnation.live);
    QCOMPARE(incarnation.deviceName, std::string("test"));
    QCOMPARE(good(reader.block(1)).rows, 3 * Field::kRows);
    QVERIFY(!good(reader.eventsSince(0, 1000)).empty());
}

void TestTrackerFile::controlReachesTheWorker()
{
    Field field;
    auto worker = field.worker(0);
    auto supervisor = field.supervisor();
    SAME(good(worker.desired()), DesiredState::Run);
    good(supervisor.setDesired(DesiredState::Stop));
    good(supervisor.requestSave());
    good(supervisor.requestSave());
    good(supervisor.requestEvaluation());
    const auto signals = good(worker.signals());
    SAME(signals.desired, DesiredState::Stop);
    QCOMPARE(signals.saveRequest, 2);
    QCOMPARE(signals.evalRequest, 1);
    QCOMPARE(signals.mergeRound, 0);
    good(field.feeder().heartbeat(thisProcess(), "preparing block 3"));
    const auto totals = good(field.reader().totals());
    QCOMPARE(totals.feederDoing, std::string("preparing block 3"));
    QVERIFY(totals.feeder == thisProcess() && totals.supervisor == thisProcess());
}

void TestTrackerFile::auditFindsAChunkThatIsTwiceInTheWeights()
{
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    tamper(field,
        "INSERT INTO claim (chunk, incarnation, outcome, claimed_wall, ranges, position_tokens, opened_seq, closed_seq)"
        " SELECT chunk, incarnation, 1, 1, ranges, 0, 900, 901 FROM claim WHERE id=1;"
        "INSERT INTO part (claim, first, past, chunk, checkpoint) SELECT max(id), 2, 7, chunk, 2 FROM claim");
    const AuditReport report = good(audit(field.tracker));
    QVERIFY(!report.isClean());
    QCOMPARE(report.epochs[0].duplicated, 1);
    QVERIFY(hasFinding(report, FindingKind::Duplicated));
    const auto found = std::find_if(report.findings.begin(), report.findings.end(),
        [](const auto& finding) { return finding.kind == FindingKind::Duplicated; });
    QCOMPARE(found->claims.size(), std::size_t(2)); // both time lines
    QVERIFY(!report.invariants[1].holds);
}

void TestTrackerFile::auditFindsAHole()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    good(field.supervisor().advance());
    QVERIFY(good(audit(field.tracker)).isClean());
    tamper(field, "DELETE FROM part");
    const AuditReport report = good(audit(field.tracker));
    QCOMPARE(report.epochs[0].missing, 1);
    QVERIFY(!report.epochs[0].complete);
    QVERIFY(!report.isClean() && hasFinding(report, FindingKind::Missing));
}

void TestTrackerFile::auditFindsOverlappingClaims()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    claimed(worker);
    tamper(field,
        "INSERT INTO claim (chunk, incarnation, claimed_wall, ranges, position_tokens, opened_seq)"
        " SELECT chunk, incarnation, 1, ranges, 0, opened_seq+1 FROM claim WHERE id=1");
    const AuditReport report = good(audit(field.tracker));
    QCOMPARE(report.epochs[0].overlappingClaims, 1);
    QVERIFY(hasFinding(report, FindingKind::OverlappingClaims));
}

void TestTrackerFile::auditFindsChangedCountersAndRows()
{
    Field field;
    field.fill(2, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    tamper(field, "UPDATE counts SET n1=n1-1, n4=n4+1 WHERE block=1");
    QVERIFY(!good(audit(field.tracker)).invariants[0].holds);
    tamper(field, "UPDATE chunk SET samples=samples-1 WHERE state=4");
    const AuditReport report = good(audit(field.tracker));
    QVERIFY(!report.invariants[2].holds && !report.epochs[0].rowsAddUp);
    tamper(field, "UPDATE epoch SET closed_wall=5");
    QVERIFY(!good(audit(field.tracker)).invariants[3].holds);
}

void TestTrackerFile::auditFindsAShortcutThatWouldOverlookSomething()
{
    Field field;
    field.fill(2, 2);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    const auto held = claimed(worker);
    QVERIFY(held && good(audit(field.tracker)).isClean());
    const auto finds = [&](const char* damage, const char* repair, const std::string& text, std::size_t invariant) {
        tamper(field, damage);
        const AuditReport report = good(audit(field.tracker));
        tamper(field, repair);
        return !report.invariants[invariant].holds
            && std::any_of(report.findings.begin(), report.findings.end(),
                [&](const AuditFinding& finding) { return finding.text.find(text) != std::string::npos; });
    };
    QVERIFY(finds("UPDATE counts SET wanted=1-wanted WHERE block=1", "UPDATE counts SET wanted=1-wanted WHERE block=1",
        "block 1 (epoch 1) is not marked", 0));
    QVERIFY(finds("UPDATE incarnation SET first_held=first_held+5", "UPDATE incarnation SET first_held=first_held-5",
        "would overlook it", 0));
    QVERIFY(finds("UPDATE checkpoint SET last_claim=0", "UPDATE checkpoint SET last_claim=first_claim",
        "checkpoint 1 has parts of claims", 1));
    QVERIFY(good(audit(field.tracker)).isClean());
}

void TestTrackerFile::auditNamesPoisonedAndLostChunks()
{
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    for (int attempt = 0; attempt < 3; ++attempt) {
        good(worker.fail(*claimed(worker), Error { ErrorCode::Corrupt, "checksum differs" }));
        field.prepareAgain(0, 3);
    }
    const auto lost = claimed(worker);
    good(worker.begin(*lost));
    good(worker.finish(*lost, trainedAll(*lost)));
    good(field.supervisor().revoke(field.ids[0], "killed by SIGKILL"));
    const AuditReport report = good(audit(field.tracker));
    QVERIFY2(report.isClean(), auditText(report).c_str()); // named, not hidden: nothing is wrong
    QCOMPARE(report.epochs[0].poisoned, 1);
    QCOMPARE(report.epochs[0].chunksLost, 1);
    QCOMPARE(report.epochs[0].tokensLost, Field::kTokens);
    const std::string text = auditText(report);
    QVERIFY2(
        text.find("checksum differs") != std::string::npos && text.find("SIGKILL") != std::string::npos, text.c_str());
}

namespace {

std::vector<AuditFinding> lostFindings(const AuditReport& report)
{
    std::vector<AuditFinding> found;
    std::ranges::copy_if(report.findings, std::back_inserter(found),
        [](const AuditFinding& finding) { return finding.kind == FindingKind::Lost; });
    return found;
}

} // namespace

void TestTrackerFile::aChunkThatWasLostTwiceWasTwoFindings()
{
    Field field;
    field.fill(1, 1);
    for (int attempt = 0; attempt < 2; ++attempt) {
        auto worker = field.worker(attempt);
        const auto lost = claimed(worker);
        good(worker.begin(*lost));
        good(worker.finish(*lost, trainedAll(*lost)));
        good(field.supervisor().revoke(field.ids[static_cast<std::size_t>(attempt)], "killed by SIGKILL"));
    }
    const AuditReport report = good(audit(field.tracker));
    QCOMPARE(report.epochs[0].chunksLost, 2);
    const auto found = lostFindings(report);
    QCOMPARE(found.size(), std::size_t { 1 });
    QVERIFY2(found[0].text.find("2 as their workers ended before a checkpoint had them (killed by SIGKILL)")
            != std::string::npos,
        found[0].text.c_str());
    QCOMPARE(found[0].claims.size(), std::size_t { 2 });
}

/// It was complete and in a checkpoint, and a person gave it up.
void TestTrackerFile::aChunkGivenUpByGoingBackWasToldOfAsOneThatDied()
{
    Field field;
    field.fill(1, 2);
    auto worker = field.worker(0);
    const CheckpointId first = trainOne(worker, 0, "c1");
    trainOne(worker, 0, "c2");
    auto supervisor = field.supervisor();
    good(supervisor.revoke(field.ids[0], "stopped"));
    good(supervisor.goBackTo(first));
    const auto told = [&field] { return lostFindings(good(audit(field.tracker))).at(0).text.text(); };
    QCOMPARE(told(),
        "trainings of chunk 1 of block 0 (epoch 1) lost with their weights: 1 as the run went back to an older "
        "checkpoint (checkpoint 1); it is to be trained again");
    auto again = field.worker(0);
    trainOne(again, 0, "c3");
    QVERIFY2(told().ends_with("; it was trained again"), told().c_str());
}

void TestTrackerFile::aLostChunkThatNobodyGotWasCalledGivenOutAgain()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    good(worker.begin(*claimed(worker)));
    good(field.supervisor().revoke(field.ids[0], "the run was killed"));
    const auto told = [&field] { return lostFindings(good(audit(field.tracker))).at(0).text.text(); };
    QVERIFY2(told().ends_with("(the run was killed); it is to be trained again"), told().c_str());
    auto again = field.worker(0);
    (void)claimed(again);
    QVERIFY2(told().ends_with("; it was given out again"), told().c_str());
}

void TestTrackerFile::auditJsonHasTheAgreedKeys()
{
    Field field;
    field.fill(1, 1);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    good(field.supervisor().advance());
    const QJsonObject json
        = QJsonDocument::fromJson(QByteArray::fromStdString(auditJson(good(audit(field.tracker))))).object();
    const QJsonObject epoch = json["epochs"].toArray()[0].toObject();
    QCOMPARE(epoch["epoch"].toInt(-1), 1); // as everywhere
    QCOMPARE(epoch["expected"].toInt(-1), 1);
    QCOMPARE(epoch["committed"].toInt(-1), 1);
    for (const char* key : { "duplicated", "missing", "excluded", "poisoned", "overlapping_claims" })
        QCOMPARE(epoch[QLatin1String(key)].toInt(-1), 0);
    QVERIFY(epoch["complete"].toBool());
    QCOMPARE(epoch["digest"].toString().size(), 16);
    const std::string page = auditHtml(good(audit(field.tracker)));
    QVERIFY(page.find("committed once") != std::string::npos && page.find("</html>") != std::string::npos
        && page.find("http") == std::string::npos);
}

void TestTrackerFile::eventOfATrillionChunksHoldsNobodyUp()
{
    Field field;
    field.fill(1, 3);
    tamper(field, "UPDATE event SET count=1000000000000");
    auto reader = field.reader();
    std::int64_t seq = 0;
    const auto changed = reader.changedCells(0, seq);
    const auto events = reader.eventsSince(0, 100);
    QVERIFY(!changed.ok() && !events.ok());
    SAME(changed.error().code, ErrorCode::Corrupt);
    QVERIFY2(
        events.error().message.find("chunks of one event 1000000000000, which no run can have") != std::string::npos,
        events.error().message.c_str());
    // As many as a block can hold are no damage, and cost what there is.
    tamper(
        field, "UPDATE event SET count=1000000-chunk%1000000 WHERE chunk<>0; UPDATE event SET count=1 WHERE chunk=0");
    QCOMPARE(good(reader.changedCells(0, seq)).size(), std::size_t(3));
}

void TestTrackerFile::idsThatNoRunCanHaveAreDamageToEveryReader_data()
{
    QTest::addColumn<QByteArray>("sql");
    QTest::newRow("chunk") << QByteArray(
        "UPDATE chunk SET id=9000000000000000000 WHERE id=(SELECT max(id) FROM chunk)");
    QTest::newRow("chunk below the first epoch")
        << QByteArray("UPDATE chunk SET id=-5 WHERE id=(SELECT max(id) FROM chunk)");
    QTest::newRow("epoch") << QByteArray("UPDATE epoch SET epoch=1000000");
    QTest::newRow("claim of no chunk") << QByteArray("UPDATE claim SET chunk=77");
    QTest::newRow("windows") << QByteArray("UPDATE part SET past=9000000000000");
    QTest::newRow("rows") << QByteArray("UPDATE chunk SET rows=9000000000000000000, samples=9000000000000000000");
}

void TestTrackerFile::idsThatNoRunCanHaveAreDamageToEveryReader()
{
    QFETCH(QByteArray, sql);
    Field field;
    field.fill(1, 3);
    auto worker = field.worker(0);
    trainOne(worker, 0, "c1");
    {
        auto db = good(Database::open(field.tracker, {}));
        db.script((QByteArray("PRAGMA foreign_keys=OFF;") + sql).constData());
        good(db.takeStatus());
    }
    const auto report = audit(field.tracker);
    QVERIFY(!report.ok() || !report.value().isClean());
    auto reader = field.reader();
    std::int64_t seq = 0;
    const auto answers = [](const auto& result) { return result.ok() || result.error().code == ErrorCode::Corrupt; };
    QVERIFY(answers(reader.cells(0)) && answers(reader.claimsSince(0, 10)) && answers(reader.partsOf({ 1 }))
        && answers(reader.epochs()) && answers(reader.changedCells(0, seq)));
}

QTEST_GUILESS_MAIN(TestTrackerFile)
#include "tst_tracker_file.moc"
