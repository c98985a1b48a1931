// What the inspector says of a worker, a run and its attempts.

#include "core/run/folder/attempt_config.h"
#include "ui/models/core_words.h"
#include "ui/models/run_words.h"
#include "ui/models/shown_name.h"
#include "ui/models/shown_status.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/long_names.h"
#include "ui/shell/inspector_dock.h"

#include <QLabel>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kIdLetters = 8; // the whole id is in the tooltip

QString deviceText(const WorkerStatus& status)
{
    return QString::fromStdString(status.deviceName.empty() ? status.device : status.deviceName);
}

} // namespace

std::optional<WorkerStatus> InspectorDock::statusOf(int worker) const
{
    const StatusPtr status = presentStatus(bench_);
    if (!status)
        return std::nullopt;
    const auto found = std::find_if(
        status->workers.begin(), status->workers.end(), [worker](const WorkerStatus& w) { return w.worker == worker; });
    return found == status->workers.end() ? std::nullopt : std::optional(*found);
}

/// Of a run that cannot be read: what it was.
QString InspectorDock::stateText() const
{
    const QString state = stateWord(*bench_.watcher().status());
    return bench_.watcher().problem().empty() ? state : tr("was %1").arg(state.toLower());
}

// As maps and curves show the worker, and the device it had last.
void InspectorDock::addWorkerRow(int worker)
{
    QString words = workerName(worker);
    if (const auto status = statusOf(worker))
        words = tr("%1, %2").arg(words, deviceText(*status));
    rows_.push_back({ tr("Worker"), words, words, worker });
}

void InspectorDock::showWorker(int worker)
{
    title_->setText(tr("Worker %1").arg(worker));
    sayWhetherPresent();
    const auto found = statusOf(worker);
    if (!found)
        return;
    addRow(tr("Newest process"), tr("attempt %1").arg(bench_.watcher().status()->attempt),
        tr("Earlier ones of this worker are on the Workers page."));
    addRow(tr("Process"), found->alive ? QString::number(found->pid) : tr("not alive"));
    addRow(tr("Device"), deviceText(*found), QString::fromStdString(found->device));
    addRow(tr("Replica"), QString::number(found->replica));
    addRow(found->alive ? tr("Phase") : tr("Its end"),
        found->alive ? phaseWord(found->phase) : coreWords(found->endCause));
    addRow(tr("Restarts"), countText(found->restarts));
    if (found->chunkBlock >= 0)
        addRow(tr("Chunk"),
            tr("%1, %2").arg(chunkShort(found->chunkBlock, found->chunkColumn), percentText(found->chunkFraction)));
    addRow(tr("Steps"), countText(found->step));
    addRow(tr("Tokens"), countText(found->tokens));
    if (found->step > 0)
        addRow(tr("Loss"), lossText(found->loss, found->lossIsGone), found->lossIsGone ? lossIsGoneText() : QString());
    if (found->alive) { // what ended has no speed, and made its last progress before
        addRow(tr("Speed"), rateText(found->tokensPerSecond));
        addRow(tr("Last progress"), agoText(found->secondsSinceProgress));
    }
    if (found->memory)
        addRow(tr("Memory, peak"),
            tr("%1, %2 times the estimate")
                .arg(bytesText(static_cast<std::uint64_t>(found->memory->peakBytes)),
                    fixedText(found->memory->ratio(), 2)));
}

// What the supervisor says about the run and its workers is of the present; map, curves and lanes are not while a
// replay runs.
void InspectorDock::sayWhetherPresent()
{
    const auto moment = bench_.replay().moment();
    const RunWatcher& watcher = bench_.watcher();
    present_->setVisible(moment || !watcher.problem().empty());
    if (!watcher.problem().empty())
        present_->setText(tr("As last read, at %1: the folder of the run cannot be read now.")
                .arg(wallTimeText(watcher.lastReadNs())));
    else if (moment)
        present_->setText(tr("As it is now, not as it was at %1.").arg(wallTimeText(*moment)));
}

