#include "core/base/whole_folder.h"

#include "helper_process.h"

#include <QTemporaryDir>
#include <QtTest>

#ifndef Q_OS_WIN
#include <sys/stat.h>
#endif

using namespace furrow;

class TestWholeFolder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// A killed export left some of its files in a folder of the final name, and the next one was refused.
    void aHalfExportHadTheNameOfAWholeOne()
    {
        const QTemporaryDir place;
        const auto out = test::inFolder(place, "out");
        std::filesystem::create_directory(out); // an empty one that a person made
        const auto made = makeWholeFolder(
            realFileSystem(), out, {}, [&](const std::filesystem::path& folder) -> Status {
                if (auto written = writeFileDurably(realFileSystem(), folder / "a.txt", "a"); !written.ok())
                    return written;
                return std::filesystem::exists(out / "a.txt") ? Status(Error { ErrorCode::Internal, "seen too early" })
                                                              : Status();
            });
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
        QVERIFY(std::filesystem::exists(out / "a.txt"));
        QCOMPARE(QDir(place.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
            QStringList { QStringLiteral("out") });
    }

    void whatFailedLeavesNothing()
    {
        const QTemporaryDir place;
        const auto made = makeWholeFolder(
            realFileSystem(), test::inFolder(place, "out"), {}, [](const std::filesystem::path& folder) -> Status {
                (void)writeFileDurably(realFileSystem(), folder / "a.txt", "a");
                return Error { ErrorCode::Io, "no space is left" };
            });
        QVERIFY(!made.ok());
        QVERIFY(QDir(place.path()).isEmpty());
    }

    /// mkdir p; chmod 0700 p; export --out p: p was another folder then, which everybody could read. A folder that a
    /// group writes to was not its own any more.
    void aPrivateFolderWasReplacedByOneForEverybody()
    {
#ifdef Q_OS_WIN
        QSKIP("rights are inherited on Windows");
#else
        for (const mode_t mode : { 0700, 02770 }) {
            const QTemporaryDir place;
            const auto out = test::inFolder(place, "out");
            QVERIFY(std::filesystem::create_directory(out) && ::chmod(out.c_str(), mode) == 0);
            struct stat before {};
            struct stat after {};
            QCOMPARE(::stat(out.c_str(), &before), 0);
            const auto made = makeWholeFolder(realFileSystem(), out, "a.txt", [](const auto& folder) -> Status {
                FURROW_TRY(realFileSystem().createFolder(folder / "deep"));
                FURROW_TRY(writeFileDurably(realFileSystem(), folder / "deep" / "b.txt", "b"));
                return writeFileDurably(realFileSystem(), folder / "a.txt", "a");
            });
            QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
            QCOMPARE(::stat(out.c_str(), &after), 0);
            QCOMPARE(after.st_ino, before.st_ino);
            QCOMPARE(after.st_mode, before.st_mode);
            QCOMPARE(QDir(QString::fromStdString(out.string())).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
                (QStringList { QStringLiteral("a.txt"), QStringLiteral("deep") }));
            QVERIFY(std::filesystem::exists(out / "deep" / "b.txt"));
            struct stat deep {};
            QCOMPARE(::stat((out / "deep").c_str(), &deep), 0);
            QCOMPARE(deep.st_mode & S_ISGID, before.st_mode & S_ISGID);
        }
#endif
    }

    void whatFailsInAFolderThatIsThereLeavesItEmpty()
    {
        const QTemporaryDir place;
        const auto out = test::inFolder(place, "out");
        std::filesystem::create_directory(out);
        const auto failing = [](const std::filesystem::path& folder) -> Status {
            (void)writeFileDurably(realFileSystem(), folder / "a.txt", "a");
            return Error { ErrorCode::Io, "no space is left" };
        };
        QVERIFY(!makeWholeFolder(realFileSystem(), out, {}, failing).ok());
        QVERIFY(QDir(QString::fromStdString(out.string())).isEmpty());
        const auto taken = [&out](const std::filesystem::path& folder) -> Status {
            (void)writeFileDurably(realFileSystem(), folder / "a.txt", "a");
            return writeFileDurably(realFileSystem(), out / "of a person", "x");
        };
        QVERIFY(!makeWholeFolder(realFileSystem(), out, {}, taken).ok());
        QCOMPARE(QDir(QString::fromStdString(out.string())).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
            QStringList { QStringLiteral("of a person") });
    }

    void whatAKillLeftKeepsNobodyFromTryingAgain()
    {
        const QTemporaryDir place;
        const auto out = test::inFolder(place, "out");
        std::filesystem::create_directories(out / "out.new-0123456789abcdef");
        QVERIFY(holdsNothing(out));
        QVERIFY(holdsNothing(out / ""));
        std::filesystem::create_directory(out / "other.new-0123456789abcdef");
        QVERIFY(!holdsNothing(out));
    }
};

QTEST_GUILESS_MAIN(TestWholeFolder)
#include "tst_whole_folder.moc"
