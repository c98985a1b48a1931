#include "ui/bridge/run_commands.h"

#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/start/chunk_decisions.h"
#include "core/run/audit/repair.h"
#include "core/run/start/worker_check.h"

namespace furrow {

RunCommands::RunCommands(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<PlanPtr>();
    qRegisterMetaType<RunVerb>();
    qRegisterMetaType<RunConfig>();
    qRegisterMetaType<Error>();
    pool_.setMaxThreadCount(1);
}

RunCommands::~RunCommands() { pool_.waitForDone(); }

void RunCommands::report(RunVerb verb, const QString& folder, const Status& status)
{
    QMetaObject::invokeMethod(
        this,
        [this, verb, folder, status] {
            if (status.ok())
                Q_EMIT done(verb, folder);
            else
                Q_EMIT failed(verb, folder, status.error());
        },
        Qt::QueuedConnection);
}

void RunCommands::run(RunVerb verb, const QString& folder, std::function<Status(const RunPaths&)> job)
{
    Q_EMIT begun(verb, folder);
    pool_.start([this, verb, folder, job = std::move(job)] {
        report(verb, folder, job(RunPaths(pathFromUtf8(folder.toStdString()))));
    });
}

std::function<void(const std::string&)> RunCommands::teller()
{
    return [this](const std::string& sentence) {
        QMetaObject::invokeMethod(
            this, [this, text = QString::fromStdString(sentence)] { Q_EMIT progressed(text); }, Qt::QueuedConnection);
    };
}

void RunCommands::make(const NewRun& request)
{
    Q_EMIT begun(RunVerb::Make, {});
    pool_.start([this, request] {
        auto created = createRun(request, teller());
        if (created.ok())
            report(RunVerb::Make, QString::fromStdString(utf8Text(created.value().folder())), {});
        else
            report(RunVerb::Make, {}, created.error());
    });
}

void RunCommands::launch(const NewRun& request)
{
    Q_EMIT begun(RunVerb::Create, {});
    pool_.start([this, request] {
        if (auto possible = requireWorker(); !possible.ok()) { // a run that nobody can train is not made
            report(RunVerb::Create, {}, possible.error());
            return;
        }
        auto created = createRun(request, teller());
        if (!created.ok()) {
            report(RunVerb::Create, {}, created.error());
            return;
        }
        const QString folder = QString::fromStdString(utf8Text(created.value().folder()));
        report(RunVerb::Create, folder, {});
        // What was frozen, not what was asked: making the run gave it a name and absolute paths.
        auto frozen = currentConfig(created.value());
        if (!frozen.ok()) {
            report(RunVerb::Start, folder, frozen.error());
            return;
        }
        auto started = startRun(created.value(), frozen.value());
        report(RunVerb::Start, folder, started.ok() ? Status() : Status(started.error()));
    });
}

void RunCommands::lookForWorker()
{
    pool_.start([this] {
        const Status possible = requireWorker();
        QMetaObject::invokeMethod(
            this,
            [this, problem = possible.ok() ? Message() : possible.error().message] { Q_EMIT workerLookedFor(problem); },
            Qt::QueuedConnection);
    });
}

void RunCommands::pin(const QString& folder, CheckpointId checkpoint, bool pinned)
{
    run(RunVerb::Pin, folder, [checkpoint, pinned](const RunPaths& paths) -> Status {
        auto ledger = openForControl(paths);
        return ledger.ok() ? ledger.value().setPinned(checkpoint, pinned) : Status(ledger.error());
    });
}

void RunCommands::markFinished(const QString& folder) { run(RunVerb::MarkFinished, folder, furrow::markFinished); }

void RunCommands::retryChunks(const QString& folder, const std::vector<ChunkId>& chunks)
{
    run(RunVerb::RetryChunks, folder, [chunks](const RunPaths& paths) { return furrow::retryChunks(paths, chunks); });
}

void RunCommands::acceptChunks(const QString& folder, const std::vector<ChunkId>& chunks)
{
    run(RunVerb::AcceptChunks, folder, [chunks](const RunPaths& paths) { return furrow::acceptChunks(paths, chunks); });
}

void RunCommands::excludeChunks(const QString& folder, const std::vector<ChunkId>& chunks)
{
    run(RunVerb::ExcludeChunks, folder, [chunks](const RunPaths& paths) {
        const auto excluded = furrow::excludeChunks(paths, chunks, sentence("left out by hand"));
        return excluded.ok() ? Status() : Status(excluded.error());
    });
}

void RunCommands::start(const QString& folder, const RunConfig& wanted, const ResumeChoice& choice)
{
    run(RunVerb::Start, folder, [wanted, choice](const RunPaths& paths) {
        auto started = startRun(paths, wanted, {}, choice);
        return started.ok() ? Status() : Status(started.error());
    });
}

void RunCommands::resume(const QString& folder)
{
    run(RunVerb::Start, folder, [](const RunPaths& paths) -> Status {
        FURROW_TRY_ASSIGN(auto config, currentConfig(paths));
        FURROW_TRY(startRun(paths, config));
        return {};
    });
}

void RunCommands::takeForward(const QString& folder)
{
    run(RunVerb::TakeForward, folder, [tell = teller()](const RunPaths& paths) {
        auto repaired = repairRun(paths, tell);
        return repaired.ok() ? Status() : Status(repaired.error());
    });
}

void RunCommands::pause(const QString& folder) { run(RunVerb::Pause, folder, pauseRun); }

void RunCommands::continueRun(const QString& folder) { run(RunVerb::Continue, folder, furrow::continueRun); }

void RunCommands::stop(const QString& folder) { run(RunVerb::Stop, folder, stopRun); }

void RunCommands::kill(const QString& folder) { run(RunVerb::Kill, folder, killRun); }

void RunCommands::save(const QString& folder) { run(RunVerb::Save, folder, saveNow); }

void RunCommands::evaluate(const QString& folder) { run(RunVerb::Evaluate, folder, evaluateNow); }

void RunCommands::stopAfter(const QString& folder, EndOf what)
{
    run(what == EndOf::Block ? RunVerb::StopAfterBlock : RunVerb::StopAfterEpoch, folder,
        [what](const RunPaths& paths) { return stopAfterThis(paths, what); });
}

namespace {

Result<ResumePlan> planWithData(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto plan, planResume(paths));
    FURROW_TRY_ASSIGN(plan.data, lookAtData(paths));
    return plan;
}

} // namespace

void RunCommands::plan(const QString& folder)
{
    Q_EMIT begun(RunVerb::Plan, folder);
    pool_.start([this, folder] {
        const RunPaths paths(pathFromUtf8(folder.toStdString()));
        auto config = currentConfig(paths);
        auto plan = planWithData(paths);
        if (!config.ok() || !plan.ok()) {
            report(RunVerb::Plan, folder, config.ok() ? plan.error() : config.error());
            return;
        }
        QMetaObject::invokeMethod(
            this,
            [this, folder, plan = std::make_shared<const ResumePlan>(std::move(plan).value()),
                config = std::move(config).value()] { Q_EMIT planned(folder, plan, config); },
            Qt::QueuedConnection);
    });
}

} // namespace furrow
