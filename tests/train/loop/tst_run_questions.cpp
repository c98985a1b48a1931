#include "tiny_run.h"

#include "core/run/audit/begun_with.h"
#include "core/run/status/run_status.h"
#include "core/telemetry/export.h"
#include "core/telemetry/run_telemetry.h"
#include "core/train/tasks/tasks.h"

#include <QFile>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <random>

using namespace furrow;
using namespace furrow::test;

/// Questions that a run is asked while it trains (setting eval_tasks), against the same questions afterwards.
class TestRunQuestions : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        std::minstd_rand random(
            26); // letters that no training tells apart for sure: some answers are right, some are not
        const auto word = [&random] {
            std::string letters(4 + random() % 3, ' ');
            for (char& one : letters)
                one = static_cast<char>('a' + random() % 26);
            return letters;
        };
        for (int i = 0; i < 24; ++i)
            choices_ += nlohmann::json { { "question", "line " + std::to_string(i) + " of 160" },
                { "choices", { word(), word(), word(), word() } }, { "gold", i % 4 } }
                            .dump()
                + "\n";
        choices_ += "no question\n";
    }
    void init() { write("choices.jsonl", choices_); }

    void theAnswersOfARunAreThoseOfEvalOnItsCheckpoint()
    {
        TinyRun run(asking("choices.jsonl"));
        write("changed.jsonl", "{}");
        std::filesystem::rename(at("changed.jsonl"), at("choices.jsonl")); // the run has a copy of its own
        run.train();
        init();
        const auto later = evaluated(run, "choices.jsonl");
        const auto now = told(run);
        QCOMPARE(now["questions"].get<int>(), 24);
        QCOMPARE(now["step"].get<std::int64_t>(), run.head().record.step);
        QCOMPARE(now["kind"].get<std::string>(), std::string("multiple_choice"));
        for (const char* name :
            { "accuracy", "standard_error", "accuracy_normalised", "standard_error_normalised", "chance" })
            QVERIFY2(now[name] == later[name] && now[name].is_number(), name);
        QCOMPARE(now["chance"].get<double>(), 0.25);
        QVERIFY(now["accuracy"] > 0 && now["accuracy"] < 1);

        const auto evals = evalsOf(run);
        QVERIFY(evals.size() > 3); // each ten steps, and at the end
        for (const EvalPoint& eval : evals)
            QCOMPARE(eval.record.tasks.questions, 24);
        QCOMPARE(evals.back().record.tasks.share(), later["accuracy"].get<double>());
    }

    void exportsHaveThemUnderTheNamesOfEval()
    {
        TinyRun run(asking("choices.jsonl"));
        run.train();
        const auto now = told(run);
        for (const auto& [format, name, label] : kClosedNames<MeasuredFormat>)
            (void)must(exportTelemetry(run.paths().telemetryFolder(), format, at(name.data()), {}));
        const QStringList table = text("csv/evaluations.csv").split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
        const QStringList head = table.front().split(QLatin1Char(','));
        const QStringList last = table.back().split(QLatin1Char(','));
        QCOMPARE(last.size(), head.size());
        nlohmann::json line; // the last evaluation
        for (const QString& one : text("jsonl/records.jsonl").split(QLatin1Char('\n'), Qt::SkipEmptyParts))
            if (const auto json = nlohmann::json::parse(one.toStdString()); json["kind"] == "evaluation")
                line = json;
        QString board;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(at("tensorboard")))
            if (entry.is_regular_file())
                board += QString::fromLatin1(QByteArray::fromStdString(must(readFile(entry.path()))));
        for (const char* name :
            { "accuracy", "standard_error", "accuracy_normalised", "standard_error_normalised", "chance" }) {
            const auto column = head.indexOf(QLatin1String(name));
            QVERIFY2(column >= 0 && last[column].toDouble() == now[name].get<double>(), name);
            QVERIFY2(line[name] == now[name], name);
            QVERIFY2(board.contains(QStringLiteral("eval/%1").arg(QLatin1String(name))), name);
        }
        QCOMPARE(last[head.indexOf(QStringLiteral("exact_match"))], QString());
        QVERIFY(line["exact_match"].is_null());
        QCOMPARE(last[head.indexOf(QStringLiteral("questions"))], QStringLiteral("24"));
    }

    /// What the model writes is taken from a run that is asked nothing; being asked changes nothing of the training.
    void writtenAnswersCountWordForWord()
    {
        auto config = TinyRun::config();
        config.epochs = 4;
        TinyRun silent(config);
        silent.train();
        std::string prompts;
        for (int i = 0; i < 6; ++i)
            prompts += nlohmann::json { { "question", "line " + std::to_string(i) + " of" }, { "answer", "?" } }.dump()
                + "\n";
        write("prompts.jsonl", prompts);
        std::string rows;
        int row = 0;
        const auto said = evaluated(silent, "prompts.jsonl");
        for (const auto& answer : said["answers"]) {
            const auto written = answer["written"].get<std::string>();
            QVERIFY(QString::fromStdString(written).toStdString() == written); // no half characters
            rows += nlohmann::json { { "question", "line " + std::to_string(row) + " of" },
                { "answer", row % 3 == 0 ? "never this" : written } }
                        .dump()
                + "\n";
            ++row;
        }
        write("written.jsonl", rows);
        config.evalTasks = at("written.jsonl");
        config.evalSteps = 10;
        TinyRun run(config);
        run.train();
        QCOMPARE(run.weightsHash(), silent.weightsHash());
        const auto now = told(run);
        QCOMPARE(now["kind"].get<std::string>(), std::string("written"));
        QCOMPARE(now["exact_match"].get<double>(), 4.0 / 6);
        QVERIFY(now["exact_match"] == evaluated(run, "written.jsonl")["exact_match"]);
        QVERIFY(!now.contains("accuracy"));
    }

    void noMoreAreAskedThanTheLimitSays()
    {
        auto config = asking("choices.jsonl");
        config.evalTasksLimit = 5;
        TinyRun run(config);
        run.train();
        QCOMPARE(told(run)["questions"].get<int>(), 5);
    }

    void withoutHeldOutTextTheQuestionsAreAskedAllTheSame()
    {
        auto config = asking("choices.jsonl");
        config.heldOutPercent = 0;
        TinyRun run(config);
        run.train();
        QCOMPARE(told(run)["questions"].get<int>(), 24);
        QVERIFY(!must(readStatus(run.paths())).evaluation);
        (void)must(exportTelemetry(run.paths().telemetryFolder(), MeasuredFormat::Csv, at("no-loss"), {}));
        QVERIFY(!text("no-loss/evaluations.csv").contains(QStringLiteral("nan")));
    }

    void theMergeIsAskedToo()
    {
        TinyRun run(asking("choices.jsonl"));
        run.train(0, false, 60);
        run.train(1, false, 60);
        QCOMPARE(run.startTask({ "--task", "merge", "--attempt", std::to_string(run.attempt()) }).exitCode, 0);
        const auto now = told(run);
        QVERIFY2(now["merged"] == true && now["replica"].is_null(), now.dump().c_str());
        QVERIFY(now["accuracy"] == evaluated(run, "choices.jsonl")["accuracy"]);
        QCOMPARE(now["step"].get<std::int64_t>(), run.head().record.step);
    }

    /// A person who stops waits for no questions, and what was answered before stays.
    void aStoppedRunKeepsItsAnswersAndAResumeGoesOn()
    {
        TinyRun run(asking("choices.jsonl"));
        const auto end = run.train(0, false, 200);
        const auto before = told(run);
        QVERIFY(before["step"].get<std::int64_t>() < end.step);
        const auto answered = evalsOf(run).size();
        QVERIFY(changes(run).empty());
        run.beginAttempt();
        run.train();
        QVERIFY(evalsOf(run).size() > answered);
        QVERIFY(told(run)["accuracy"] == evaluated(run, "choices.jsonl")["accuracy"]);
        QVERIFY(told(run)["step"] > before["step"]);
    }

    void changedQuestionsAreRefusedByName()
    {
        TinyRun run(asking("choices.jsonl"));
        std::ofstream(run.paths().questionsFile(), std::ios::app) << "\n";
        const auto changed = changes(run);
        QCOMPARE(changed.size(), std::size_t(1));
        QVERIFY2(changed.front().message.find("questions.jsonl does not hold the questions this run began with")
                != std::string::npos,
            changed.front().message.c_str());
    }

    void whatIsNoFileOfQuestionsIsRefusedBeforeThereIsARun_data()
    {
        QTest::addColumn<QString>("content");
        QTest::addColumn<QString>("said");
        QTest::newRow("no question") << "\n{\"question\": 1}\n"
                                     << "The first: line 2 of";
        QTest::newRow("empty") << ""
                               << "holds no questions";
        QTest::newRow("two kinds") << "{\"question\": \"a\", \"answer\": \"b\"}\n{\"question\": \"a\", \"choices\": "
                                      "[\"b\", \"c\"], \"gold\": 0}\n"
                                   << "Line 2 of";
        QTest::newRow("missing") << QString() << "missing.jsonl";
    }
    void whatIsNoFileOfQuestionsIsRefusedBeforeThereIsARun()
    {
        QFETCH(QString, content);
        QFETCH(QString, said);
        const char* name = content.isNull() ? "missing.jsonl" : "bad.jsonl";
        if (!content.isNull())
            write(name, content.toStdString());
        write("data.txt", TinyRun::numberedLines(40));
        auto config = asking(name);
        config.data = { at("data.txt") };
        const auto made = createRun({ config, "char", at("refused"), {} }, {});
        QVERIFY(!made.ok());
        const QString message = QString::fromStdString(made.error().message);
        QVERIFY2(message.startsWith(QStringLiteral("eval_tasks")) && message.contains(said), qPrintable(message));
        QVERIFY(!QFile::exists(QString::fromStdString(at("refused"))));
    }

    void aRunFromBeforeThereWereQuestionsOpens()
    {
        TinyRun run;
        auto json = nlohmann::json::parse(must(readFile(run.paths().configFile())));
        json["data"].erase("questions_sha256");
        json["config"].erase("eval_tasks");
        json["config"].erase("eval_tasks_limit");
        must(writeFileDurably(realFileSystem(), run.paths().configFile(), json.dump()));
        QVERIFY(changes(run).empty());
        run.train();
        QVERIFY(!must(readStatus(run.paths())).answers);
        QVERIFY(toJson(must(readStatus(run.paths())))["eval_tasks"].is_null());
    }

