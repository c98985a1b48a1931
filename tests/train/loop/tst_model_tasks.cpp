#include "core/train/tasks/tasks.h"

#include "tests/fakes/small_gguf.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>

using namespace furrow;

namespace {

bool never() { return false; }

Result<nlohmann::json> run(TaskOptions options, std::string* said = nullptr)
{
    return runTask(options, [said](const std::string& text) { said ? void(said->append(text)) : void(); }, never);
}

nlohmann::json good(Result<nlohmann::json> result)
{
    if (!result.ok())
        qFatal("%s", result.error().message.c_str());
    return std::move(result).value();
}

} // namespace

/// Tasks on a model that no run has: a GGUF, or the Hugging Face folder that an export makes of it.
class TestModelTasks : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        std::ofstream(at("models/small.gguf"), std::ios::binary) << SmallGguf().bytes();
        std::ofstream(at("text.txt"), std::ios::binary) << "ab abc11\nabc ab\n";
    }

    /// All its weights are zero, so that each of ten tokens is equally likely.
    void theLossOfAModelIsThatOfItsWeights()
    {
        TaskOptions options = task(WorkerTask::Eval, "models/small.gguf");
        options.data = at("text.txt");
        const auto result = good(run(options));
        QVERIFY(std::fabs(result["loss"].get<double>() - std::log(10.0)) < 1e-6);
        QVERIFY(result["tokens"] > 5 && result["is_run"] == false && result["weights"].is_null());
        QCOMPARE(QDir(QString::fromStdString(at("models"))).entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
            QStringList { QStringLiteral("small.gguf") }); // nothing is written beside it
    }

    /// Each of ten tokens is equally likely: the shortest choice is, and by its length the one with the fewest tokens
    /// for its characters.
    void questionsAreAnsweredByLikelihood()
    {
        std::ofstream(at("tasks.jsonl"), std::ios::binary)
            << R"({"question": "a", "choices": ["ab", "a b c"], "gold": 1}
{"question": "ab", "choices": ["abc", "ab"], "gold": "ab"}
{"question": "", "choices": ["ab ab ab", "c"], "gold": 0}
no question
)";
        TaskOptions options = task(WorkerTask::Eval, "models/small.gguf");
        options.tasks = at("tasks.jsonl");
        const auto result = good(run(options));
        QCOMPARE(result["questions"].get<int>(), 3);
        QCOMPARE(result["unusable"].get<int>(), 1);
        const auto ofFirst = result["answers"][0]["log_likelihoods"].get<std::vector<double>>();
        QVERIFY(std::fabs(ofFirst[0] + std::log(10.0)) < 1e-6); // " ab" is one token
        QVERIFY(std::fabs(result["accuracy"].get<double>() - 1.0 / 3) < 1e-9);
        QVERIFY(std::fabs(result["accuracy_normalised"].get<double>() - 2.0 / 3) < 1e-9);
        QVERIFY(std::fabs(result["chance"].get<double>() - 0.5) < 1e-9);

        options.fewShot = 2;
        QCOMPARE(good(run(options))["answers"][0]["line"].get<int>(), 3);
        options.fewShot = 3;
        QVERIFY(run(options).error().message.find("none would be left") != std::string::npos);
        options.fewShot = 0;
        options.limit = 1;
        QCOMPARE(good(run(options))["questions"].get<int>(), 1);
    }

    void whatATaskNeedsIsSaid()
    {
        const auto said = [](const Result<nlohmann::json>& result) {
            return result.ok() ? QString() : QString::fromStdString(result.error().message);
        };
        TaskOptions options = task(WorkerTask::Eval, "models/small.gguf");
        QVERIFY(said(run(options)).contains("Name one with --data"));
        options.checkpoint = "r0-1";
        QVERIFY(said(run(options)).contains("has no checkpoints"));
        SmallGguf bare;
        for (const char* key : { "model", "pre", "tokens", "token_type", "merges" })
            bare.metadata.erase("tokenizer.ggml." + std::string(key));
        std::ofstream(at("bare.gguf"), std::ios::binary) << bare.bytes();
        QVERIFY(said(run(task(WorkerTask::Sample, "bare.gguf"))).contains("texts have no meaning for it"));
        std::ofstream(at("cut.gguf"), std::ios::binary) << SmallGguf().bytes().substr(0, 900);
        QVERIFY2(said(run(task(WorkerTask::Sample, "cut.gguf"))).contains("cut.gguf"),
            qPrintable(said(run(task(WorkerTask::Sample, "cut.gguf")))));
    }

    void aModelIsSampledAndChangesItsForm()
    {
        TaskOptions options = task(WorkerTask::Sample, "models/small.gguf");
        options.prompt = "ab";
        options.tokens = 3;
        options.temperature = 0;
        std::string text;
        QVERIFY(good(run(options, &text))["tokens"] == 3);
        QVERIFY(QString::fromStdString(text).startsWith("ab"));

        options = task(WorkerTask::Export, "models/small.gguf");
        options.out = at("folder");
        QVERIFY(good(run(options))["format"] == "huggingface");
        for (const char* name :
            { "config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json" })
            QVERIFY2(QFile::exists(QString::fromStdString(at("folder/")) + name), name);
        QVERIFY(!QFile::exists(QString::fromStdString(at("folder/README.md")))); // nothing is known of how it was made

        options = task(WorkerTask::Export, "folder");
        options.format = ModelFormat::Gguf;
        options.type = GgufType::Q8_0;
        options.out = at("again.gguf");
        QVERIFY(good(run(options))["format"] == "gguf");
        const auto file = readGguf(options.out);
        QVERIFY(file.ok() && file.value().find("blk.1.attn_k.weight")->type == GgufType::Q8_0);
        QVERIFY(file.value().find("blk.1.attn_norm.weight")->type == GgufType::F32);
        QCOMPARE(file.value().text("tokenizer.chat_template"), std::string("{{ messages }}"));
        QCOMPARE(file.value().text("general.name"), std::string("again"));

        const auto taken = run(options);
        QVERIFY(!taken.ok() && taken.error().message.find("is there already") != std::string::npos);
        options.out = at("other.gguf");
        options.type = GgufType::Q6_K;
        QVERIFY(!run(options).ok() && !QFile::exists(QString::fromStdString(options.out)));
    }

    void aPromptOfAModelHasItsSpecialTokens()
    {
        TaskOptions options = task(WorkerTask::Sample, "models/small.gguf");
        options.tokens = 1;
        options.prompt = "<|endoftext|>ab";
        const auto result = good(run(options));
        QCOMPARE(result["prompt_tokens"].front().get<int>(), 0);
        QCOMPARE(result["prompt_tokens"][1].get<int>(), 7);
    }

private:
    std::string at(const char* name)
    {
        QDir(folder_.path()).mkpath(QStringLiteral("models"));
        return folder_.filePath(QString::fromUtf8(name)).toStdString();
    }
    TaskOptions task(WorkerTask which, const char* place)
    {
        TaskOptions options;
        options.task = which;
        options.runFolder = at(place);
        return options;
    }
    QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(TestModelTasks)
#include "tst_model_tasks.moc"
