#include "core/base/whole_folder.h"

#include "helper_process.h"

#include <QTemporaryDir>
#include <QtTest>

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
        const auto made = makeWholeFolder(realFileSystem(), out, [&](const std::filesystem::path& folder) -> Status {
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
            realFileSystem(), test::inFolder(place, "out"), [](const std::filesystem::path& folder) -> Status {
                (void)writeFileDurably(realFileSystem(), folder / "a.txt", "a");
                return Error { ErrorCode::Io, "no space is left" };
            });
        QVERIFY(!made.ok());
        QVERIFY(QDir(place.path()).isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestWholeFolder)
#include "tst_whole_folder.moc"
