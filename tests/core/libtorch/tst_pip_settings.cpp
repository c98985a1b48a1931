// What pip would take from its files and variables, and what a driver means for training.
#include "core/device/driver.h"
#include "core/libtorch/pip_settings.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <map>

using namespace furrow;

class TestPipSettings : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;
    std::map<std::string, std::string> variables_;

    PipSettings read() const
    {
        return readPipSettings([this](const char* name) {
            const auto found = variables_.find(name);
            return found == variables_.end() ? nullptr : found->second.c_str();
        });
    }
    void write(const char* name, const QByteArray& text)
    {
        QFile file(folder_.filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
        variables_["PIP_CONFIG_FILE"] = file.fileName().toStdString();
    }

private Q_SLOTS:
    void init() { variables_ = { { "PIP_CONFIG_FILE", "/dev/null" } }; }

    void withoutAnyItIsPipsOwnIndex()
    {
        const auto settings = read();
        QCOMPARE(settings.indexes.size(), 1U);
        QVERIFY(settings.indexes[0].address.ends_with("/simple/"));
        QVERIFY(settings.folders.empty() && settings.pages.empty() && settings.certificates.empty());
    }

    void theAccountIsNotInTheAddress()
    {
        variables_["PIP_INDEX_URL"] = "https://ann:Geheim%21x@wheels.example/simple";
        const auto settings = read();
        QCOMPARE(settings.indexes[0].address, std::string("https://wheels.example/simple/"));
        QCOMPARE(settings.indexes[0].account.reveal(), std::string("ann:Geheim%21x"));
    }

    void variablesWinOverFilesAndDownloadOverGlobal()
    {
        write("pip.conf",
            "# ours\n[global]\nindex-url = https://one.example/simple/\ncert = /a.pem\nproxy = http://p.example:3128\n"
            "[install]\ncert = /never.pem\n[download]\nindex-url: https://two.example/simple\n");
        auto settings = read();
        QCOMPARE(settings.indexes[0].address, std::string("https://two.example/simple/"));
        QCOMPARE(settings.certificates, std::string("/a.pem"));
        QCOMPARE(settings.proxy.reveal(), std::string("http://p.example:3128"));
        variables_["PIP_INDEX_URL"] = "https://three.example/simple";
        variables_["PIP_CERT"] = "/b.pem";
        settings = read();
        QCOMPARE(settings.indexes[0].address, std::string("https://three.example/simple/"));
        QCOMPARE(settings.certificates, std::string("/b.pem"));
    }

    void listsGoOnInIndentedLines()
    {
        write("lists.conf",
            "[global]\nno-index = true\nfind-links =\n    /wheels\n    file:///more wheels\n    https://host.example/list.html\n");
        const auto settings = read();
        QVERIFY(settings.indexes.empty());
        QCOMPARE(settings.folders, (std::vector<std::string> { "/wheels", "/more", "wheels" })); // as pip: by spaces
        QCOMPARE(settings.pages.size(), 1U);
    }

    void aStrangeFileIsNoSettings()
    {
        write("strange.conf", QByteArray("[global\nindex-url\n= x\n  hanging\n[]\n") + QByteArray(1000, '\xff'));
        QCOMPARE(read().indexes.size(), 1U);
    }

    void whatTheDriverMeansIsSaid_data()
    {
        QTest::addColumn<int>("cuda");
        QTest::addColumn<bool>("amd");
        QTest::addColumn<bool>("jetson");
        QTest::addColumn<bool>("usable");
        QTest::addColumn<QString>("said");
        QTest::newRow("new enough") << 13000 << false << false << true << "580.1 runs what";
        QTest::newRow("newer") << 14010 << false << false << true << "580.1 runs what";
        QTest::newRow("too old") << 12080 << false << false << false << "up to 12.8, and libtorch needs CUDA 13";
        QTest::newRow("none") << -1 << false << false << false << "No driver. Workers train on the CPU";
        QTest::newRow("AMD") << -1 << true << false << false << "ROCm";
        QTest::newRow("Jetson") << 13000 << false << true << false << "Jetson";
    }
    void whatTheDriverMeansIsSaid()
    {
        QFETCH(int, cuda);
        QFETCH(bool, amd);
        QFETCH(bool, jetson);
        const Result<GpuDriver> driver
            = cuda < 0 ? Result<GpuDriver>(Error { ErrorCode::NotFound, "No driver." }) : GpuDriver { "580.1", cuda };
        const auto outlook = gpuOutlook(driver, { amd, jetson }, 13);
        QTEST(outlook.usable, "usable");
        QFETCH(QString, said);
        QVERIFY2(outlook.words.find(said.toStdString()) != std::string::npos, outlook.words.c_str());
    }
};

QTEST_GUILESS_MAIN(TestPipSettings)
#include "tst_pip_settings.moc"
