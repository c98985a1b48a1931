// A disk that fails under SQLite, as a storm asks for it: what was being written is taken back, and nothing is called
// damaged.

#include "core/base/process_limit.h"
#include "core/tracker/sqlite/database.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace furrow;

class TestSqliteFaults : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::optional<Database> db_;

    QString faultFile() const { return folder_.filePath(QStringLiteral("fault")); }
    void fail(const char* how)
    {
        QFile file(faultFile());
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(how);
    }
    Status insert()
    {
        auto transaction = Transaction::begin(*db_);
        if (!transaction.ok())
            return transaction.error();
        db_->run("INSERT INTO note VALUES (?)", std::string(20'000, 'x'));
        return transaction.value().commit();
    }
    std::int64_t rows() { return db_->integer("SELECT count(*) FROM note").value_or(-1); }

private Q_SLOTS:
    /// "cannot be opened; check the permissions of the run folder": they were in order, and `doctor --repair` was
    /// advised.
    void tooManyOpenFilesWereCalledPermissions()
    {
        rlimit before {};
        QCOMPARE(::getrlimit(RLIMIT_NOFILE, &before), 0);
        const int next = ::open("/dev/null", O_RDONLY);
        ::close(next);
        rlimit none = before;
        none.rlim_cur = static_cast<rlim_t>(next);
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &none), 0);
        const auto refused = Database::open(folder_.filePath(QStringLiteral("db.sqlite")).toStdString(), {});
        QCOMPARE(::setrlimit(RLIMIT_NOFILE, &before), 0);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("too many open files; raise the limit (ulimit -n)") != std::string::npos,
            refused.error().message.c_str());
        QVERIFY(refused.error().code == ErrorCode::Io && !mayPass(refused.error()));
    }

    void initTestCase()
    {
        qputenv("FURROW_SQLITE_FAULT", faultFile().toUtf8()); // before the first connection of this process
        auto made = Database::create(folder_.filePath(QStringLiteral("db.sqlite")).toStdString());
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
        db_.emplace(std::move(made).value());
        db_->script("CREATE TABLE note (text TEXT)");
        QVERIFY(insert().ok());
    }

    void cleanup() { QFile::remove(faultFile()); }

    void whatDoesNotFitIsTakenBackWhole_data()
    {
        QTest::addColumn<QByteArray>("how");
        QTest::addColumn<QString>("says");
        QTest::newRow("full") << QByteArray("full") << "the disk is full";
        QTest::newRow("dying") << QByteArray("write") << "reading or writing failed";
    }
    void whatDoesNotFitIsTakenBackWhole()
    {
        QFETCH(QByteArray, how);
        QFETCH(QString, says);
        const auto before = rows();
        fail(how.constData());
        const auto failed = insert();
        QVERIFY(!failed.ok());
        QCOMPARE(failed.error().code, ErrorCode::Io);
        QVERIFY2(QString::fromStdString(failed.error().message).contains(says), failed.error().message.c_str());
        cleanup();
        QCOMPARE(rows(), before);
        QVERIFY(insert().ok());
        QCOMPARE(rows(), before + 1);
    }

    void syncThatFailsIsToldAndItsChangesStay()
    {
        const auto before = rows();
        fail("sync");
        const auto failed = insert();
        QVERIFY(!failed.ok());
        QCOMPARE(failed.error().code, ErrorCode::Io);
        cleanup();
        QCOMPARE(rows(), before + 1);
    }

    void readingThatFailsIsNotDamage_data()
    {
        QTest::addColumn<QByteArray>("how");
        QTest::newRow("as SQLite names it") << QByteArray("read");
        QTest::newRow("what SQLite calls damage") << QByteArray("unread"); // EIO of the system
    }
    void readingThatFailsIsNotDamage()
    {
        QFETCH(QByteArray, how);
        fail(how.constData());
        const auto other = Database::open(
            folder_.filePath(QStringLiteral("db.sqlite")).toStdString(), { Database::Access::ReadOnly });
        QVERIFY(!other.ok());
        QCOMPARE(other.error().code, ErrorCode::Io);
    }
};

QTEST_GUILESS_MAIN(TestSqliteFaults)
#include "tst_sqlite_faults.moc"
