#include "ui/pages/new_run/data_preview.h"

#include "core/data/source/column_choice.h"
#include "ui/models/core_words.h"
#include "ui/models/words.h"
#include "ui/parts/marks.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/elided_combo.h"
#include "ui/widgets/meters.h"

#include <QComboBox>
#include <QGridLayout>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr std::size_t kRowsShown = 3;
constexpr qsizetype kRemarksShown = 5;
constexpr int kMostColumnWidth = 260;

QString visibleText(QString text)
{
    return text.replace(QLatin1Char('\n'), QStringLiteral("\\n")).replace(QLatin1Char('\t'), QStringLiteral("\\t"));
}

/// One line of text as it is, cut at the right edge.
QLabel* makeTextLine(const QString& text)
{
    QLabel* line = makeLabel(visibleText(text));
    line->setFont(codeFont(TextSize::Small));
    line->setContentsMargins(8, 0, 8, 0);
    line->setMinimumHeight(25);
    line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    line->setToolTip(text.left(400));
    return line;
}

} // namespace

DataPreview::DataPreview(QWidget* parent)
    : QFrame(parent)
    , good_(new IconMark(QStringLiteral("check"), Token::Ok))
    , doubtful_(new IconMark(QStringLiteral("warning"), Token::Warn))
    , head_(makeLabel({}, TextTone::Value, TextSize::Small))
    , note_(makeLabel({}, TextTone::Hint, TextSize::Small))
    , reading_(makeLabel({}, TextTone::Hint, TextSize::Small))
    , remarks_(makeLabel({}, TextTone::Value, TextSize::Small))
    , columns_(new ElidedCombo)
    , rows_(new QGridLayout)
{
    setProperty("boxed", true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 5, 8, 5);
    head_->setWordWrap(true);
    top->setSpacing(8);
    top->addWidget(good_);
    top->addWidget(doubtful_);
    top->addWidget(head_, 1);
    top->addWidget(note_);
    column->addLayout(top);
    reading_->setWordWrap(true);
    reading_->setContentsMargins(8, 0, 8, 5);
    column->addWidget(reading_);
    remarks_->setWordWrap(true);
    remarks_->setContentsMargins(8, 0, 8, 5);
    column->addWidget(remarks_);
    columns_->setAccessibleName(tr("Text column"));
    columns_->setToolTip(tr("Several columns hold text: choose the one that is trained"));
    columns_->setSizeAdjustPolicy(QComboBox::AdjustToContents); // of other data the names are other ones
    columns_->setMaximumWidth(kMostColumnWidth);
    top->insertWidget(3, columns_);
    connect(columns_, &QComboBox::textActivated, this, &DataPreview::columnChosen);
    columns_->hide();
    rows_->setSpacing(0);
    rows_->setColumnMinimumWidth(0, 28);
    rows_->setColumnStretch(1, 1);
    rows_->setColumnStretch(2, 1);
    column->addLayout(rows_);
    clear();
}

void DataPreview::clear()
{
    clearRows();
    setMinimumHeight(0);
    setProperty("wanted", false);
    hide();
}

void DataPreview::setWaiting()
{
    if (isVisible())
        setMinimumHeight(height()); // until it is known what there is to say: the fields below stay where the mouse is
    setTone(head_, TextTone::Value);
    head_->setText(tr("Looking at the data…"));
    good_->hide();
    doubtful_->hide();
    note_->clear();
    reading_->hide();
    remarks_->hide();
    setProperty("wanted", true);
    show();
}

