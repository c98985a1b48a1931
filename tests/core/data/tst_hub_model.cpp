#include "core/data/hub/hub_model.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/run/folder/adopted_model.h"
#include "fake_hub.h"

#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <optional>

using namespace furrow;
using test::FakeHub;
using test::HubFault;

namespace {

std::string weights(char letter, std::size_t size) { return std::string(size, letter); }

FakeHub::Repository smallModel()
{
    FakeHub::Repository model;
    model.files = { { "config.json", "{\"model_type\": \"llama\"}" }, { "tokenizer.json", "{}" },
        { "model.safetensors", weights('w', 600'000) }, { "pytorch_model.bin", weights('p', 600'000) },
        { "README.md", "# A model" }, { "onnx/model.onnx", weights('o', 1000) },
        { "consolidated.safetensors", weights('c', 1000) } };
    model.small = { "config.json", "tokenizer.json", "README.md" };
    return model;
}

} // namespace

class TestHubModel : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> folder_;
    std::unique_ptr<FakeHub> hub_;
    QStringList told_;
    int attempts_ = 4;
    std::function<bool()> onWait_; ///< before the next try

    std::filesystem::path models() const { return folder_->path().toStdString(); }

    Result<std::filesystem::path> fetched(const std::string& name)
    {
        HubSettings settings;
        settings.kind = HubKind::Models;
        settings.endpoint = hub_->endpoint();
        RetryPolicy retry;
        retry.attempts = attempts_;
        retry.wait = [this](double, const Message&) { return onWait_(); };
        const auto client = std::make_shared<HubClient>(settings, [] { return curlTransport({ 5, 1 }); }, 1, retry);
        const auto spec = parseHubModelSpec(name);
        if (!spec.ok())
            return spec.error();
        return fetchHubModel(spec.value(), models(), client,
            [this](const Message& text) { told_ += QString::fromStdString(text.text()); });
    }
    QString refused(const std::string& name)
    {
        const auto place = fetched(name);
        return place.ok() ? QStringLiteral("it came") : QString::fromStdString(place.error().message);
    }
    static QStringList filesIn(const std::filesystem::path& folder)
    {
        QStringList names;
        for (const auto& entry : std::filesystem::directory_iterator(folder))
            names += QString::fromStdString(utf8Text(entry.path().filename()));
        names.sort();
        return names;
    }

