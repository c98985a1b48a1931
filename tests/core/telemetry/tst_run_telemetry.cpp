#include "core/telemetry/export.h"
#include "core/telemetry/run_telemetry.h"
#include "core/trials/synthetic.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

using namespace furrow;

namespace {

constexpr const char* kHeader
    = "{\"schema\":1,\"run\":\"r\",\"attempt\":1,\"worker\":0,\"boot\":\"b\",\"wall_anchor\":1000000000000,\"mono_anchor\":0}\n";

std::string stepLine(std::int64_t t, std::int64_t step, double loss = 3.5, std::int64_t tokens = 0)
{
    std::string line;
    StepRecord r;
    r.monotonicNs = t * 1'000'000'000;
    r.step = step;
    r.stepTokens = 1000;
    r.tokens = tokens == 0 ? step * 1000 : tokens;
    r.samples = step * 10;
    r.loss = loss;
    encodeLine(TelemetryRecord(r), line);
    return line;
}

void append(const std::filesystem::path& path, const std::string& text)
{
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

SnapshotPtr readAll(RunTelemetry& telemetry)
{
    while (telemetry.poll()) { }
    return telemetry.snapshot();
}

} // namespace

class TestRunTelemetry : public QObject {
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> dir_;
    std::filesystem::path folder_;

private Q_SLOTS:
    void init()
    {
        dir_ = std::make_unique<QTemporaryDir>();
        folder_ = std::filesystem::path(dir_->path().toStdString()) / "telemetry";
        std::filesystem::create_directories(folder_);
    }