void DataPreview::clearRows()
{
    while (QLayoutItem* item = rows_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

void DataPreview::askForColumn(const DataInspection& seen)
{
    columns_->clear();
    for (const std::string& column : seen.textColumns)
        columns_->addItem(QString::fromStdString(column));
    columns_->setCurrentText(QString::fromStdString(seen.textColumn));
    // Conversations are read from several of these columns together, and none of them alone is meant.
    columns_->setVisible(columns_->count() > 1 && seen.conversations.empty());
}

QString DataPreview::headText(const ProbeResult& probe) const
{
    const DataInspection& seen = probe.probe.inspection;
    QStringList parts { tr("Probed in %1").arg(durationText(probe.seconds)) };
    if (seen.blocks)
        parts.append(tr("%n block(s)", nullptr, static_cast<int>(*seen.blocks)));
    if (seen.chunks)
        parts.append(seen.chunksExact ? tr("%n chunk(s)", nullptr, static_cast<int>(*seen.chunks))
                : *seen.chunks == 1   ? tr("at least 1 chunk")
                                      : tr("at least %1 chunks").arg(countText(*seen.chunks)));
    parts.append(
        seen.rowsExact ? tr("%1 samples").arg(countText(seen.rows)) : tr("about %1 samples").arg(countText(seen.rows)));
    parts.append(bytesText(seen.bytes));
    if (probe.probe.tokens > 0)
        parts.append(probe.probe.heldOutTokens > 0
                ? tr("about %1 tokens to train, %2 held out")
                      .arg(countText(probe.probe.tokens), countText(probe.probe.heldOutTokens))
                : tr("about %1 tokens").arg(countText(probe.probe.tokens)));
    if (!seen.conversations.empty())
        parts.append(tr("%1 % of the tokens are learnt, « » around them")
                .arg(QLocale().toString(100 * probe.probe.learntShare, 'f', 1)));
    if (!seen.textColumn.empty())
        parts.append(tr("text in %1").arg(QString::fromStdString(shownColumn(seen.textColumn))));
    return parts.join(QStringLiteral("   "));
}

void DataPreview::showRemarks(const QStringList& remarks)
{
    QStringList shown = remarks.mid(0, kRemarksShown);
    if (shown.size() < remarks.size())
        shown.append(tr("and %n more", nullptr, static_cast<int>(remarks.size() - shown.size())));
    remarks_->setText(shown.join(QLatin1Char('\n')));
    remarks_->setToolTip(remarks.join(QLatin1Char('\n')));
    remarks_->setVisible(!remarks.isEmpty());
    good_->setVisible(remarks.isEmpty());
    doubtful_->setVisible(!remarks.isEmpty());
}

void DataPreview::setProbe(const ProbePtr& probe)
{
    clearRows();
    setProperty("wanted", true);
    remarks_->hide();
    good_->hide();
    doubtful_->hide();
    show();
    if (!probe->problem.empty()) {
        setTone(head_, TextTone::Error);
        head_->setText(coreWords(probe->problem));
        note_->clear();
        reading_->hide();
        columns_->hide();
        return;
    }
    setMinimumHeight(0);
    setTone(head_, TextTone::Value);
    head_->setText(headText(*probe));
    reading_->setText(coreWords(probe->probe.inspection.reading).join(QLatin1Char('\n')));
    reading_->setVisible(!reading_->text().isEmpty());
    askForColumn(probe->probe.inspection);
    QStringList hints;
    if (!probe->probe.inspection.samplesPerBlockReason.empty())
        hints.append(tr("%1 samples per block: %2")
                .arg(countText(probe->probe.inspection.samplesPerBlock),
                    coreWords(probe->probe.inspection.samplesPerBlockReason)));
    showRemarks(coreWords(remarksOn(probe->probe)));
    head_->setToolTip(hints.join(QLatin1Char('\n')));
    const std::size_t shown = std::min(kRowsShown, probe->rows.size());
    note_->setText(tr("first %n sample(s)", nullptr, static_cast<int>(shown)));
    int row = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        rows_->addWidget(makeLine(), row++, 0, 1, 3);
        auto* number = makeLabel(QString::number(i), TextTone::Hint, TextSize::Tiny);
        number->setAlignment(Qt::AlignCenter);
        rows_->addWidget(number, row, 0);
        rows_->addWidget(makeTextLine(probe->rows[i].text), row, 1);
        auto* tokens = new TokenView;
        tokens->setTokens(probe->rows[i].tokens);
        rows_->addWidget(tokens, row, 2);
        ++row;
    }
}

} // namespace furrow
