// A WAL that could not be written for a moment: the process of a run goes on when it can be written again.

#include "core/tracker/sqlite/database.h"
#include "core/tracker/sqlite/write_or_fail.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <memory>
#include <unistd.h>

using namespace furrow;

class TestWriteOrFail : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;

    std::filesystem::path tracker() const { return folder_->filePath(QStringLiteral("db.sqlite")).toStdString(); }
    void permit(bool writing) const
    {
        for (const char* ending : { "-wal", "-shm" }) {
            const QString file = QString::fromStdString(tracker().string() + ending);
            QVERIFY(QFile::setPermissions(
                file, writing ? QFile::ReadOwner | QFile::WriteOwner : QFileDevice::Permissions(QFile::ReadOwner)));
        }
    }
    Status insert() const
    {
        auto db = Database::open(tracker(), {});
        if (!db.ok())
            return db.error();
        auto transaction = Transaction::begin(db.value());
        if (!transaction.ok())
            return transaction.error();
        db.value().run("INSERT INTO note VALUES ('x')");
        return transaction.value().commit();
    }

private Q_SLOTS:
    void initTestCase()
    {
        if (geteuid() == 0) { // root may write whatever the permissions say
            constexpr uid_t kNobody = 65534;
            QVERIFY(seteuid(kNobody) == 0);
        }
        folder_ = std::make_unique<QTemporaryDir>();
        auto made = Database::create(tracker());
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
        made.value().script("CREATE TABLE note (text TEXT)");
    }
    void cleanupTestCase()
    {
        permit(true);
        folder_.reset();
    }

    /// Reading needs no right to write: another user looks at the run.
    void whoOnlyReadsMayReadOn()
    {
        permit(false);
        QVERIFY(Database::open(tracker(), { .access = Database::Access::ReadOnly }).ok());
        permit(true);
    }

    /// One connection that was opened meanwhile kept the index read-only for all of the process, for ever.
    void aMomentWithoutPermissionStalledTheProcessForEver()
    {
        writeTrackersOrFail();
        permit(false);
        const auto writer = Database::open(tracker(), {});
        const auto reader = Database::open(tracker(), { .access = Database::Access::ReadOnly });
        for (const auto* opened : { &writer, &reader }) {
            QVERIFY(!opened->ok());
            QVERIFY(opened->error().code == ErrorCode::Io);
            QVERIFY2(opened->error().message.find("check the permissions") != std::string::npos,
                opened->error().message.c_str());
        }
        permit(true);
        const Status written = insert();
        QVERIFY2(written.ok(), written.ok() ? "" : written.error().message.c_str());
    }

    /// "cannot be opened; check the permissions of the run folder": whose, and which of them?
    void aTrackerThatMayNotBeReadWasAnsweredWithoutARemedy()
    {
        const QString file = QString::fromStdString(tracker().string());
        QVERIFY(QFile::setPermissions(file, {}));
        const auto opened = Database::open(tracker(), { .access = Database::Access::ReadOnly });
        QVERIFY(QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner));
        QVERIFY(!opened.ok() && opened.error().code == ErrorCode::Io);
        QVERIFY2(opened.error().message.find(tracker().string() + " is yours, and its rights keep you out")
                != std::string::npos,
            opened.error().message.c_str());
    }

    /// It was opened read-only too, and every write of that connection failed.
    void theFileItselfIsOpenedForWritingOrNotAtAll()
    {
        const QString file = QString::fromStdString(tracker().string());
        QVERIFY(QFile::setPermissions(file, QFile::ReadOwner));
        const auto opened = Database::open(tracker(), {});
        QVERIFY(QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner));
        QVERIFY(!opened.ok());
        QVERIFY2(opened.error().message.find("cannot write ") != std::string::npos, opened.error().message.c_str());
    }
};

QTEST_GUILESS_MAIN(TestWriteOrFail)
#include "tst_write_or_fail.moc"
