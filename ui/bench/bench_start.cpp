// Starting the program, and the table of runs.

#include "core/base/file_system.h"
#include "core/run/folder/run_paths.h"
#include "ui/bench/bench_parts.h"
#include "ui/models/library_table.h"

#include <QCoreApplication>
#include <QProcess>
#include <QRegularExpression>
#include <cmath>

namespace furrow {

namespace {

constexpr int kRuns = 1000;
constexpr int kRows = 10'000;
constexpr int kPatienceMs = 30'000;

/// Starts the program and gives the milliseconds that it says after `words`; -1: it did not.
double saidAfterStart(const QStringList& arguments, const QString& words)
{
    QProcess program;
    program.setProcessChannelMode(QProcess::MergedChannels);
    program.start(QCoreApplication::applicationDirPath() + QStringLiteral("/furrow"), arguments);
    const QRegularExpression wanted(words + QStringLiteral(".*?(\\d+) ms after the start"));
    QString said;
    const WallClock clock;
    double found = -1;
    while (found < 0 && clock.milliseconds() < kPatienceMs
        && (program.state() != QProcess::NotRunning || program.bytesAvailable() > 0)) {
        program.waitForReadyRead(100);
        said += QString::fromUtf8(program.readAll());
        if (const auto match = wanted.match(said); match.hasMatch())
            found = match.captured(1).toDouble();
    }
    program.kill();
    program.waitForFinished();
    return found;
}

void addStart(Bench& bench, const char* name, const QString& workspace, const QString& words, double target)
{
    double worst = -1;
    for (int round = 0; round < 5; ++round) {
        const double took = saidAfterStart(
            { QStringLiteral("--safe-mode"), QStringLiteral("--size"), QStringLiteral("1600"), QStringLiteral("1000"),
                QStringLiteral("--lang"), QStringLiteral("en"), QStringLiteral("--workspace"), workspace },
            words);
        if (took < 0) {
            bench.fail(name, "ms", target);
            return;
        }
        worst = std::max(worst, took);
    }
    bench.add(name, worst, "ms", target);
}

/// The same run many times: what a list reads of each is there, weights and text are not.
bool fillWorkspace(const std::filesystem::path& run)
{
    const RunPaths from(run);
    for (int i = 1; i < kRuns; ++i) {
        const auto folder = run.parent_path() / ("copy-" + std::to_string(i));
        std::error_code failed;
        std::filesystem::create_directory(folder, failed);
        for (const auto& file : { from.configFile(), from.tracker() })
            std::filesystem::copy_file(file, folder / file.filename(), failed);
        if (failed)
            return false;
    }
    return true;
}

} // namespace

void benchStart(Bench& bench)
{
    addStart(bench, "start, process to painted window", bench.folder() + QStringLiteral("/nothing"),
        QStringLiteral("was painted"), 350);
    const auto run = bench.runFolder(QStringLiteral("many"), "many");
    if (run.empty() || !fillWorkspace(run))
        bench.fail("start with 1,000 runs", "ms", 800);
    else
        addStart(bench, "start with 1,000 runs, all listed", bench.folder() + QStringLiteral("/many"),
            QStringLiteral("library lists 1000 runs"), 800);
}

void benchTable(Bench& bench)
{
    std::vector<RunLine> lines(kRows);
    for (int i = 0; i < kRows; ++i) {
        RunLine& line = lines[static_cast<std::size_t>(i)];
        auto config = std::make_shared<RunConfig>();
        config->lr = 1e-5 * (i % 97);
        config->layers = 1 + i % 48;
        line.name = QStringLiteral("run-%1").arg((i * 7919) % kRows);
        line.folder = line.name;
        line.loss = 2 + std::sin(i);
        line.config = config;
    }
    LibraryTable table(libraryColumns());
    LibraryTableFilter filter;
    filter.setSourceModel(&table);
    filter.setSortRole(SortRole);
    table.reset(std::move(lines));
    filter.reindex();
    int round = 0;
    int rows = filter.rowCount();
    bench.add("run table, 10,000 runs, filter",
        repeated(
            [&] {
                filter.setWords(++round % 2 == 0 ? QStringLiteral("run-1") : QStringLiteral("9"));
                rows += filter.rowCount(); // it is lazy
            },
            20),
        "ms", 80);
    filter.setWords({});
    rows += filter.rowCount();
    if (rows == 0) {
        bench.fail("run table, 10,000 runs, sort", "ms", 80);
        return;
    }
    bench.add("run table, 10,000 runs, sort",
        repeated(
            [&] {
                ++round;
                filter.sort(round % 3, round % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
            },
            20),
        "ms", 80);
}

} // namespace furrow