private Q_SLOTS:
    void init()
    {
        folder_ = std::make_unique<QTemporaryDir>();
        hub_ = std::make_unique<FakeHub>();
        told_.clear();
        attempts_ = 4;
        onWait_ = [] { return true; };
        qputenv("HF_HOME", (folder_->path() + QStringLiteral("/none")).toUtf8());
    }

    void namesOfModelsAreRead_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("repository");
        QTest::addColumn<QString>("gguf");
        QTest::addColumn<QString>("revision");
        const auto row = [](const char* text, const char* repository, const char* gguf, const char* revision) {
            QTest::newRow(text) << text << repository << gguf << revision;
        };
        row("hf://o/n", "o/n", "", "main");
        row("hf://o/n@v1.0", "o/n", "", "v1.0");
        row("hf://o/n@refs/pr/3", "o/n", "", "refs/pr/3");
        row("hf://o/n-2.5_x/F-Q4_0.gguf@main", "o/n-2.5_x", "F-Q4_0.gguf", "main");
        for (const char* wrong :
            { "hf://", "hf://o", "hf://o/", "hf:///n", "hf://o/n@", "hf://o/n/config.json", "hf://o/../n", "hf://../n",
                "hf://o/n/a/b.gguf", "hf://o/n\n", "hf://o/n@../x y", "o/n", "hf://o/n?x" })
            row(wrong, "", "", "");
    }
    void namesOfModelsAreRead()
    {
        QFETCH(QString, text);
        QFETCH(QString, repository);
        const auto spec = parseHubModelSpec(text.toStdString());
        QCOMPARE(spec.ok(), !repository.isEmpty());
        if (!spec.ok()) {
            QVERIFY(spec.error().message.find("hf://owner/name") != std::string::npos);
            return;
        }
        QFETCH(QString, gguf);
        QFETCH(QString, revision);
        QCOMPARE(QString::fromStdString(spec.value().repository), repository);
        QCOMPARE(QString::fromStdString(spec.value().gguf), gguf);
        QCOMPARE(QString::fromStdString(spec.value().revision), revision);
    }

    void whatATrainingNeedsComesOnce()
    {
        hub_->add("o/n", smallModel());
        const auto place = fetched("hf://o/n");
        QVERIFY2(place.ok(), place.ok() ? "" : place.error().message.c_str());
        QCOMPARE(place.value(), models() / "o" / "n@aaaaaaaaaaaa");
        QCOMPARE(filesIn(place.value()),
            QStringList({ QStringLiteral("config.json"), QStringLiteral("model.safetensors"),
                QStringLiteral("tokenizer.json") }));
        QCOMPARE(readFile(place.value() / "model.safetensors").value(), weights('w', 600'000));
        QCOMPARE(filesIn(models() / "o"),
            QStringList({ QStringLiteral("n@aaaaaaaaaaaa"), QStringLiteral("n@aaaaaaaaaaaa.lock") }));
        const auto bytes = hub_->storeBytes();
        QCOMPARE(fetched("hf://o/n").value(), place.value());
        QCOMPARE(hub_->storeBytes(), bytes);
        std::filesystem::create_directories(models() / "somebody" / "else");
        const auto here = fetchedModels(models());
        QCOMPARE(here.size(), std::size_t(1));
        QCOMPARE(here.front().name, std::string("hf://o/n@aaaaaaaaaaaa"));
        QCOMPARE(here.front().place, place.value());
        QVERIFY(here.front().isWhole && here.front().sizeBytes > 600'000);
    }

    /// "Another process fetches hf://o/n; this one waits for it."
    void whoFetchesAModelAlreadyWasNotNamed()
    {
#ifndef __linux__
        QSKIP("this system does not tell who holds a lock");
#endif
        hub_->add("o/n", smallModel());
        std::filesystem::create_directories(models() / "o");
        auto locked = FileLock::tryLock(models() / "o" / "n@aaaaaaaaaaaa.lock");
        QVERIFY(locked.ok());
        std::optional<FileLock> theirs(std::move(locked).value());
        onWait_ = [] { return false; };
        const auto cancelled = fetched("hf://o/n");
        QVERIFY(!cancelled.ok());
        QVERIFY(cancelled.error().code == ErrorCode::Cancelled);
        QCOMPARE(told_.size(), 1);
        QVERIFY2(
            told_.front().contains(QStringLiteral("process %1").arg(thisProcess().pid)), qPrintable(told_.front()));
        onWait_ = [&theirs] {
            theirs.reset();
            return true;
        };
        const auto place = fetched("hf://o/n");
        QVERIFY2(place.ok(), place.ok() ? "" : place.error().message.c_str());
    }

    void shardsComeWithTheirIndex()
    {
        auto model = smallModel();
        model.files.erase("model.safetensors");
        model.files["model.safetensors.index.json"] = "{}";
        model.files["model-00001-of-00002.safetensors"] = weights('1', 1000);
        model.files["model-00002-of-00002.safetensors"] = weights('2', 1000);
        model.files["model-/../../../outside.safetensors"] = weights('x', 1000); // of a hub that means ill
        hub_->add("o/n", model);
        const auto place = fetched("hf://o/n");
        QVERIFY(place.ok());
        QCOMPARE(filesIn(place.value()).filter(QStringLiteral("model")).size(), 3);
        QVERIFY(!std::filesystem::exists(models() / "outside.safetensors"));
        QVERIFY(!std::filesystem::exists(models() / "o" / "outside.safetensors"));
    }

    void aFetchThatBrokeGoesOnWithItsBytes()
    {
        hub_->add("o/n", smallModel());
        attempts_ = 1;
        std::vector<HubFault> faults(20, HubFault::ServerError);
        faults.front() = HubFault::Cut; // in the middle of the body
        hub_->fail(faults);
        QVERIFY(!fetched("hf://o/n").ok());
        QVERIFY(!std::filesystem::exists(models() / "o" / "n@aaaaaaaaaaaa"));
        QVERIFY(fetchedModels(models()).size() == 1 && !fetchedModels(models()).front().isWhole);
        const auto came = hub_->storeBytes();
        QVERIFY(came > 100'000);
        hub_->fail({});
        attempts_ = 4;
        const auto place = fetched("hf://o/n");
        QVERIFY2(place.ok(), place.ok() ? "" : place.error().message.c_str());
        QCOMPARE(readFile(place.value() / "model.safetensors").value(), weights('w', 600'000));
        QVERIFY2(hub_->storeBytes() < 700'000, std::to_string(hub_->storeBytes()).c_str());
        QVERIFY2(told_.join('\n').contains(QLatin1String("of which")), qPrintable(told_.join('\n')));
    }

    void wrongBytesNeverGetTheName()
    {
        hub_->add("o/n", smallModel());
        hub_->fail(std::vector<HubFault>(40, HubFault::WrongBytes));
        QVERIFY2(refused("hf://o/n").contains(QLatin1String("SHA-256")), qPrintable(refused("hf://o/n")));
        QVERIFY(!std::filesystem::exists(models() / "o" / "n@aaaaaaaaaaaa"));
        hub_->fail({});
        const auto place = fetched("hf://o/n");
        QVERIFY2(place.ok(), place.ok() ? "" : place.error().message.c_str());
        QCOMPARE(readFile(place.value() / "model.safetensors").value(), weights('w', 600'000));
    }

    void withoutTheHubTheCopyIsTaken()
    {
        hub_->add("o/n", smallModel());
        const auto place = fetched("hf://o/n");
        hub_->setAway(true);
        told_.clear();
        QCOMPARE(fetched("hf://o/n").value(), place.value());
        QVERIFY2(told_.join('\n').contains(QLatin1String("The copy that was fetched before is taken")),
            qPrintable(told_.join('\n')));
        QCOMPARE(fetched("hf://o/n@" + std::string(40, 'a')).value(), place.value());
        QVERIFY(!fetched("hf://o/n@v2").ok());
        QVERIFY(!fetched("hf://o/other").ok());
    }

    void whatCannotBeTakenIsSaid()
    {
        auto model = smallModel();
        model.gated = true;
        hub_->add("o/gated", model);
        QVERIFY2(
            refused("hf://o/gated").contains(QString::fromStdString(hub_->endpoint()) + "/o/gated and set HF_TOKEN"),
            qPrintable(refused("hf://o/gated")));
        model = smallModel();
        model.files.erase("model.safetensors");
        hub_->add("o/pickled", model);
        QVERIFY(refused("hf://o/pickled").contains(QLatin1String("has no safetensors")));
        model.files = { { "F-Q4_0.gguf", weights('g', 100) }, { "F-Q8_0.gguf", weights('g', 200) } };
        hub_->add("o/ggufs", model);
        QVERIFY(refused("hf://o/ggufs")
                .contains(QLatin1String("F-Q4_0.gguf, F-Q8_0.gguf. Name one, as hf://o/ggufs/FILE.gguf")));
        QVERIFY(refused("hf://o/ggufs/none.gguf").contains(QLatin1String("has no file none.gguf")));
        const auto place = fetched("hf://o/ggufs/F-Q8_0.gguf");
        QVERIFY(place.ok());
        QCOMPARE(readFile(place.value()).value(), weights('g', 200));
        const auto here = fetchedModels(models());
        QVERIFY(here.size() == 1 && here.front().place == place.value());
        QCOMPARE(here.front().name, std::string("hf://o/ggufs/F-Q8_0.gguf@aaaaaaaaaaaa"));
        QVERIFY(refused("hf://o/none").contains(QLatin1String("does not exist, or is private")));
    }

    void aModelThatIsNotHereIsNamedWithWhatBringsIt()
    {
        const auto adopted = readAdoptedModel("hf://o/n");
        QVERIFY(!adopted.ok());
        QVERIFY(adopted.error().message.find("furrowctl model fetch") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestHubModel)
#include "tst_hub_model.moc"
