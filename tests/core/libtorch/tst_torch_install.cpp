// Installing libtorch from an index on loopback, with small wheels: what arrives, what is left after trouble.
#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/libtorch/torch_install.h"
#include "core/libtorch/torch_pins.h"
#include "core/libtorch/torch_place.h"
#include "core/libtorch/torch_search.h"
#include "core/libtorch/wheel_unpack.h"
#include "fake_web.h"
#include "tests/fakes/archives.h"

#include <QDirIterator>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <unistd.h>

using namespace furrow;
using test::FakeWeb;
using test::ZipFile;

namespace {

const std::string kTorchName = "torch-9.1.0-cp311-cp311-manylinux_2_28_x86_64.whl";
const std::string kCudaName = "nvidia_cuda_runtime-13.0.96-py3-none-manylinux_2_17_x86_64.whl";

std::string torchWheel()
{
    std::string library(300'000, '\0');
    for (std::size_t i = 0; i < library.size(); ++i)
        library[i] = static_cast<char>(i * 2654435761U >> 13);
    return test::zipArchive({ { "torch/lib/libtorch_cpu.so", library }, { "torch/lib/libtorch_python.so", "python" },
        { "torch/lib/libtorch_cuda.so", "cuda" }, { "torch/version.py", "__version__ = '9.1.0+cu130'\n" },
        { "torch/__init__.py", "import os" }, { "torch-9.1.0.dist-info/LICENSE", "BSD" } });
}

std::string cudaWheel()
{
    return test::zipArchive({ { "nvidia/cu13/lib/libcudart.so.13", "cudart" }, { "nvidia/cu13/include/x.h", "no" } });
}

void writeTo(const QString& path, const std::string& bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes.data(), qint64(bytes.size())) == qint64(bytes.size()));
}

} // namespace

class TestTorchInstall : public QObject {
    Q_OBJECT

    QTemporaryDir disk_; ///< what pretends to be full
    std::unique_ptr<QTemporaryDir> home_;
    std::unique_ptr<FakeWeb> web_;
    std::string said_; ///< by the last installation