private:
    std::string at(const char* name) const { return folder_.filePath(QLatin1String(name)).toStdString(); }
    void write(const char* name, const std::string& content) const
    {
        std::ofstream(at(name), std::ios::binary) << content;
    }
    QString text(const char* name) const
    {
        return QString::fromLatin1(QByteArray::fromStdString(must(readFile(at(name)))));
    }
    RunConfig asking(const char* name) const
    {
        auto config = TinyRun::config();
        config.evalTasks = at(name);
        config.evalSteps = 10;
        return config;
    }
    static std::vector<Error> changes(const TinyRun& run)
    {
        auto ledger = run.reader();
        return notAsBegun(run.paths(), must(readRunFile(run.paths())), ledger);
    }
    static nlohmann::json told(const TinyRun& run) { return toJson(must(readStatus(run.paths())))["eval_tasks"]; }
    nlohmann::json evaluated(const TinyRun& run, const char* name) const
    {
        TaskOptions options;
        options.task = WorkerTask::Eval;
        options.runFolder = run.paths().folder();
        options.tasks = at(name);
        return must(runTask(options, [](const std::string&) {}, [] { return false; }));
    }
    static std::vector<EvalPoint> evalsOf(const TinyRun& run)
    {
        RunTelemetry telemetry(run.paths().telemetryFolder(), {});
        while (telemetry.poll()) { }
        return *telemetry.snapshot()->evals;
    }
    QTemporaryDir folder_;
    std::string choices_;
};

QTEST_GUILESS_MAIN(TestRunQuestions)
#include "tst_run_questions.moc"