    void countsAndSurvivesBadInput_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("steps");
        QTest::addColumn<int>("bad");
        QTest::addColumn<int>("duplicates");
        const QByteArray header = kHeader;
        const auto line = [](int t, int step) { return QByteArray::fromStdString(stepLine(t, step)); };
        QTest::newRow("empty file") << QByteArray() << 0 << 0 << 0;
        QTest::newRow("header only") << header << 0 << 0 << 0;
        QTest::newRow("torn last line") << header + line(1, 1) + line(2, 2).left(20) << 1 << 0 << 0;
        QTest::newRow("torn in the middle") << header + line(1, 1).left(20) + "\n" + line(2, 2) << 1 << 1 << 0;
        QTest::newRow("duplicated") << header + line(1, 1) + line(1, 1) + line(2, 2) << 2 << 0 << 1;
        QTest::newRow("out of order") << header + line(1, 1) + line(3, 3) + line(2, 2) + line(4, 4) << 3 << 0 << 1;
        QTest::newRow("garbage") << header + "\x00\xff garbage" + "\n" + line(1, 1) + "[1,2]\n{}\n" << 1 << 3 << 0;
        QTest::newRow("not a number where one is needed") << header + "{\"k\":\"step\",\"t\":1,\"step\":\"many\"}\n"
                                                          << 0 << 1 << 0;
        QTest::newRow("nested") << header + "{\"k\":\"step\",\"t\":1,\"x\":{}}\n" << 0 << 1 << 0;
        QTest::newRow("unknown kind") << header + "{\"k\":\"future\",\"t\":1}\n" + line(1, 1) << 1 << 0 << 0;
        QTest::newRow("unknown field") << header + "{\"k\":\"step\",\"t\":1,\"step\":1,\"something_long\":\"x\"}\n"
                                       << 1 << 0 << 0;
        QTest::newRow("windows line ends")
            << QByteArray(header).replace("\n", "\r\n") + line(1, 1).replace("\n", "\r\n") << 1 << 0 << 0;
        QTest::newRow("no header") << line(1, 1) << 0 << 0 << 0;
        QTest::newRow("3 MB without a line end")
            << header + QByteArray(3 << 20, 'x') + "\n" + line(1, 1) << 1 << 3 << 0;
        QTest::newRow("huge numbers") << header + "{\"k\":\"step\",\"t\":99999999999999999999,\"step\":1e300}\n"
                                      << 0 << 0 << 0;
    }
    void countsAndSurvivesBadInput()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const int, steps);
        QFETCH(const int, bad);
        QFETCH(const int, duplicates);
        append(folder_ / "1-w0.jsonl", text.toStdString());
        RunTelemetry telemetry(folder_);
        const auto snapshot = readAll(telemetry);
        if (qstrcmp(QTest::currentDataTag(), "huge numbers") == 0) {
            QCOMPARE(snapshot->counts.lines, std::int64_t(2));
            return;
        }
        QCOMPARE(snapshot->counts.steps, std::int64_t(steps));
        QVERIFY(bad == 0 ? snapshot->counts.bad == 0 : snapshot->counts.bad >= 1 && snapshot->counts.bad <= bad);
        QCOMPARE(snapshot->counts.duplicates, std::int64_t(duplicates));
    }

    void aHoleOfTerabytesWasReadToItsEnd()
    {
        const auto path = folder_ / "1-w0.jsonl";
        append(path, kHeader + stepLine(1, 1));
        std::filesystem::resize_file(path, std::uintmax_t(1) << 40);
        RunTelemetry telemetry(folder_);
        const auto snapshot = readAll(telemetry);
        QCOMPARE(snapshot->counts.steps, std::int64_t(1));
        QCOMPARE(snapshot->counts.refusedFiles, std::int64_t(1));
        QVERIFY2(snapshot->counts.problem.find("that is not telemetry") != std::string::npos,
            snapshot->counts.problem.c_str());
        std::int64_t steps = 0;
        const auto count = forEachRecord(folder_, [&steps](const PlacedRecord&) {
            ++steps;
            return Status {};
        });
        QVERIFY(count.ok() && count.value() == 1 && steps == 1);
    }

    void takesATornLineOnceItIsWhole()
    {
        const auto path = folder_ / "1-w0.jsonl";
        const auto line = stepLine(1, 1);
        append(path, kHeader + line.substr(0, 10));
        RunTelemetry telemetry(folder_);
        QCOMPARE(readAll(telemetry)->counts.steps, std::int64_t(0));
        append(path, line.substr(10));
        QCOMPARE(readAll(telemetry)->counts.steps, std::int64_t(1));
        QCOMPARE(readAll(telemetry)->counts.bad, std::int64_t(0));
    }

    void readsAShortenedFileAnew()
    {
        const auto path = folder_ / "1-w0.jsonl";
        append(path, kHeader + stepLine(1, 1) + stepLine(2, 2) + stepLine(3, 3));
        RunTelemetry telemetry(folder_);
        QCOMPARE(readAll(telemetry)->counts.steps, std::int64_t(3));
        std::filesystem::resize_file(path, std::string(kHeader).size() + stepLine(1, 1).size());
        const auto snapshot = readAll(telemetry);
        QCOMPARE(snapshot->counts.steps, std::int64_t(1));
        QCOMPARE(snapshot->counts.shortened, std::int64_t(1));
    }

    /// Of a run that was being copied: the second worker's steps were added behind the first one's.
    void aFileThatCameLateWasAddedBehindTheOthers()
    {
        std::string a = kHeader;
        std::string b = kHeader;
        b.replace(b.find("\"worker\":0"), 10, "\"worker\":1");
        for (int i = 1; i <= 100; ++i) {
            a += stepLine(i, i);
            b += stepLine(i, i);
        }
        append(folder_ / "1-w0.jsonl", a);
        RunTelemetry late(folder_);
        QVERIFY(readAll(late)->complete);
        append(folder_ / "1-w1.jsonl", b.substr(0, b.size() / 2));
        (void)readAll(late);
        append(folder_ / "1-w1.jsonl", b.substr(b.size() / 2));
        for (int i = 0; i < 3; ++i)
            (void)readAll(late);
        RunTelemetry fresh(folder_);
        const auto all = readAll(fresh);
        for (const std::size_t worker : { 0, 1 })
            QTRY_COMPARE(readAll(late)->xAt(worker, 49, XAxis::Tokens), all->xAt(worker, 49, XAxis::Tokens));
        append(folder_ / "1-w0.jsonl", stepLine(101, 101)); // and no more of that
        QCOMPARE(readAll(late)->counts.lines, all->counts.lines + 1);
    }
    void refusesANewerSchemaWithItsVersion()
    {
        append(folder_ / "1-w0.jsonl", "{\"schema\":2,\"run\":\"r\",\"attempt\":1,\"worker\":0}\n" + stepLine(1, 1));
        append(folder_ / "1-w1.jsonl", kHeader + stepLine(1, 1));
        RunTelemetry telemetry(folder_);
        const auto snapshot = readAll(telemetry);
        QCOMPARE(snapshot->counts.steps, std::int64_t(1));
        QCOMPARE(snapshot->counts.refusedFiles, std::int64_t(1));
        QVERIFY(snapshot->counts.problem.find("schema 2") != std::string::npos);
    }

    void stitchesAttemptsAndFindsWhatWasRedone()
    {
        std::string first = kHeader;
        for (int i = 1; i <= 10; ++i)
            first += stepLine(i, i);
        append(folder_ / "1-w0.jsonl", first);
        std::string second
            = "{\"schema\":1,\"run\":\"r\",\"attempt\":2,\"worker\":0,\"boot\":\"c\",\"wall_anchor\":5000000000000,\"mono_anchor\":0}\n";
        for (int i = 8; i <= 15; ++i)
            second += stepLine(i - 7, i);
        append(folder_ / "2-w0.jsonl", second);
        RunTelemetry telemetry(folder_);
        const auto snapshot = readAll(telemetry);
        QCOMPARE(snapshot->stretches.size(), std::size_t(2));
        QCOMPARE(snapshot->supersededFrom(0), std::size_t(7)); // steps 8, 9, 10
        QCOMPARE(snapshot->supersededFrom(1), std::size_t(8));
        // Steps and tokens of the run count what was lost too, active time goes on without the pause.
        QCOMPARE(snapshot->xAt(1, 0, XAxis::WorkerStep), 8.0);
        QCOMPARE(snapshot->xAt(1, 0, XAxis::GlobalStep), 11.0);
        QCOMPARE(snapshot->xAt(1, 0, XAxis::Tokens), 11'000.0);
        QCOMPARE(snapshot->xAt(1, 0, XAxis::Samples), 110.0);
        QCOMPARE(snapshot->xAt(1, 0, XAxis::ActiveTime), 9.0);
        QCOMPARE(snapshot->xAt(1, 0, XAxis::WallTime), 5001.0);
    }

    void aRollBackBeginsAStretch()
    {
        append(folder_ / "1-w0.jsonl",
            kHeader + stepLine(1, 1) + stepLine(2, 2) + stepLine(3, 3) + stepLine(4, 2) + stepLine(5, 3));
        RunTelemetry telemetry(folder_);
        const auto snapshot = readAll(telemetry);
        QCOMPARE(snapshot->stretches.size(), std::size_t(2));
        QCOMPARE(snapshot->supersededFrom(0), std::size_t(1));
        QCOMPARE(snapshot->counts.duplicates, std::int64_t(0));
    }

    void tokensOfAllWorkersAddUpInTimeOrder()
    {
        std::string other = kHeader;
        other.replace(other.find("\"worker\":0"), 10, "\"worker\":1");
        append(folder_ / "1-w0.jsonl", kHeader + stepLine(1, 1, 3, 1024) + stepLine(3, 2, 3, 2048));
        append(folder_ / "1-w1.jsonl", other + stepLine(2, 1, 3, 5120) + stepLine(4, 2, 3, 10240));
        RunTelemetry telemetry(folder_);
        const auto snapshot = readAll(telemetry);
        QCOMPARE(snapshot->xAt(0, 1, XAxis::Tokens), 2048.0 + 5120.0);
        QCOMPARE(snapshot->xAt(1, 1, XAxis::Tokens), 2048.0 + 10240.0);
    }

    /// Worker 1 died with steps that no checkpoint had and did not come back: the axes ended between what the weights
    /// have and what was trained, and the export of the run had a third number.
    void axesAndExportCountedAPartOfWhatWasLost()
    {
        const auto header = [](int attempt, int worker, int wall) {
            return "{\"schema\":1,\"run\":\"r\",\"attempt\":" + std::to_string(attempt)
                + ",\"worker\":" + std::to_string(worker) + ",\"boot\":\"b\",\"wall_anchor\":" + std::to_string(wall)
                + "000000000,\"mono_anchor\":0}\n";
        };
        std::string own = header(1, 0, 100);
        std::string other = header(1, 1, 100);
        for (int i = 1; i <= 6; ++i) {
            own += stepLine(2 * i, i);
            other += stepLine(2 * i + 1, i);
        }
        std::string again = header(2, 0, 200);
        for (int i = 4; i <= 9; ++i) // from a checkpoint with three steps
            again += stepLine(i, i);
        append(folder_ / "1-w0.jsonl", own);
        append(folder_ / "1-w1.jsonl", other);
        append(folder_ / "2-w0.jsonl", again);
        RunTelemetry telemetry(folder_);
        const auto snapshot = readAll(telemetry);
        const std::size_t last = snapshot->stretches.size() - 1;
        QCOMPARE(snapshot->stretches[last].attempt, std::int64_t(2));
        QCOMPARE(snapshot->xAt(last, 5, XAxis::GlobalStep), 18.0); // 6 and 6, three of them again, and 3 more
        QVERIFY(std::abs(snapshot->xAt(last, 5, XAxis::Tokens) - 18'000) < kTokenUnit);
        QCOMPARE(snapshot->xAt(last, 5, XAxis::Samples), 180.0);
        const auto out = folder_.parent_path() / "csv";
        QVERIFY(exportTelemetry(folder_, MeasuredFormat::Csv, out).ok());
        std::ifstream in(out / "steps.csv");
        std::set<std::string> numbers;
        for (std::string line; std::getline(in, line);)
            numbers.insert(QString::fromStdString(line).section(QLatin1Char(','), 4, 4).toStdString());
        QCOMPARE(numbers.size(), std::size_t(19)); // each step has its own, behind the name of the column
        QVERIFY(numbers.contains("global_step") && numbers.contains("1") && numbers.contains("18"));
    }

    void everyRecordIsExported()
    {
        SyntheticRun run;
        run.steps = 400;
        const auto written = writeSyntheticTelemetry(folder_, run);
        QVERIFY(written.ok());
        append(folder_ / "9-w7.jsonl",
            std::string(kHeader)
                + "{\"k\":\"event\",\"t\":5,\"what\":\"alarm\",\"text\":\"a, \\\"b\\\"\"}\nrubbish\n{\"k\":\"drift\",\"t\":6,\"round\":1,\"mean\":0.5}\n");
        std::int64_t steps = 0;
        std::int64_t others = 0;
        const auto walked = forEachRecord(folder_, [&](const PlacedRecord& at) -> Status {
            (at.line.kind == LineKind::Step ? steps : others) += 1;
            return {};
        });
        QVERIFY(walked.ok());
        QCOMPARE(steps, written.value().stepLines);
        QCOMPARE(walked.value(), steps + others);
        const auto out = folder_.parent_path();
        for (const auto& [format, name, label] : kClosedNames<MeasuredFormat>)
            QCOMPARE(exportTelemetry(folder_, format, out / name).value(), walked.value());
        const auto linesOf = [&](const char* file) {
            std::ifstream in(out / file);
            std::int64_t lines = 0;
            for (std::string line; std::getline(in, line);)
                ++lines;
            return lines;
        };
        QCOMPARE(linesOf("csv/steps.csv"), steps + 1);
        QCOMPARE(linesOf("csv/drifts.csv"), 2);
        QCOMPARE(linesOf("jsonl/records.jsonl"), walked.value());
        std::ifstream events(out / "csv" / "events.csv");
        std::string line;
        while (std::getline(events, line) && line.find("\"a, ") == std::string::npos) { }
        QVERIFY2(line.find("alarm,\"a, \"\"b\"\"\"") != std::string::npos, line.c_str());
        const std::filesystem::directory_iterator first(out / "tensorboard" / "w0");
        QVERIFY(first->path().filename().string().starts_with("events.out.tfevents.") && first->file_size() > 1000);
        QVERIFY(!exportTelemetry(folder_, MeasuredFormat::Csv, out / "csv")
                .ok()); // never into a folder with something in it
    }

    /// The end of DiLoCo is measured by a task: its evaluation and drifts were in no export.
    void whatATaskMeasuredIsExported()
    {
        const std::string header = QString::fromLatin1(kHeader)
                                       .replace(QStringLiteral("\"worker\":0"), QStringLiteral("\"worker\":-1"))
                                       .toStdString();
        append(folder_ / "1-task.jsonl",
            header + "{\"k\":\"drift\",\"t\":6,\"round\":1,\"replica\":1,\"mean\":0.5,\"base\":0.25,\"pnorm\":1}\n");
        const auto out = folder_.parent_path();
        for (const auto format : { MeasuredFormat::Csv, MeasuredFormat::TensorBoard })
            QCOMPARE(exportTelemetry(folder_, format, out / nameOf(format)).value(), 1);
        std::ifstream drifts(out / "csv" / "drifts.csv");
        std::string line;
        std::getline(drifts, line);
        std::getline(drifts, line);
        QVERIFY2(line.find(",1,-1,1,1,0.5,0.25") != std::string::npos, line.c_str());
        QVERIFY(std::filesystem::is_directory(out / "tensorboard" / "task"));
    }

    /// Columns of CSV and keys of JSON lines had other names, epochs counted from 0, chunks were numbers of fifteen
    /// digits, and lost steps looked like all others.
    void tablesAndLinesOfAnExportSayOneThing()
    {
        append(folder_ / "1-w0.jsonl", kHeader);
        for (const int step : { 1, 2 }) {
            StepRecord record;
            record.monotonicNs = step * 1'000'000'000;
            record.step = step;
            record.chunk = 17;
            record.loss = 3;
            std::string line;
            encodeLine(TelemetryRecord(record), line);
            append(folder_ / "1-w0.jsonl", line);
        }
        ExportView view;
        view.chunkName = [](std::int64_t chunk) { return "3:" + std::to_string(chunk); };
        view.isLost = [](const PlacedRecord& at) { return at.line.step.step == 2; };
        const auto out = folder_.parent_path();
        for (const auto& [format, name, label] : kClosedNames<MeasuredFormat>)
            QCOMPARE(exportTelemetry(folder_, format, out / name, view).value(), 2);
        const auto linesOf = [&](const char* file) {
            std::ifstream in(out / file, std::ios::binary);
            QStringList lines;
            for (std::string line; std::getline(in, line);)
                lines.append(QString::fromStdString(line).trimmed());
            return lines;
        };
        const QStringList table = linesOf("csv/steps.csv");
        const QStringList names = table[0].split(QLatin1Char(','));
        const QStringList objects = linesOf("jsonl/records.jsonl");
        QCOMPARE(objects.size(), 2);
        for (int row = 0; row < 2; ++row) {
            const QJsonObject object = QJsonDocument::fromJson(objects[row].toUtf8()).object();
            const QStringList values = table[row + 1].split(QLatin1Char(','));
            QCOMPARE(values.size(), names.size());
            for (int i = 0; i < names.size(); ++i) {
                QVERIFY2(object.contains(names[i]), qPrintable(names[i]));
                const QJsonValue value = object[names[i]];
                QVERIFY2(value.isString() ? value.toString() == values[i] : value.toDouble() == values[i].toDouble(),
                    qPrintable(names[i] + QStringLiteral(": ") + values[i]));
            }
            QCOMPARE(object[QStringLiteral("epoch")].toInt(), 1);
            QCOMPARE(object[QStringLiteral("chunk")].toString(), QStringLiteral("3:17"));
            QCOMPARE(object[QStringLiteral("lost")].toInt(), row);
        }
        std::ifstream events(std::filesystem::directory_iterator(out / "tensorboard" / "w0")->path(), std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(events)), std::istreambuf_iterator<char>());
        QVERIFY(bytes.find("train/loss") != std::string::npos && bytes.find("lost/loss") != std::string::npos);
    }

    /// Losses of weights that the run had given up looked like all others, and those of merges stood at a step of the
    /// worker that merged.
    void evaluationsOfGivenUpWeightsLookedLikeAllOthers()
    {
        append(folder_ / "1-w0.jsonl", kHeader);
        const auto write = [this](std::int64_t step, std::int64_t weightsStep, EvalRecord::What what) {
            std::string line;
            encodeLine(TelemetryRecord(EvalRecord {
                           step * 1'000'000'000, step, 0, 0.5 * static_cast<double>(step), weightsStep, what }),
                line);
            append(folder_ / "1-w0.jsonl", line);
        };
        write(1, 1, EvalRecord::What::Replica);
        write(2, 2, EvalRecord::What::Replica);
        write(3, 77, EvalRecord::What::Merged);
        ExportView view;
        view.isLost = [](const PlacedRecord& at) { return at.line.eval.step == 2; };
        const auto out = folder_.parent_path();
        for (const auto& [format, name, label] : kClosedNames<MeasuredFormat>)
            QCOMPARE(exportTelemetry(folder_, format, out / name, view).value(), 3);
        std::ifstream table(out / "csv" / "evaluations.csv", std::ios::binary);
        std::ifstream objects(out / "jsonl" / "records.jsonl", std::ios::binary);
        std::string line;
        std::getline(table, line);
        QVERIFY2(QString::fromStdString(line).trimmed().endsWith(QStringLiteral(",lost,pairs,margin,preferred")),
            line.c_str());
        for (const int lost : { 0, 1, 0 }) {
            std::getline(table, line);
            QVERIFY2(QString::fromStdString(line).trimmed().endsWith(QStringLiteral(",%1,,,").arg(lost)), line.c_str());
            std::getline(objects, line);
            const QJsonObject row = QJsonDocument::fromJson(QByteArray::fromStdString(line)).object();
            QCOMPARE(row[QStringLiteral("lost")].toInt(-1), lost);
        }
        std::ifstream events(std::filesystem::directory_iterator(out / "tensorboard" / "w0")->path(), std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(events)), std::istreambuf_iterator<char>());
        for (const char* tag : { "eval/loss", "lost/eval_loss", "eval/loss_merged" })
            QVERIFY2(bytes.find(tag) != std::string::npos, tag);
        QVERIFY(bytes.find("\x10\x4d\x2a") != std::string::npos); // field 2, the step, is 77
        QVERIFY(bytes.find("\x10\x03\x2a") == std::string::npos);
    }

    /// A mean over the column was too low: ranks that know no loss had one of 0.
    void aFollowerOfAGroupHadALossOfNothing()
    {
        std::string lines;
        encodeLine(TelemetryHeader { "r", 1, 1, "b", 1'000'000'000'000, 0 }, lines);
        StepRecord record;
        record.monotonicNs = 1'000'000'000;
        record.step = 1;
        record.ranks = 2;
        record.rank = 1;
        encodeLine(TelemetryRecord(record), lines);
        append(folder_ / "1-w1.jsonl", lines);
        const auto out = folder_.parent_path() / "followers";
        QCOMPARE(exportTelemetry(folder_, MeasuredFormat::JsonLines, out, {}).value(), 1);
        std::ifstream in(out / "records.jsonl", std::ios::binary);
        std::string line;
        std::getline(in, line);
        const QJsonObject row = QJsonDocument::fromJson(QByteArray::fromStdString(line)).object();
        QCOMPARE(row[QStringLiteral("rank")].toInt(), 1);
        for (const char* name : { "loss", "tokens", "step_tokens", "samples", "global_step", "learning_rate" })
            QVERIFY2(row[QLatin1String(name)].isNull(), name);
    }

    void theCacheGivesTheSameSnapshotAndGoesOn()
    {
        SyntheticRun run;
        run.steps = 20'000;
        QVERIFY(writeSyntheticTelemetry(folder_, run).ok());
        const auto cache = folder_ / "view" / "columns.bin";
        RunTelemetry cold(folder_, cache);
        const auto want = readAll(cold);
        QVERIFY(cold.saveCache().ok());
        append(folder_ / "2-w0.jsonl", stepLine(1'000'000, 1'000'000));
        RunTelemetry cached(folder_, cache);
        QVERIFY(cached.loadCache());
        auto got = cached.snapshot();
        QCOMPARE(got->counts.steps, want->counts.steps);
        QCOMPARE(got->counts.duplicates, want->counts.duplicates);
        QCOMPARE(got->evals->size(), want->evals->size());
        QCOMPARE(got->stretches.size(), want->stretches.size());
        for (std::size_t k = 0; k < got->stretches.size(); ++k) {
            const auto a = got->curve(k, Metric::Loss, XAxis::Tokens);
            const auto b = want->curve(k, Metric::Loss, XAxis::Tokens);
            QCOMPARE(a->size(), b->size());
            QCOMPARE(a->range(0, a->size()).max, b->range(0, b->size()).max);
            QCOMPARE(a->x(a->size() - 1), b->x(b->size() - 1));
            QCOMPARE(got->stretches[k].paces().range(0, a->size()).mean(),
                want->stretches[k].paces().range(0, b->size()).mean());
            QCOMPARE(got->stretches[k].activeBase, want->stretches[k].activeBase);
        }
        got = readAll(cached);
        QCOMPARE(got->counts.steps, want->counts.steps + 1);
    }

    /// The console wrote its cache of a run that somebody sent through links in its folder, over whatever they led to.
    void theCacheWasWrittenThroughALink()
    {
        SyntheticRun run;
        run.steps = 3000;
        QVERIFY(writeSyntheticTelemetry(folder_, run).ok());
        const auto theirs = folder_ / "theirs";
        std::filesystem::create_directory(theirs);
        std::ofstream(theirs / "notes") << "of somebody else";
        std::filesystem::create_directory(folder_ / "view");
        std::filesystem::create_symlink(theirs / "notes", folder_ / "view" / "columns.bin.part");
        std::filesystem::create_directory_symlink(theirs, folder_ / "linked");
        for (const char* view : { "view", "linked" }) {
            RunTelemetry cold(folder_, folder_ / view / "columns.bin");
            readAll(cold);
            const auto saved = cold.saveCache();
            QVERIFY(!saved.ok());
            QVERIFY2(saved.error().message.find("is a link") != std::string::npos, saved.error().message.c_str());
        }
        QCOMPARE(std::filesystem::file_size(theirs / "notes"), std::uintmax_t(16));
        QVERIFY(!std::filesystem::exists(theirs / "columns.bin"));
    }

    void aDamagedCacheIsNotUsed_data()
    {
        QTest::addColumn<int>("what");
        QTest::newRow("one flipped byte") << 0;
        QTest::newRow("cut") << 1;
        QTest::newRow("another file behind it") << 2;
        QTest::newRow("empty") << 3;
    }
    void aDamagedCacheIsNotUsed()
    {
        QFETCH(const int, what);
        SyntheticRun run;
        run.steps = 3000;
        QVERIFY(writeSyntheticTelemetry(folder_, run).ok());
        const auto cache = folder_ / "columns.bin";
        {
            RunTelemetry cold(folder_, cache);
            readAll(cold);
            QVERIFY(cold.saveCache().ok());
        }
        const auto size = std::filesystem::file_size(cache);
        if (what == 0) {
            std::fstream file(cache, std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(static_cast<std::streamoff>(size / 2));
            file.put('\x5a');
        } else if (what == 1) {
            std::filesystem::resize_file(cache, size - 5);
        } else if (what == 2) {
            run.seed = 2;
            run.steps = 6000;
            QVERIFY(writeSyntheticTelemetry(folder_, run).ok());
        } else {
            std::filesystem::resize_file(cache, 0);
        }
        RunTelemetry again(folder_, cache);
        QVERIFY(!again.loadCache());
        QVERIFY(readAll(again)->counts.steps >= 3000);
    }

    void theGeneratorGivesTheSameBytesAndWhatItSays()
    {
        SyntheticRun run;
        run.steps = 5000;
        const auto totals = writeSyntheticTelemetry(folder_, run);
        const auto other = folder_.parent_path() / "other";
        QVERIFY(writeSyntheticTelemetry(other, run).ok());
        for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
            std::ifstream a(entry.path(), std::ios::binary), b(other / entry.path().filename(), std::ios::binary);
            QVERIFY(std::string(std::istreambuf_iterator<char>(a), {})
                == std::string(std::istreambuf_iterator<char>(b), {}));
        }
        RunTelemetry telemetry(folder_);
        const auto snapshot = readAll(telemetry);
        QCOMPARE(snapshot->counts.steps + snapshot->counts.duplicates, totals.value().stepLines);
        QCOMPARE(snapshot->counts.duplicates, totals.value().duplicates);
        QCOMPARE(snapshot->counts.bad, std::int64_t(0));
    }
};

QTEST_GUILESS_MAIN(TestRunTelemetry)
#include "tst_run_telemetry.moc"
