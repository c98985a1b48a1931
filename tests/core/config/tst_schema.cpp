#include "core/config/schema.h"
#include "core/config/secret_address.h"
#include "core/config/warm_up.h"

#include <QTest>
#include <nlohmann/json.hpp>
#include <set>

using namespace furrow;

class TestSchema : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyKeyIsUniqueAndHasHelp()
    {
        std::set<std::string> keys;
        for (const auto& s : settings()) {
            QVERIFY2(keys.insert(s.key).second, s.key.c_str());
            QVERIFY2(s.help.size() > 10, s.key.c_str());
            QVERIFY2(!s.label.empty(), s.key.c_str());
        }
        QCOMPARE(toJson(RunConfig {}).size(), keys.size());
    }

    void jsonRoundTripKeepsEveryField()
    {
        for (const auto& preset : presets()) {
            auto config = preset.config;
            config.data = { "a.txt", "b,c.txt" };
            const auto reading = configFromJson(nlohmann::json::parse(toJson(config).dump()));
            QVERIFY2(reading.problems.empty(), toString(reading.problems).c_str());
            QVERIFY(reading.config == config);
        }
    }

    void everyPresetIsValidOnceItHasData()
    {
        for (const auto& preset : presets()) {
            auto config = preset.config;
            config.data = { "a.txt" };
            QVERIFY2(validate(config).empty(), (preset.name + ": " + toString(validate(config))).c_str());
        }
    }

    void nameThatIsNotUtf8IsRefusedBeforeAnythingIsMade()
    {
        RunConfig config;
        config.data = { "a.txt" };
        config.name = "caf\xe9"; // Latin-1: it once ended the program when run.json was written, and left a folder
        auto text = toString(validate(config));
        QVERIFY2(text.find("name is 'caf\xef\xbf\xbd', allowed is text in UTF-8") != std::string::npos, text.c_str());
        config.name = "caf\xc3\xa9";
        QVERIFY(validate(config).empty());
        config.data = { "a\xff.txt" };
        text = toString(validate(config));
        QVERIFY2(text.find("data is") != std::string::npos, text.c_str());
    }

    /// A token that was pasted into the wrong field stood in run.json, in the name of the folder and in each status.
    void aTokenOfTheEnvironmentWasTakenAsAName_data()
    {
        QTest::addColumn<QString>("key");
        for (const auto& s : settings())
            if (std::holds_alternative<std::string RunConfig::*>(s.field)
                || std::holds_alternative<std::vector<std::string> RunConfig::*>(s.field))
                QTest::newRow(s.key.c_str()) << QString::fromStdString(s.key);
    }
    void aTokenOfTheEnvironmentWasTakenAsAName()
    {
        QFETCH(QString, key);
        const auto& setting = *findSetting(key.toStdString());
        RunConfig config;
        config.data = { "a.txt" };
        const std::string text = "run-tok_0123456789-two";
        if (const auto* one = std::get_if<std::string RunConfig::*>(&setting.field))
            config.*(*one) = text;
        else
            config.*(std::get<std::vector<std::string> RunConfig::*>(setting.field)) = { "1", text };
        qputenv("HF_TOKEN", "tok_0123456789");
        const auto problems = validate(config);
        qputenv("HF_TOKEN", "two");
        const auto shorter = toString(validate(config));
        qunsetenv("HF_TOKEN");
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(problems.front().key, setting.key);
        const auto& said = problems.front().message;
        QVERIFY2(said.find(setting.key + " holds the secret of the environment variable HF_TOKEN") == 0
                && said.find("tok_") == std::string::npos,
            said.c_str());
        QVERIFY2(shorter.find("holds the secret") == std::string::npos, shorter.c_str());
    }

    /// "Give a file, or hf://owner/name and the secret in HF_TOKEN", which opens no store.
    void theWayOutOfASecretInAStoreWasThatOfTheHub_data()
    {
        QTest::addColumn<QString>("address");
        QTest::addColumn<QString>("kept");
        QTest::addColumn<QString>("variable");
        QTest::newRow("keys of Amazon") << "s3://AKIAX:SECRETx@bucket/x" << "s3://bucket/x" << "AWS_ACCESS_KEY_ID";
        QTest::newRow("a signature of Google")
            << "gs://b/k?Signature=SECRETx" << "gs://b/k" << "CLOUDSDK_AUTH_ACCESS_TOKEN";
        QTest::newRow("an account of a server") << "https://ann:SECRETx@host/x" << "https://host/x"
                                                << "FURROW_DATA_SECRET";
        QTest::newRow("an account of the hub") << "hf://ann:SECRETx@o/n" << "hf://owner/name" << "HF_TOKEN";
    }
    void theWayOutOfASecretInAStoreWasThatOfTheHub()
    {
        QFETCH(QString, address);
        QFETCH(QString, kept);
        QFETCH(QString, variable);
        const QString said = QString::fromStdString(whySecretAddress("data", address.toStdString()).text());
        QVERIFY2(said.contains(kept) && said.contains(variable) && !said.contains("SECRETx"), qPrintable(said));
    }

    void everythingWrongIsReportedAtOnce()
    {
        const auto reading = configFromJson(nlohmann::json::parse(
            R"({"layers": 0, "widht": 3, "lr": "fast", "schedule": "exponential", "batch_size": 1.5, "iterate": 1})"));
        QCOMPARE(reading.problems.size(), std::size_t(6));
        const auto text = toString(reading.problems);
        for (const char* part : { "layers is 0", "1 to 512", "'widht'", "lr is \"fast\"", "'exponential'", "cosine",
                 "batch_size", "iterate is 1" })
            QVERIFY2(text.find(part) != std::string::npos, (std::string(part) + " not in\n" + text).c_str());
    }

    void combinationsNameTheFieldAndAFix_data()
    {
        QTest::addColumn<QString>("json");
        QTest::addColumn<QString>("key");
        QTest::addColumn<QString>("fix");
        QTest::newRow("heads") << R"({"heads": 5, "width": 128})" << "heads" << "4";
        QTest::newRow("kv heads") << R"({"kv_heads": 3})" << "kv_heads" << "0";
        QTest::newRow("chunk over block")
            << R"({"chunk_samples": 200, "samples_per_block": 100})" << "chunk_samples" << "100";
        QTest::newRow("no data") << R"({"data": []})" << "data" << "";
        QTest::newRow("rate 0") << R"({"lr": 0, "min_lr": 0})" << "lr" << "0.001";
        QTest::newRow("devices") << R"({"devices": "cpu:none"})" << "devices" << "cpu:2";
        QTest::newRow("one rank") << R"({"parallel": "data", "workers": 1})" << "workers" << "2";
        QTest::newRow("one device for ranks") << R"({"parallel": "data", "devices": "cpu:1"})" << "devices" << "cpu:2";
        QTest::newRow("ranks and diloco") << R"({"parallel": "data", "merge": "diloco"})" << "merge" << "average";
        QTest::newRow("ranks and merges") << R"({"parallel": "data", "merge_tokens": 5000})" << "merge_tokens" << "0";
        QTest::newRow("lengths") << R"({"min_chars": 10, "max_chars": 5})" << "max_chars" << "0";
        QTest::newRow("clipped hrm") << R"({"clip_per_sample": 1, "architecture": "hrm"})" << "architecture" << "gpt";
        QTest::newRow("clipped experts") << R"({"clip_per_sample": 1, "moe_experts": 4})" << "moe_experts" << "0";
        QTest::newRow("clipped and recomputed")
            << R"({"clip_per_sample": 1, "recompute": true})" << "recompute" << "false";
        QTest::newRow("clipped graph") << R"({"clip_per_sample": 1, "cuda_graph": true})" << "cuda_graph" << "false";
        QTest::newRow("clipped fp16") << R"({"clip_per_sample": 1, "precision": "fp16"})" << "precision" << "bf16";
        QTest::newRow("noise alone") << R"({"noise_multiplier": 1})" << "noise_multiplier" << "0";
        const QString noise = R"({"clip_per_sample": 1, "noise_multiplier": 1, )";
        QTest::newRow("noise in a stream") << noise + R"("data_mode": "stream"})" << "data_mode" << "auto";
        QTest::newRow("noise and losses") << noise + R"("adaptive_lr": true})" << "adaptive_lr" << "false";
        QTest::newRow("windows of epochs") << noise + R"("epochs": 3})" << "epochs" << "1";
        QTest::newRow("windows without end") << noise + R"("iterate": true})" << "iterate" << "false";
        QTest::newRow("samples in one window")
            << noise + R"("privacy_unit": "sample", "long_samples": "cut"})" << "packing" << "single";
        QTest::newRow("samples in several windows")
            << noise + R"("privacy_unit": "sample", "packing": "single"})" << "long_samples" << "cut";
        QTest::newRow("a unit without noise") << R"({"privacy_unit": "sample"})" << "privacy_unit" << "window";
        QTest::newRow("delta without noise") << R"({"target_delta": 0.00001})" << "target_delta" << "0";
        QTest::newRow("epsilon without delta") << noise + R"("target_epsilon": 8})" << "target_delta" << "0.000001";
        QTest::newRow("less than one epoch")
            << noise + R"("target_epsilon": 1, "target_delta": 0.00001})" << "target_epsilon" << "0";
        QTest::newRow("preferences without LoRA") << R"({"objective": "dpo"})" << "lora_rank" << "16";
        QTest::newRow("preferences of hrm")
            << R"({"objective": "dpo", "architecture": "hrm"})" << "architecture" << "gpt";
        const QString pairs = R"({"objective": "dpo", "lora_rank": 8, "init_from": "model", )";
        QTest::newRow("preferences in a stream") << pairs + R"("data_mode": "stream"})" << "data_mode" << "auto";
        QTest::newRow("preferences end to end") << pairs + R"("packing": "end_to_end"})" << "packing" << "auto";
        QTest::newRow("preferences unmasked") << pairs + R"("document_masks": "off"})" << "document_masks" << "auto";
        QTest::newRow("preferences clipped") << pairs + R"("clip_per_sample": 1})" << "clip_per_sample" << "0";
        QTest::newRow("preferences in a graph") << pairs + R"("cuda_graph": true})" << "cuda_graph" << "false";
        QTest::newRow("preferences of a column") << pairs + R"("text_column": "text"})" << "text_column" << "";
    }
    void combinationsNameTheFieldAndAFix()
    {
        QFETCH(QString, json);
        QFETCH(QString, key);
        QFETCH(QString, fix);
        RunConfig base;
        base.data = { "a.txt" };
        const auto reading = configFromJson(nlohmann::json::parse(json.toStdString()), base);
        QVERIFY(reading.problems.empty());
        const auto problems = validate(reading.config);
        QCOMPARE(problems.size(), std::size_t(1));
        QCOMPARE(QString::fromStdString(problems[0].key), key);
        QCOMPARE(QString::fromStdString(problems[0].fix), fix);
    }

    void privateTrainingIsAllowed()
    {
        RunConfig config;
        config.data = { "a.txt" };
        config.clipPerSample = config.noiseMultiplier = 1;
        config.targetDelta = 1e-5;
        config.targetEpsilon = 8;
        QCOMPARE(toString(validate(config)), std::string());
        config.epochs = 3;
        config.shuffle = false; // a window is the same in each epoch
        QCOMPARE(toString(validate(config)), std::string());
        config.shuffle = true;
        config.privacyUnit = PrivacyUnit::Sample;
        config.packing = Packing::Single;
        config.longSamples = LongSamples::LeaveOut;
        QCOMPARE(toString(validate(config)), std::string());
    }

    void aWarmUpLongerThanTheRunIsWarnedOf()
    {
        RunConfig config;
        config.warmupSteps = 100;
        QVERIFY(warmUpWarning(config, 2).empty()); // nobody knows how long the run is
        config.steps = 150;
        QVERIFY(warmUpWarning(config, 1).empty());
        QVERIFY(!warmUpWarning(config, 2).empty()); // 75 steps each
        config.parallel = ParallelMode::Data;
        QVERIFY(warmUpWarning(config, 2).empty()); // one model, and all its steps
        config.steps = 0;
        const double step = static_cast<double>(config.batchSize * config.seqLen) * 2;
        QVERIFY(warmUpWarning(config, 2, 101 * step).empty());
        QVERIFY(!warmUpWarning(config, 2, 99 * step).empty());
    }

    void aRunShorterThanItsWarmUpIsAllowed() // `--steps 30` with a preset of 100 warm-up steps was refused
    {
        RunConfig config;
        config.data = { "a.txt" };
        config.steps = 30;
        config.warmupSteps = 100;
        QVERIFY(validate(config).empty());
    }

    void resumeRefusesWhatDefinesTheChunksAndAllowsTheRest()
    {
        RunConfig frozen;
        auto wanted = frozen;
        wanted.steps = 200;
        wanted.workers = 5;
        QVERIFY(refusedOnResume(frozen, wanted).empty());
        wanted.chunkSamples = 10;
        wanted.tokenizer = "gpt2";
        const auto problems = refusedOnResume(frozen, wanted);
        QCOMPARE(problems.size(), std::size_t(2));
        QVERIFY(problems[0].message.find("new run") != std::string::npos);
    }

    void commandLineSpellsOnlyWhatDiffersAndQuotes()
    {
        const auto preset = findPreset("CHAR").value();
        auto config = preset.config;
        config.data = { "my text.txt", "b.txt" };
        config.iterate = true;
        config.steps = 1000;
        QCOMPARE(QString::fromStdString(commandLine(config, preset)),
            QStringLiteral(
                "furrowctl run --preset char --data 'my text.txt' --data b.txt --steps 1000 --iterate=true"));
    }

    /// "Goethe, Faust.txt" became two files that do not exist.
    void aCommaInANameCutIt_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QStringList>("parts");
        QTest::newRow("one") << "my text.txt" << QStringList { "my text.txt" };
        QTest::newRow("two") << "a.txt, b.txt" << QStringList { "a.txt", "b.txt" };
        QTest::newRow("quoted") << "\"Goethe, Faust.txt\"" << QStringList { "Goethe, Faust.txt" };
        QTest::newRow("quoted among others")
            << "a.txt, \"Goethe, Faust.txt\" ,b.txt" << QStringList { "a.txt", "Goethe, Faust.txt", "b.txt" };
        QTest::newRow("a quote inside") << "\"12\"\" records, all.csv\"" << QStringList { "12\" records, all.csv" };
        QTest::newRow("a quote that nothing closes") << "\"a.txt,b.txt" << QStringList { "\"a.txt", "b.txt" };
        QTest::newRow("a quote in a name") << "say \"hi\".txt" << QStringList { "say \"hi\".txt" };
        QTest::newRow("nothing") << "" << QStringList {};
        QTest::newRow("commas alone") << " , ," << QStringList {};
    }
    void aCommaInANameCutIt()
    {
        QFETCH(QString, text);
        QFETCH(QStringList, parts);
        RunConfig config;
        const auto& data = *findSetting("data");
        QVERIFY(setSetting(config, data, text.toStdString()).empty());
        QStringList read;
        for (const auto& part : config.data)
            read.append(QString::fromStdString(part));
        QCOMPARE(read, parts);
        RunConfig again;
        QVERIFY(setSetting(again, data, settingText(config, data)).empty());
        QCOMPARE(again.data, config.data);
    }

    void unknownPresetListsTheKnownOnes()
    {
        const auto preset = findPreset("huge");
        QVERIFY(!preset.ok());
        QVERIFY(preset.error().message.find("124m") != std::string::npos);
    }

    void numbersMayBeWrittenWithAnExponent()
    {
        RunConfig config;
        QVERIFY(setSetting(config, *findSetting("tokens"), "1e6").empty());
        QCOMPARE(config.tokens, 1000000);
        QVERIFY(!setSetting(config, *findSetting("tokens"), "1e30").empty());
        QVERIFY(!setSetting(config, *findSetting("tokens"), "12 ").empty());
        QVERIFY(!setSetting(config, *findSetting("lr"), "nan").empty());
        QCOMPARE(config.tokens, 1000000);
    }
};

QTEST_GUILESS_MAIN(TestSchema)
#include "tst_schema.moc"
