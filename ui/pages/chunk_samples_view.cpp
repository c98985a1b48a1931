#include "ui/pages/chunk_samples_view.h"

#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/page_parts.h"

#include <QComboBox>
#include <QFileInfo>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

namespace furrow {

namespace {

enum Form { Text, Tokens };

QString visible(QString text)
{
    return text.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("↵<br>")).replace(QLatin1String("  "), QStringLiteral(" &nbsp;"));
}

} // namespace

ChunkSamplesView::ChunkSamplesView(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , title_(makeLabel({}, TextTone::Value, TextSize::Body, true))
    , counts_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , form_(new QComboBox(this))
    , text_(new QTextBrowser(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    auto* row = new QHBoxLayout;
    row->addWidget(title_, 1);
    form_->addItem(tr("As trained"), Text);
    form_->addItem(tr("Tokens"), Tokens);
    form_->setAccessibleName(tr("How samples are shown"));
    row->addWidget(form_);
    column->addLayout(row);
    counts_->setWordWrap(true);
    column->addWidget(counts_);
    text_->setFont(codeFont(TextSize::Small));
    text_->setOpenLinks(false);
    text_->setAccessibleName(tr("Samples of the chunk"));
    column->addWidget(text_, 1);
    column->addStretch();
    connect(text_, &QTextBrowser::anchorClicked, this, [this](const QUrl& fingerprint) { bench_.quarantine().addSample(fingerprint.toString().toULongLong(nullptr, 16)); });
    connect(&bench_.quarantine(), &QuarantineDraft::changed, this, &ChunkSamplesView::render);
    connect(form_, &QComboBox::currentIndexChanged, this, &ChunkSamplesView::render);
    connect(&reader_, &SampleReader::samplesRead, this, &ChunkSamplesView::show);
    connect(&bench_.selection(), &SelectionModel::changed, this, &ChunkSamplesView::follow);
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
        return;
    }
    text_->show();
    form_->show();
    const SelectedChunk& chunk = selection.chunks.front();
    if (chunk.id.value == shownChunk_)
        return;
    shownChunk_ = chunk.id.value;
    title_->setText(heading_.isEmpty() ? chunkTitle(chunk.block, chunk.column) : heading_);
    counts_->setText(tr("Reading the samples…"));
    reader_.read(selection.run, chunk.block, chunk.column);
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
    if (!samples_->problem.isEmpty()) {
        counts_->setText(samples_->problem);
        text_->clear();
        return;
    }
    const ChunkSummary& summary = samples_->summary;
    counts_->setText(tr("%1 rows: %2 to be trained, %3 filtered, %4 held out, %5 unreadable, %6 left out as duplicates. %7 tokens.")
                         .arg(countText(summary.rows), countText(summary.samples), countText(summary.filtered), countText(summary.heldOut), countText(summary.failed),
                             countText(summary.duplicates), countText(summary.tokens)));
    QString html;
    for (const SampleText& sample : samples_->samples)
        html += sampleHtml(sample);
    const qint64 more = samples_->stored - static_cast<qint64>(samples_->samples.size());
    if (more > 0)
        html += QStringLiteral("<p>%1</p>").arg(tr("%n more", nullptr, static_cast<int>(more)));
    text_->setHtml(html);
}

QString ChunkSamplesView::sampleHtml(const SampleText& sample) const
{
    const QPalette colours = palette();
    QStringList notes { tr("%1, row %2").arg(QFileInfo(sample.file).fileName().toHtmlEscaped(), countText(sample.row)), tr("%n token(s)", nullptr, static_cast<int>(sample.tokenCount)) };
    if ((sample.flags & SampleHeldOut) != 0)
        notes.append(tr("held out"));
    if ((sample.flags & SampleRepeat) != 0)
        notes.append(tr("occurs before in the block"));
    if ((sample.flags & SampleLeftOut) != 0)
        notes.append(tr("not trained"));
    const bool named = bench_.quarantine().has(sample.fingerprint);
    if (named)
        notes.append(tr("on the quarantine list"));
    else
        notes.append(QStringLiteral("<a href=\"%1\">%2</a>").arg(sample.fingerprint, 16, 16, QLatin1Char('0')).arg(tr("leave out")));
    QString body;
    if (form_->currentData().toInt() == Text) {
        body = visible(sample.text);
    } else {
        bool odd = false;
        for (const QString& token : sample.tokens) {
            const QColor ground = colours.color(odd ? QPalette::Midlight : QPalette::Highlight);
            body += QStringLiteral("<span style=\"background:%1\">%2</span>").arg(ground.name(), visible(token).replace(QLatin1Char(' '), QStringLiteral("·")));
            odd = !odd;
        }
    }
    return QStringLiteral("<p style=\"margin:8px 0 2px 0;color:%1\">%2</p><p style=\"margin:0 0 6px 0\">%3</p>")
        .arg(colours.color(QPalette::PlaceholderText).name(), notes.join(QStringLiteral(" · ")), body);
}

} // namespace furrow
