#include "ui/pages/chunk_samples_view.h"

#include "core/chat/row_problems.h"
#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/elided_combo.h"

#include <QComboBox>
#include <QFileInfo>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kLeastChoice = 70;

enum Form { Text, Tokens };

QString visible(QString text)
{
    return text.toHtmlEscaped()
        .replace(QLatin1Char('\n'), QStringLiteral("↵<br>"))
        .replace(QLatin1String("  "), QStringLiteral(" &nbsp;"));
}

} // namespace

ChunkSamplesView::ChunkSamplesView(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , title_(makeLabel({}, TextTone::Value, TextSize::Body, true))
    , counts_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , form_(new ElidedCombo(this))
    , order_(new ElidedCombo(this))
    , text_(new QTextBrowser(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    auto* row = new QHBoxLayout;
    row->addWidget(title_, 1);
    form_->addItem(tr("As trained"), Text);
    form_->addItem(tr("Tokens"), Tokens);
    form_->setAccessibleName(tr("How samples are shown"));
    order_->addItem(tr("Worst first"), QVariant::fromValue(SampleOrder::HighestLoss));
    order_->addItem(tr("Best first"), QVariant::fromValue(SampleOrder::LowestLoss));
    order_->addItem(tr("As stored"), QVariant::fromValue(SampleOrder::AsStored));
    order_->setAccessibleName(tr("Order of the samples"));
    order_->setToolTip(tr(
        "Of each chunk the losses of the six worst and the two best samples are kept, as they were when they were trained."));
    for (QComboBox* choice : { form_, order_ }) // a narrow dock cuts their words, not the text
        choice->setMinimumWidth(kLeastChoice);
    row->addWidget(form_);
    column->addLayout(row);
    counts_->setWordWrap(true);
    auto* below = new QHBoxLayout;
    below->addWidget(counts_, 1);
    below->addWidget(order_, 0, Qt::AlignTop);
    column->addLayout(below);
    text_->setFont(codeFont(TextSize::Small));
    text_->setOpenLinks(false);
    text_->setAccessibleName(tr("Samples of the chunk"));
    column->addWidget(text_, 1);
    column->addStretch();
    connect(text_, &QTextBrowser::anchorClicked, this, [this](const QUrl& fingerprint) {
        bench_.quarantine().addSample(fingerprint.toString().toULongLong(nullptr, 16));
    });
    connect(&bench_.quarantine(), &QuarantineDraft::changed, this, &ChunkSamplesView::render);
    connect(form_, &QComboBox::currentIndexChanged, this, &ChunkSamplesView::render);
    connect(order_, &QComboBox::currentIndexChanged, this, &ChunkSamplesView::read);
    connect(&reader_, &SampleReader::samplesRead, this, &ChunkSamplesView::show);
    connect(&bench_.selection(), &SelectionModel::changed, this, &ChunkSamplesView::follow);
    connect(&bench_.cells(), &CellStore::changed, this, &ChunkSamplesView::follow);
    follow();
}

void ChunkSamplesView::follow()
{
    const Selection& selection = bench_.selection().selection();
    if (selection.chunks.empty()) {
        reader_.cancel();
        samples_.reset();
        shownChunk_ = 0;
        title_->setText(tr("Select a chunk to read its samples."));
        counts_->clear();
        text_->clear();
        text_->hide();
        form_->hide();
        order_->hide();
        return;
    }
    text_->show();
    form_->show();
    const SelectedChunk& chunk = selection.chunks.front();
    const ChunkCell* cell = bench_.cells().find(chunk.id);
    const int trainings = cell == nullptr ? 0 : cell->timesTrained;
    if (chunk.id.value == shownChunk_ && trainings == shownTrainings_)
        return;
    shownChunk_ = chunk.id.value;
    shownTrainings_ = trainings;
    title_->setText(heading_.isEmpty()
            ? tr("%1, %2").arg(chunkTitle(chunk.block, chunk.column), epochName(placeOf(chunk.id).epoch).toLower())
            : heading_);
    read();
}

void ChunkSamplesView::read()
{
    counts_->setText(tr("Reading the samples…"));
    reader_.read(
        bench_.selection().selection().run, placeOf({ shownChunk_ }), order_->currentData().value<SampleOrder>());
}

void ChunkSamplesView::show(const ChunkSamplesPtr& samples)
{
    samples_ = samples;
    render();
}

void ChunkSamplesView::render()
{
    if (!samples_)
        return;
    order_->setVisible(samples_->keepsLosses);
    if (!samples_->problem.empty()) {
        counts_->setText(coreWords(samples_->problem));
        text_->clear();
        return;
    }
    const auto& all = samples_->samples;
    const bool isMarked = form_->currentData().toInt() == Text
        && std::any_of(all.begin(), all.end(), [](const SampleText& sample) { return sample.isMarked; });
    counts_->setText(isMarked ? tr("%1 What is learnt stands between « and ».").arg(summaryText(samples_->summary))
                              : summaryText(samples_->summary));
    QString html;
    for (const UnreadableRow& row : samples_->unreadable)
        html += QStringLiteral("<p>%1</p>").arg(unreadableText(row).toHtmlEscaped());
    for (const SampleText& sample : samples_->samples)
        html += sampleHtml(sample);
    const qint64 more = samples_->stored - static_cast<qint64>(samples_->samples.size());
    if (more > 0)
        html += QStringLiteral("<p>%1</p>").arg(tr("%n more", nullptr, static_cast<int>(more)));
    text_->setHtml(html);
}

QString ChunkSamplesView::unreadableText(const UnreadableRow& row)
{
    if (row.isStretch)
        return coreWords(row.words);
    const QString file = QFileInfo(QString::fromStdString(row.row.file)).fileName();
    const QString what = coreWords(rowProblem(row.what));
    return row.line
        ? tr("%1, row %2 (line %3) cannot be used: it %4").arg(file, countText(row.row.row), countText(*row.line), what)
        : tr("%1, row %2 cannot be used: it %3").arg(file, countText(row.row.row), what);
}

QString ChunkSamplesView::summaryText(const ChunkSummary& summary)
{
    QStringList kinds { tr("%1 for training").arg(countText(summary.samples)) };
    if (summary.filtered > 0)
        kinds.append(tr("%1 filtered").arg(countText(summary.filtered)));
    if (summary.heldOut > 0)
        kinds.append(tr("%1 held out").arg(countText(summary.heldOut)));
    if (summary.failed > 0)
        kinds.append(tr("%1 unreadable").arg(countText(summary.failed)));
    if (summary.repeats > 0)
        kinds.append(
            tr("%1 of them trained although their text occurs earlier in the block").arg(countText(summary.repeats)));
    if (summary.duplicates > 0)
        kinds.append(tr("%1 left out as repeats").arg(countText(summary.duplicates)));
    return tr("%1 rows: %2. %3 tokens of text.")
        .arg(countText(summary.rows), kinds.join(QStringLiteral(", ")), countText(summary.tokens));
}

QString ChunkSamplesView::sampleHtml(const SampleText& sample) const
{
    const QPalette colours = palette();
    QStringList notes { tr("%1, row %2").arg(QFileInfo(sample.file).fileName().toHtmlEscaped(), countText(sample.row)),
        tr("%n token(s)", nullptr, static_cast<int>(sample.tokenCount)) };
    if ((sample.flags & SampleHeldOut) != 0)
        notes.append(tr("held out"));
    if (!sample.firstFile.isEmpty())
        notes.append(tr("occurs first in %1, row %2")
                .arg(QFileInfo(sample.firstFile).fileName().toHtmlEscaped(), countText(sample.firstRow)));
    else if ((sample.flags & SampleRepeat) != 0)
        notes.append(tr("occurs earlier in the block"));
    if ((sample.flags & SampleLeftOut) != 0)
        notes.append(tr("not trained"));
    const bool named = bench_.quarantine().has(sample.fingerprint);
    if (named)
        notes.append(tr("on the quarantine list"));
    else
        notes.append(QStringLiteral("<a href=\"%1\">%2</a>")
                .arg(sample.fingerprint, 16, 16, QLatin1Char('0'))
                .arg(tr("leave out")));
    const auto heading = [&colours](const QString& words) {
        return QStringLiteral("<div style=\"color:%1\">%2</div>")
            .arg(colours.color(QPalette::PlaceholderText).name(), words.toHtmlEscaped());
    };
    const QString rejected = heading(tr("Prompt and rejected answer"));
    QString body = sample.rejectedFrom > 0 ? heading(tr("Prompt and chosen answer")) : QString();
    if (form_->currentData().toInt() == Text) {
        body += visible(sample.text);
        if (!sample.rejected.isEmpty())
            body += rejected + visible(sample.rejected);
    } else {
        bool odd = false;
        qint64 place = 0;
        for (const QString& token : sample.tokens) {
            if (place++ == sample.rejectedFrom && sample.rejectedFrom > 0)
                body += rejected;
            const QColor ground = colours.color(odd ? QPalette::Midlight : QPalette::Highlight);
            body += QStringLiteral("<span style=\"background:%1\">%2</span>")
                        .arg(ground.name(), visible(token).replace(QLatin1Char(' '), QStringLiteral("·")));
            odd = !odd;
        }
    }
    const QString loss = sample.loss
        ? tr("loss %1").arg(fixedText(*sample.loss, 2)).replace(QLatin1Char(' '), QStringLiteral("&nbsp;"))
        : QString();
    return QStringLiteral(
        "<table width=\"100%\" border=\"1\" cellspacing=\"0\" cellpadding=\"4\" style=\"border-color:%1;border-style:solid;margin:0 0 6px 0\"><tr><td>"
        "<table width=\"100%\" cellspacing=\"0\"><tr><td style=\"color:%2\">%3</td><td align=\"right\">%4</td></tr></table>%5</td></tr></table>")
        .arg(colours.color(QPalette::Mid).name(), colours.color(QPalette::PlaceholderText).name(),
            notes.join(QStringLiteral(" · ")), loss, body);
}

} // namespace furrow
