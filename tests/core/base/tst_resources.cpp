#include "core/base/resources.h"

#include "core/base/path.h"
#include "core/base/process.h"

#include <QtTest>

using namespace furrow;

class TestResources : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void findsAFileBesideTheProgramsFolder()
    {
        const auto folder = executablePath().parent_path().parent_path() / "share" / "furrow";
        std::filesystem::create_directories(folder);
        QTemporaryFile file(QString::fromStdString(utf8Text(folder / "test-XXXXXX")));
        QVERIFY(file.open());
        const std::string name = QFileInfo(file.fileName()).fileName().toStdString();
        QCOMPARE(utf8Text(resourcePath(name).value()), file.fileName().toStdString());
    }

    void aMissingOneSaysWhereItLooked()
    {
        const auto path = resourcePath("no/such/file");
        QCOMPARE(path.error().code, ErrorCode::NotFound);
        QVERIFY(path.error().message.find("share/furrow/no/such/file") != std::string::npos);
    }

    void onlyNamesBelowTheFolderAreTaken_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("empty") << "";
        QTest::newRow("absolute") << "/etc/passwd";
        QTest::newRow("upwards") << "../../etc/passwd";
        QTest::newRow("upwards in the middle") << "help/../../x";
    }
    void onlyNamesBelowTheFolderAreTaken()
    {
        QFETCH(QString, name);
        QCOMPARE(resourcePath(name.toStdString()).error().code, ErrorCode::InvalidArgument);
    }

    void hostFactsAreSane()
    {
        QVERIFY(executablePath().filename().string().starts_with("tst_resources"));
        QVERIFY(cpuCount() >= 1);
        QVERIFY(physicalMemoryBytes() > (std::uint64_t(256) << 20));
    }
};

QTEST_GUILESS_MAIN(TestResources)
#include "tst_resources.moc"