void InspectorDock::addChanges(std::optional<std::int64_t> onlyOf)
{
    const TablesPtr& tables = bench_.watcher().tables();
    if (!tables)
        return;
    const auto all = changesByAttempt(tables->attempts, bench_.watcher().status()->file.config);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::int64_t attempt = tables->attempts[i].id.value;
        if (onlyOf && *onlyOf != attempt)
            continue;
        for (const ConfigChange& change : all[i])
            addRow(tr("Changed by attempt %1").arg(attempt), changeText(change));
    }
}

void InspectorDock::showAttempt(const AttemptRow& attempt)
{
    const RunStatus& status = *bench_.watcher().status();
    title_->setText(tr("Attempt %1").arg(attempt.id.value));
    sayWhetherPresent();
    addRow(tr("Started"), wallTimeText(attempt.startedWallNs));
    if (attempt.endedWallNs)
        addRow(tr("Ended"), wallTimeText(*attempt.endedWallNs));
    else
        addRow(tr("State"), attempt.id.value == status.attempt ? stateText() : tr("no end was recorded"));
    if (attempt.endedWallNs && attempt.reason != StopReason::None)
        addRow(tr("Ended because"), endReasonSentence(attempt.reason, attempt.detail));
    addRow(tr("Supervisor"), tr("process %1").arg(attempt.supervisor.pid));
    if (!attempt.detail.empty())
        addRow(tr("Detail"), coreWords(attempt.detail));
    const auto before = rows_.size();
    addChanges(attempt.id.value);
    if (rows_.size() == before)
        addRow(tr("Settings"), tr("none changed"));
}

void InspectorDock::showRunOr(std::optional<std::int64_t> attempt)
{
    const TablesPtr& tables = bench_.watcher().tables();
    if (attempt && tables)
        for (const AttemptRow& row : tables->attempts)
            if (row.id.value == *attempt)
                return showAttempt(row);
    showRun();
}

void InspectorDock::showRun()
{
    const RunStatus& status = *bench_.watcher().status();
    const RunFile& file = status.file;
    title_->setText(breakable(shownName(bench_)));
    sayWhetherPresent();
    addRow(tr("State"), stateText());
    if (status.stopReason != StopReason::None && status.state != RunState::Interrupted) // the state says that already
        addRow(tr("Ended because"), endReasonSentence(status.stopReason, status.stopDetail));
    const QString id = QString::fromStdString(file.runId);
    addRow(tr("Run"), id.left(kIdLetters), id + QLatin1Char('\n') + bench_.watcher().folder());
    addRow(tr("Made"), wallTimeText(file.createdWallNs));
    addRow(tr("Preset"), QString::fromStdString(file.preset));
    addRow(tr("Attempt"), countText(status.attempt));
    addChanges({});
    addRow(tr("Active time"), durationText(status.activeSeconds), activeTimeHelp());
    addRow(tr("Steps"), countText(status.steps), trainedSoFarHelp());
    addRow(tr("Tokens"), countText(status.tokens), trainedSoFarHelp());
    addRow(tr("Checkpoints"), countText(status.checkpoints));
    addRow(tr("Newest checkpoint"), wallTimeText(status.newestCheckpointWallNs));
    if (status.evaluation)
        addRow(tr("Eval loss"),
            fixedText(status.evaluation->loss, 3) + QLatin1Char('\n') + coreWords(ofWhat(*status.evaluation)));
    if (status.answers)
        addRow(tr("Right answers"),
            percentText(status.answers->marks.share()) + QLatin1Char('\n') + coreWords(inWords(*status.answers)));
    if (const QString said = dataText(status); !said.isEmpty())
        addRow(tr("Data"), said);
    addRow(tr("Vocabulary"), countText(file.vocabularySize));
    const QString perBlock = countText(file.samplesPerBlock);
    addRow(tr("Samples per block"),
        file.samplesPerBlockReason.empty() ? perBlock
                                           : perBlock + QLatin1Char('\n') + coreWords(file.samplesPerBlockReason));
}

} // namespace furrow
