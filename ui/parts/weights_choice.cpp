#include "ui/parts/weights_choice.h"

#include "core/run/status/run_weights.h"
#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr int kRunRole = Qt::UserRole;
constexpr int kCheckpointRole = Qt::UserRole + 1;

QString checkpointName(const SupervisorLedger::CheckpointRow& row)
{
    const QString of = row.record.kind == CheckpointKind::Merge
        ? WeightsChoice::tr("merge")
        : WeightsChoice::tr("replica %1").arg(row.record.replica);
    const QString loss
        = row.record.evalLoss ? WeightsChoice::tr(", eval loss %1").arg(fixedText(*row.record.evalLoss, 3)) : QString();
    return WeightsChoice::tr("%1 of %2, step %3%4").arg(row.id.value).arg(of, countText(row.record.step), loss);
}

} // namespace

WeightsChoice::WeightsChoice(Workbench& bench, Offers offers, QWidget* parent)
    : ElidedCombo(parent)
    , bench_(bench)
    , offers_(offers)
{
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    setMinimumContentsLength(10);
    connect(&bench_.watcher(), &RunWatcher::tablesRead, this, &WeightsChoice::fill);
    connect(&bench_.watcher(), &RunWatcher::opened, this, [this] {
        wanted_.clear();
        clear();
        fill();
    });
    if (offers_ == Offers::OthersOrNone)
        connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, &WeightsChoice::fill);
    fill();
}

void WeightsChoice::choose(const QString& checkpoint)
{
    wanted_ = checkpoint;
    fill();
}

bool WeightsChoice::isNone() const { return run().isEmpty(); }

QString WeightsChoice::run() const { return currentData(kRunRole).toString(); }

QString WeightsChoice::checkpoint() const { return currentData(kCheckpointRole).toString(); }

QList<WeightsChoice::Entry> WeightsChoice::entries() const
{
    const QString here = bench_.watcher().folder();
    const TablesPtr& tables = bench_.watcher().tables();
    const auto newest = tables ? weightsOf(tables->checkpoints) : std::nullopt;
    QList<Entry> all;
    if (offers_ == Offers::OthersOrNone)
        all.append({ tr("nothing"), {}, {}, {} });
    all.append({ newest ? tr("the newest: %1").arg(checkpointName(newest->row)) : tr("the newest"), here, {},
        newest && newest->isOneOfSeveral() ? coreWords(whoseWeights(*newest)) : QString() });
    for (std::size_t i = tables ? tables->checkpoints.size() : 0; i-- > 0;) {
        const auto& row = tables->checkpoints[i];
        if (!row.removed && !row.damaged)
            all.append({ checkpointName(row), here, QString::fromStdString(row.record.folder), {} });
    }
    if (offers_ == Offers::OthersOrNone && bench_.scanner().lines())
        for (const RunLine& line : *bench_.scanner().lines())
            if (line.folder != here && line.committed > 0)
                all.append({ tr("%1, the newest").arg(line.name), line.folder, {}, line.folder });
    return all;
}

void WeightsChoice::fill()
{
    const auto all = entries();
    hasCheckpoints_ = std::any_of(all.begin(), all.end(), [](const Entry& one) { return !one.checkpoint.isEmpty(); });
    const QString chosenRun = wanted_.isEmpty() ? run() : bench_.watcher().folder();
    const QString chosen = wanted_.isEmpty() ? checkpoint() : wanted_;
    const auto isShown = [this](int i, const Entry& one) {
        return itemData(i, kRunRole).toString() == one.run && itemData(i, kCheckpointRole).toString() == one.checkpoint;
    };
    bool same = count() == all.size();
    for (int i = 0; same && i < count(); ++i)
        same = isShown(i, all[i]);
    if (!same) {
        const QSignalBlocker quiet(this); // the choice does not change
        clear();
        for (const Entry& one : all) {
            addItem(one.text, one.run);
            setItemData(count() - 1, one.checkpoint, kCheckpointRole);
        }
    }
    int at = 0;
    for (int i = 0; i < count(); ++i) {
        setItemText(i, all[i].text); // the heads may move although no checkpoint came or went
        setItemData(i, all[i].tip, Qt::ToolTipRole);
        if (all[i].run == chosenRun && all[i].checkpoint == chosen)
            at = i;
    }
    if (!wanted_.isEmpty() && all[at].checkpoint == wanted_)
        wanted_.clear();
    setCurrentIndex(at);
    setToolTip(all[at].tip);
    Q_EMIT filled();
}

} // namespace furrow