    QString path(const char* name) const { return home_->filePath(QLatin1String(name)); }
    std::filesystem::path torch(const char* name = "") const
    {
        return std::filesystem::path(home_->path().toStdString()) / "furrow" / "torch" / name;
    }
    /// Files below unpacked and downloads.
    QStringList files() const
    {
        QStringList found;
        for (const char* folder : { "unpacked", "downloads" })
            for (QDirIterator it(
                     QString::fromStdString(torch(folder)), QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
                it.hasNext();)
                found << it.next();
        return found;
    }
    void serve(const std::string& torchBytes)
    {
        web_->put("/simple/torch/",
            { "<html><a href=\"../../files/" + kTorchName + "#sha256=" + sha256Hex(torchWheel())
                + "\">x</a> <a href='../../files/torch-9.1.0-cp311-cp311-win_amd64.whl'>y</a></html>" });
        web_->put("/simple/nvidia-cuda-runtime/", { "<a href=\"/files/" + kCudaName + "\">x</a>" });
        web_->put("/files/" + kTorchName, { torchBytes });
        web_->put("/files/" + kCudaName, { cudaWheel() });
    }
    TorchInstallOptions options() const
    {
        TorchInstallOptions o;
        o.packages = { { "torch", "9.1.0", { sha256Hex(torchWheel()) } },
            { "nvidia-cuda-runtime", "13.0.96", { sha256Hex(cudaWheel()) } } };
        o.check = lookAtTorch; // no program could start with it
        return o;
    }
    Result<TorchFacts> install(const TorchInstallOptions& o)
    {
        said_.clear();
        auto facts = installTorch(o, { [this](const std::string& text) { said_ += text + "\n"; }, {} });
        said_ += facts.ok() ? "" : facts.error().message;
        return facts;
    }
    bool says(const char* words) const { return said_.find(words) != std::string::npos; }

private Q_SLOTS:
    void initTestCase() { qputenv("FURROW_DISK_FULL", disk_.filePath(QStringLiteral("full")).toUtf8()); }

    void init()
    {
        home_ = std::make_unique<QTemporaryDir>();
        web_ = std::make_unique<FakeWeb>();
        for (const char* name : { "http_proxy", "https_proxy", "all_proxy", "PIP_FIND_LINKS", "PIP_NO_INDEX",
                 "PIP_PROXY", "PIP_CERT", "PIP_EXTRA_INDEX_URL" })
            qunsetenv(name);
        qputenv("XDG_DATA_HOME", home_->path().toUtf8());
        qputenv("PIP_CONFIG_FILE", "/dev/null");
        qputenv("PIP_INDEX_URL", QByteArray::fromStdString(web_->origin()) + "/simple");
        serve(torchWheel());
    }

    /// sudo that keeps HOME: the folder of what Furrow keeps for a person was root's.
    void rootInstalledIntoTheHomeOfAUser()
    {
        if (::geteuid() != 0)
            QSKIP("only root writes for others");
        QCOMPARE(::chown(home_->path().toUtf8().constData(), 65534, 65534), 0);
        QVERIFY(!install(options()).ok());
        QVERIFY2(says("sudo -u nobody furrowctl"), said_.c_str());
        QVERIFY(!chooseTorch(torch("unpacked")).ok());
        QVERIFY(QDir(home_->path()).isEmpty());
    }

    void isUnpackedChosenAndNothingElseIsLeft()
    {
        const auto facts = install(options());
        QVERIFY2(facts.ok(), said_.c_str());
        QCOMPARE(facts.value().version, std::string("9.1.0+cu130"));
        QCOMPARE(chosenTorch(), facts.value().folder);
        const auto all = files();
        QCOMPARE(all.size(), 4); // library, version, licence, cudart
        QVERIFY(all.filter(QStringLiteral("downloads")).isEmpty());
        QVERIFY(QFile::exists(QString::fromStdString(facts.value().folder / "../nvidia/cu13/lib/libcudart.so.13")));
        QVERIFY2(says("2 files, of which"), said_.c_str()); // said before anything was fetched
        QVERIFY(isOurs(facts.value().folder));
    }

    void theAccountOfTheIndexIsSentAndNeverSaid()
    {
        FakeWeb::File locked { torchWheel() };
        locked.account = "ann:GeheimGeheim";
        web_->put("/files/" + kTorchName, locked);
        qputenv("PIP_INDEX_URL",
            QByteArray::fromStdString(web_->origin()).replace("://", "://ann:GeheimGeheim@") + "/simple");
        QVERIFY2(install(options()).ok(), said_.c_str());
        QVERIFY(!says("Geheim"));
        web_->put("/simple/torch/", [] {
            FakeWeb::File closed { "no" };
            closed.status = 403;
            return closed;
        }());
        QVERIFY(!install(options()).ok());
        QVERIFY2(says("asks for an account") && !says("Geheim"), said_.c_str());
        for (const auto& file : files()) {
            QFile one(file);
            QVERIFY(one.open(QIODevice::ReadOnly) && !one.readAll().contains("Geheim"));
        }
    }

    void aDownloadThatBreaksGoesOnWhereItWas()
    {
        web_->put("/files/" + kTorchName, [] {
            FakeWeb::File file { torchWheel() };
            return file;
        }());
        TorchInstallOptions o = options();
        web_->cutNext(0);
        const auto before = web_->servedBytes();
        writeTo(path("x"), "x"); // the home is there
        QVERIFY(realFileSystem().createFolders(torch("downloads")).ok());
        const auto half = torchWheel().substr(0, torchWheel().size() / 2);
        writeTo(QString::fromStdString(torch("downloads") / (kTorchName + ".part")), half); // of one that was killed
        QVERIFY2(install(o).ok(), said_.c_str());
        QVERIFY(web_->servedBytes() - before < torchWheel().size() - half.size() + cudaWheel().size() + 2000);
    }

    void aTransferThatIsCutIsTakenUp()
    {
        FakeWeb::File file { torchWheel() };
        file.before = [this](FakeWeb::File&, int asked) {
            if (asked == 1) // the first question is for its size
                web_->cutNext(1);
        };
        web_->put("/files/" + kTorchName, file);
        QVERIFY2(install(options()).ok(), said_.c_str());
        QVERIFY2(says("Trying again"), said_.c_str());
    }

    void aLeftoverThatIsSomethingElseIsFetchedAnew()
    {
        QVERIFY(realFileSystem().createFolders(torch("downloads")).ok());
        writeTo(QString::fromStdString(torch("downloads") / (kTorchName + ".part")), std::string(1000, 'z'));
        QVERIFY2(install(options()).ok(), said_.c_str());
    }

    void anotherHashThanThePinnedOneIsThrownAway()
    {
        auto other = torchWheel();
        other[1000] = static_cast<char>(other[1000] ^ 1);
        serve(other);
        const auto facts = install(options());
        QVERIFY(!facts.ok());
        QCOMPARE(facts.error().code, ErrorCode::Corrupt);
        QVERIFY2(says("none of those that Furrow knows") && says("thrown away"), said_.c_str());
        QVERIFY2(files().isEmpty(), qPrintable(files().join(QLatin1Char(' '))));
        QVERIFY(chosenTorch().empty());
    }

    void withoutANetworkAFolderIsNamed()
    {
        qputenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple");
        QVERIFY(!install(options()).ok());
        QVERIFY2(says("127.0.0.1:1") && says("--from FOLDER"), said_.c_str());
    }

    void aProxyThatIsAwayIsSaid()
    {
        qputenv("PIP_INDEX_URL", "http://index.invalid/simple");
        qputenv("PIP_PROXY", "http://ann:ProxyGeheim@127.0.0.1:1");
        QVERIFY(!install(options()).ok());
        qunsetenv("PIP_PROXY");
        QVERIFY2(says("cannot be fetched") && !says("Geheim"), said_.c_str());
    }

    void anIndexWithoutItIsNamed()
    {
        web_->put("/simple/torch/", { "<a href=\"/files/torch-8.0.0-cp311-cp311-manylinux_2_28_x86_64.whl\">x</a>" });
        QVERIFY(!install(options()).ok());
        QVERIFY2(says("No wheel of torch 9.1.0") && says("/simple/torch/"), said_.c_str());
    }

    void takesAFolderOfWheels()
    {
        QVERIFY(QDir(home_->path()).mkdir(QStringLiteral("wheels")));
        writeTo(path("wheels/") + QString::fromStdString(kTorchName), torchWheel());
        auto o = options();
        o.from = path("wheels").toStdString();
        QVERIFY(!install(o).ok());
        QVERIFY2(says("nvidia-cuda-runtime==13.0.96"), said_.c_str()); // what is missing, as pip takes it
        writeTo(path("wheels/") + QString::fromStdString(kCudaName), cudaWheel());
        QVERIFY2(install(o).ok(), said_.c_str());
        QCOMPARE(web_->requests(), 0);
        QCOMPARE(QDir(path("wheels")).count(), 4U); // they stay
    }

    void takesAnArchiveOfLibtorchAndSaysItsHash()
    {
        const auto archive = test::zipArchive(
            { { "libtorch/lib/libtorch_cpu.so", "so" }, { "libtorch/build-version", "9.2.0+cpu\n" } });
        writeTo(path("libtorch.zip"), archive);
        auto o = options();
        o.from = path("libtorch.zip").toStdString();
        const auto facts = install(o);
        QVERIFY2(facts.ok(), said_.c_str());
        QCOMPARE(facts.value().version, std::string("9.2.0+cpu"));
        QVERIFY(says(sha256Hex(archive).c_str()));
    }

    void thereIsNoRoom()
    {
        QVERIFY(QDir(home_->path()).mkdir(QStringLiteral("wheels")));
        for (const auto& name : { kTorchName, kCudaName }) {
            QFile sparse(path("wheels/") + QString::fromStdString(name));
            QVERIFY(sparse.open(QIODevice::WriteOnly));
            if (!sparse.resize(qint64(1) << 43))
                QSKIP("no files of 8 TiB here");
        }
        auto o = options();
        o.from = path("wheels").toStdString();
        QVERIFY(!install(o).ok());
        QVERIFY2(says("free and about") && says("XDG_DATA_HOME"), said_.c_str());
    }

    void aDiskThatFillsUpLeavesNothingInUse()
    {
        QVERIFY(install(options()).ok());
        const auto before = chosenTorch();
        const QString full = QString::fromUtf8(qgetenv("FURROW_DISK_FULL"));
        writeTo(full, "");
        QVERIFY(!install(options()).ok());
        QVERIFY(QFile::remove(full));
        QCOMPARE(chosenTorch(), before); // what worked goes on working
        QVERIFY(hasTorch(before));
        QVERIFY2(install(options()).ok(), said_.c_str());
        QVERIFY(QDir(QString::fromStdString(torch("unpacked")), QStringLiteral(".new-*"))
                .entryList(QDir::Hidden | QDir::Dirs)
                .isEmpty());
        QCOMPARE(QDir(QString::fromStdString(torch("unpacked")))
                     .entryList(QDir::Hidden | QDir::Dirs | QDir::NoDotAndDotDot)
                     .size(),
            1);
    }

    void aHomeThatCannotBeWrittenIsNamed()
    {
        writeTo(path("file"), "x");
        qputenv("XDG_DATA_HOME", path("file/below").toUtf8());
        QVERIFY(!install(options()).ok());
        QVERIFY2(says("file/below"), said_.c_str());
    }

    void twoAtOnceDoNotMeet()
    {
        QVERIFY(realFileSystem().createFolders(torch()).ok());
        const auto lock = FileLock::tryLock(torch("lock"));
        QVERIFY(lock.ok());
        const auto facts = install(options());
        QVERIFY(!facts.ok() && facts.error().code == ErrorCode::Busy);
    }

    void removeTakesOnlyWhatIsOurs()
    {
        QVERIFY(install(options()).ok());
        auto removed = removeTorch();
        QVERIFY(removed.ok() && removed.value().bytes > 300'000 && removed.value().left.empty());
        QVERIFY(files().isEmpty() && chosenTorch().empty());

        QVERIFY(QDir(home_->path()).mkpath(QStringLiteral("own/lib")));
        writeTo(path("own/lib/libtorch_cpu.so"), "so");
        QVERIFY(chooseTorch(path("own").toStdString()).ok());
        removed = removeTorch();
        QVERIFY(removed.ok());
        QCOMPARE(removed.value().left, std::filesystem::path(path("own").toStdString()));
        QVERIFY(QFile::exists(path("own/lib/libtorch_cpu.so")) && chosenTorch().empty());
    }

    /// A program for 2.11 started with 2.10, trained, and ended with SIGBUS in data-parallel training.
    void anotherSeriesIsNotTaken_data()
    {
        QTest::addColumn<QString>("version");
        QTest::addColumn<bool>("same");
        QTest::newRow("other build") << "2.11.0+cu130" << true;
        QTest::newRow("mended") << "2.11.1" << true;
        QTest::newRow("older") << "2.10.0" << false;
        QTest::newRow("much older") << "2.1.0" << false;
        QTest::newRow("later") << "2.12.0a0+git1" << false;
        QTest::newRow("unknown") << "" << false;
    }
    void anotherSeriesIsNotTaken()
    {
        QFETCH(QString, version);
        QTEST(isSameSeries(version.toStdString(), "2.11.0"), "same");
        QVERIFY(!isSameSeries("", ""));
    }

    /// "The libtorch does not fit this Furrow (SIGKILL, sender unknown)": the machine had no memory left, or no time.
    void aTrialThatWasKilledWasCalledALibtorchThatDoesNotFit_data()
    {
        QTest::addColumn<QString>("does");
        QTest::addColumn<ErrorCode>("code");
        QTest::addColumn<QString>("says");
        QTest::newRow("killed") << "echo loading; kill -9 $$" << ErrorCode::Busy << "SIGKILL";
        QTest::newRow("crashed") << "kill -SEGV $$" << ErrorCode::Busy << "SIGSEGV";
        QTest::newRow("too slow") << "exec sleep 60" << ErrorCode::Busy << "it took longer than 0.2 s. Try again";
        QTest::newRow("a symbol is missing")
            << "echo undefined symbol: at_new; exit 127" << ErrorCode::InvalidArgument << "(undefined symbol: at_new)";
    }
    void aTrialThatWasKilledWasCalledALibtorchThatDoesNotFit()
    {
        QFETCH(QString, does);
        QFETCH(ErrorCode, code);
        QFETCH(QString, says);
        ProcessOptions options;
        options.arguments = { "-c", does.toStdString() };
        const auto isSlow = does.contains(QStringLiteral("sleep"));
        const auto answer = askProcess("/bin/sh", options, std::chrono::milliseconds(isSlow ? 200 : 20'000));
        QVERIFY(answer.ok());
        const auto judged = judgeTrial({ "/opt/libtorch", "2.11.0", false }, answer.value());
        QVERIFY(!judged.ok());
        const auto said = QString::fromStdString(judged.error().message);
        QVERIFY2(judged.error().code == code && said.contains(says), qPrintable(said));
        QCOMPARE(said.contains(QStringLiteral("does not fit")), code == ErrorCode::InvalidArgument);
    }

    void aTorchIsFoundInAnEnvironment()
    {
        QVERIFY(QDir(home_->path()).mkpath(QStringLiteral("venv/lib/python3.11/site-packages/torch/lib")));
        const QString torch = path("venv/lib/python3.11/site-packages/torch");
        writeTo(torch + QStringLiteral("/lib/libtorch_cpu.so"), "so");
        writeTo(torch + QStringLiteral("/version.py"), "__version__ = '2.5.1+cu124'\n");
        QCOMPARE(torchBelow(path("venv").toStdString()), std::filesystem::path(torch.toStdString()));
        const auto facts = lookAtTorch(torch.toStdString());
        QVERIFY(facts.ok());
        QCOMPARE(facts.value().version, std::string("2.5.1+cu124"));
        QVERIFY(!lookAtTorch(home_->path().toStdString()).ok());
    }

    void hostileArchivesAreRefused_data()
    {
        QTest::addColumn<QByteArray>("archive");
        const auto row = [](const char* name, const ZipFile& file) {
            QTest::newRow(name) << QByteArray::fromStdString(
                test::zipArchive({ { "torch/lib/libtorch_cpu.so", "so" }, file }));
        };
        row("encrypted", { "torch/lib/a.so", "x", 8, 1 });
        row("strange packing", { "torch/lib/a.so", "x", 12 });
        row("shorter than it says", { "torch/lib/a.so", "x", 8, 0, false, 10 });
        row("larger than anything", { "torch/lib/a.so", "x", 8, 0, true, 1L << 40 });
        auto link = test::zipArchive({ { "torch/lib/a.so", "/etc/passwd", 0 } });
        const auto entry = link.find("PK\1\2");
        link[entry + 5] = 3; // made on Unix
        link[entry + 41] = static_cast<char>(0120777 >> 8);
        QTest::newRow("a link") << QByteArray::fromStdString(link);
        QTest::newRow("no archive") << QByteArray("not a zip");
        QTest::newRow("cut") << QByteArray::fromStdString(torchWheel().substr(0, 5000));
    }
    void hostileArchivesAreRefused()
    {
        QFETCH(QByteArray, archive);
        writeTo(path("bad.zip"), archive.toStdString());
        auto o = options();
        o.from = path("bad.zip").toStdString();
        QVERIFY(!install(o).ok());
        QVERIFY(chosenTorch().empty());
    }

    void namesThatLeadElsewhereAreLeftOut_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("place");
        QTest::newRow("library") << "torch/lib/libc10.so" << "torch/lib/libc10.so";
        QTest::newRow("OpenMP") << "torch/lib/libgomp.so.1" << "torch/lib/libgomp.so.1";
        QTest::newRow("of an archive") << "libtorch/lib/libc10.so" << "torch/lib/libc10.so";
        QTest::newRow("up") << "torch/lib/../../x.so" << "";
        QTest::newRow("up at once") << "../torch/lib/x.so" << "";
        QTest::newRow("absolute") << "/torch/lib/x.so" << "";
        QTest::newRow("twice") << "torch//lib/x.so" << "";
        QTest::newRow("backwards") << "torch/lib/..\\x.so" << "";
        QTest::newRow("CUDA deep") << "nvidia/cu13/lib/libcudart.so.13" << "nvidia/cu13/lib/libcudart.so.13";
        QTest::newRow("CUDA up") << "nvidia/../lib/x.so" << "";
        QTest::newRow("Python") << "torch/lib/libtorch_python.so" << "";
        QTest::newRow("code") << "torch/utils/x.py" << "";
        QTest::newRow("CUDA half") << "torch/lib/libtorch_cuda.so" << "";
    }
    void namesThatLeadElsewhereAreLeftOut()
    {
        QFETCH(QString, name);
        QFETCH(QString, place);
        QCOMPARE(QString::fromStdString(unpackedPlace(name.toStdString(), { .cuda = false })), place);
    }

    void thePinsAreThoseOfTheLock()
    {
        QFile lock(QStringLiteral(FURROW_SOURCE_DIR "/packaging/requirements.lock"));
        QVERIFY(lock.open(QIODevice::ReadOnly));
        const auto text = lock.readAll();
        const auto at = text.indexOf(QByteArray("torch==") + QByteArray::fromStdString(pinnedTorch().version));
        QVERIFY(at > 0);
        for (const auto& hash : pinnedTorch().hashes)
            QVERIFY(text.indexOf(hash.c_str(), at) > 0);
        QVERIFY(pinnedCuda(true).size() > pinnedCuda(false).size());
        QCOMPARE(pinnedCuda(false).size(), 2U);
        QVERIFY(pinnedCudaMajor() >= 12);
    }
};

QTEST_GUILESS_MAIN(TestTorchInstall)
#include "tst_torch_install.moc"
