#include "ui/dialogs/brain_dialog.h"

#include "ui/models/core_words.h"
#include "ui/models/shown_name.h"
#include "ui/models/words.h"
#include "ui/parts/page_parts.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

namespace furrow {

namespace {

QString seenHere(const std::vector<EpochRow>& epochs)
{
    if (epochs.empty())
        return BrainDialog::tr("nothing yet");
    QStringList parts;
    for (const EpochRow& epoch : epochs) {
        const auto total = epoch.chunks.sum();
        const auto done = epoch.chunks[ChunkState::Committed];
        parts.append(done == total ? BrainDialog::tr("epoch %1, complete").arg(epoch.epoch + 1)
                                   : BrainDialog::tr("epoch %1: %2 of %3 chunks")
                                         .arg(epoch.epoch + 1)
                                         .arg(countText(done), countText(total)));
    }
    constexpr int kShown = 3; // of a run with many epochs the last ones say enough
    return parts.mid(std::max(0, static_cast<int>(parts.size()) - kShown)).join(BrainDialog::tr(", "));
}

QString seenBefore(const ParentFile& parent)
{
    if (!parent.sameData)
        return BrainDialog::tr("other data");
    const QString chunks
        = BrainDialog::tr("%n chunk(s) of the same data", nullptr, static_cast<int>(parent.chunkCount));
    const QString seen = parent.skipped ? BrainDialog::tr("%1, then left out").arg(chunks)
                                        : BrainDialog::tr("%1, then trained again").arg(chunks);
    const QString partly = coreWords(partlyInherited(parent));
    return partly.isEmpty() ? seen : seen + QStringLiteral("; ") + partly;
}

QString nameOf(const QString& folder, const RunLinesPtr& lines)
{
    return libraryName(*lines, folder, QFileInfo(folder).fileName());
}

std::vector<TableColumn<BrainLine>> columns(const RunLinesPtr& lines)
{
    const auto faded = [](const BrainLine& line, int role) {
        return role == Qt::ToolTipRole
            ? QVariant(line.there ? QDir::toNativeSeparators(line.folder)
                                  : BrainDialog::tr("%1 is no longer there").arg(QDir::toNativeSeparators(line.folder)))
            : QVariant();
    };
    return {
        { [] { return BrainDialog::tr("Run"); }, [lines](const BrainLine& line) { return nameOf(line.folder, lines); },
            {}, false, faded },
        { [] { return BrainDialog::tr("Weights"); }, [](const BrainLine& line) { return line.from; }, {}, false, {} },
        { [] { return BrainDialog::tr("Steps"); }, [](const BrainLine& line) { return countText(line.steps); },
            [](const BrainLine& line) { return QVariant::fromValue(line.steps); }, true, {} },
        { [] { return BrainDialog::tr("Tokens"); }, [](const BrainLine& line) { return countText(line.tokens); },
            [](const BrainLine& line) { return QVariant::fromValue(line.tokens); }, true, {} },
        { [] { return BrainDialog::tr("Had seen before"); }, [](const BrainLine& line) { return line.chunks; }, {},
            false, {} },
    };
}

} // namespace

std::vector<BrainLine> brainLines(const Brain& brain)
{
    std::vector<BrainLine> lines;
    lines.push_back({ QString::fromStdString(brain.folder),
        brain.weights ? QString::fromStdString(brain.weights->row.record.folder) : QString(), brain.steps, brain.tokens,
        seenHere(brain.epochs), true });
    for (const Brain::Ancestor& parent : brain.ancestors)
        lines.push_back({ QString::fromStdString(parent.folder), QString::fromStdString(parent.checkpoint), parent.step,
            parent.tokens, seenBefore(parent), parent.there });
    return lines;
}

BrainDialog::BrainDialog(const QString& folder, const RunLinesPtr& lines, QWidget* parent)
    : QDialog(parent)
    , folder_(folder)
    , lines_(columns(lines))
    , weights_(makeLabel(tr("Reading…")))
    , tokenizer_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , table_(makeTable(tr("Runs the weights came from")))
{
    setWindowTitle(tr("Brain of %1").arg(nameOf(folder, lines)));
    resize(820, 340);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    QLabel* meaning = makeLabel(
        tr("A brain is what remains when runs end: the weights, their tokenizer, and what they have seen. A new run from a checkpoint continues with it."),
        TextTone::Hint, TextSize::Small);
    for (QLabel* label : { weights_, tokenizer_, meaning }) {
        label->setWordWrap(true);
        column->addWidget(label);
    }
    setSortedModel(table_, &lines_);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    column->addWidget(table_, 1);
    column->addWidget(buildFoot());
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &BrainDialog::followChoice);
    connect(&reader_, &BrainReader::brainRead, this, &BrainDialog::show);
    connect(&reader_, &BrainReader::failed, this, [this](const Message& sentence) {
        setTone(weights_, TextTone::Error);
        weights_->setText(coreWords(sentence));
    });
    reader_.read(folder);
}

QWidget* BrainDialog::buildFoot()
{
    auto* foot = new QWidget(this);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 4, 0, 0);
    row->addStretch();
    open_ = makeButton(tr("Open that run"));
    open_->setEnabled(false);
    connect(open_, &QPushButton::clicked, this, [this] {
        const QString folder = chosen()->folder;
        accept();
        Q_EMIT openRunWanted(folder);
    });
    row->addWidget(open_);
    auto* close = makeButton(tr("Close"));
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(close);
    return foot;
}

void BrainDialog::show(const BrainPtr& brain)
{
    const auto& weights = brain->weights;
    if (!weights)
        weights_->setText(tr("This run has no weights of its own yet."));
    else if (weights->row.record.evalLoss)
        weights_->setText(tr("Weights: %1 (%2), loss %3 on held-out text")
                .arg(QString::fromStdString(weights->row.record.folder), coreWords(whoseWeights(*weights)),
                    fixedText(*weights->row.record.evalLoss, 4)));
    else
        weights_->setText(tr("Weights: %1 (%2)")
                .arg(QString::fromStdString(weights->row.record.folder), coreWords(whoseWeights(*weights))));
    tokenizer_->setText(tr("Tokenizer: %1, %2 tokens")
            .arg(QString::fromStdString(brain->file.config.tokenizer), countText(brain->file.vocabularySize)));
    lines_.reset(brainLines(*brain));
    table_->resizeColumnsToContents();
    table_->horizontalHeader()->setStretchLastSection(true);
}

const BrainLine* BrainDialog::chosen() const
{
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(table_->model());
    return lines_.rowAt(proxy->mapToSource(table_->currentIndex()));
}

void BrainDialog::followChoice()
{
    const BrainLine* line = chosen();
    open_->setEnabled(line != nullptr && line->there && line->folder != folder_);
}

} // namespace furrow
