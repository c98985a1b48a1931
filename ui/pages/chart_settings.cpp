#include "ui/pages/chart_settings.h"

#include "ui/models/typed_number.h"
#include "ui/parts/page_parts.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QScrollArea>
#include <QVBoxLayout>
#include <cmath>
#include <limits>

namespace furrow {

namespace {

constexpr int kWidth = 236;

/// The number in a field that may be empty; a field that says something else is marked, and its tip says why.
std::optional<double> takeNumber(QLineEdit& field, bool mayBeNegative, bool counts)
{
    const auto number = quantityOf(field.text(), counts);
    const bool good = number && (mayBeNegative || *number >= 0);
    const bool wrong = !good && !field.text().trimmed().isEmpty();
    const NumberRange range { .least = mayBeNegative ? std::numeric_limits<double>::lowest() : 0 };
    setInvalid(&field, wrong);
    if (const char* tip = "tip"; !field.property(tip).isValid())
        field.setProperty(tip, field.toolTip());
    field.setToolTip(
        wrong ? numberProblem(field.accessibleName(), field.text(), range) : field.property("tip").toString());
    return good ? number : std::nullopt;
}

} // namespace

std::optional<double> quantityOf(const QString& text, bool counts)
{
    static constexpr std::pair<char, double> kSuffixes[]
        = { { 'k', 1e3 }, { 'M', 1e6 }, { 'm', 1e6 }, { 'G', 1e9 }, { 'B', 1e9 }, { 'b', 1e9 }, { 'T', 1e12 } };
    QString digits = text.trimmed();
    double unit = 1;
    for (const auto& [suffix, value] : kSuffixes) {
        if (!digits.endsWith(QLatin1Char(suffix)))
            continue;
        digits.chop(1);
        unit = value;
        break;
    }
    digits = digits.trimmed();
    bool good = false;
    QString plain = counts && unit == 1 ? typedNumber(digits, true).plain : QString();
    if (plain.isEmpty())
        plain = typedNumber(digits, false).plain;
    const double number = plain.toDouble(&good);
    return good && std::isfinite(number) ? std::optional(number * unit) : std::nullopt;
}

ChartSettings::ChartSettings(QWidget* parent)
    : QWidget(parent)
    , small_(kSmallChartCount, nullptr)
{
    setFixedWidth(kWidth);
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(12, 8, 12, 12);
    column->setSpacing(6);
    buildDisplay(*column);
    column->addSpacing(6);
    buildRanges(*column);
    column->addSpacing(6);
    buildCharts(*column);
    column->addStretch();
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus); // its fields have it
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(inside);
    auto* outer = new QHBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    outer->addWidget(makeLine(Qt::Vertical));
    outer->addWidget(scroll, 1);
}

ChartSettings::~ChartSettings() = default;

QCheckBox* ChartSettings::addCheck(
    QVBoxLayout& column, const QString& text, const QString& tip, bool ChartWishes::* wish)
{
    auto* box = new QCheckBox(text);
    box->setFont(scaledFont(TextSize::Small));
    box->setToolTip(tip);
    box->setChecked(wishes_.*wish);
    connect(box, &QCheckBox::toggled, this, [this, wish](bool on) {
        wishes_.*wish = on;
        Q_EMIT changed();
    });
    column.addWidget(box);
    return box;
}

QLineEdit* ChartSettings::addField(QGridLayout& grid, int row, const QString& name, const QString& hint)
{
    QLabel* label = makeLabel(name, TextTone::Secondary, TextSize::Small);
    auto* field = new QLineEdit;
    field->setFont(scaledFont(TextSize::Small));
    field->setAccessibleName(name);
    field->setPlaceholderText(hint);
    label->setBuddy(field);
    grid.addWidget(label, row, 0);
    grid.addWidget(field, row, 1);
    return field;
}

void ChartSettings::buildDisplay(QVBoxLayout& column)
{
    column.addWidget(makeLabel(tr("Display"), TextTone::Value, TextSize::Body, true));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(8);
    grid->setColumnStretch(1, 1);
    width_ = addField(*grid, 0, tr("Smooth over"), tr("2 % of all"));
    width_->setToolTip(
        tr("Smoothing width in units of the horizontal axis, for example 20M. Empty: a fiftieth of the whole range"));
    unit_ = makeLabel({}, TextTone::Hint, TextSize::Tiny);
    unit_->setAlignment(Qt::AlignRight);
    grid->addWidget(unit_, 1, 1);
    column.addLayout(grid);
    addCheck(column, tr("Raw points"), tr("What was measured, behind the smoothed curves"), &ChartWishes::raw);
    addCheck(column, tr("Mean of the workers"), tr("Weighted by their tokens"), &ChartWishes::mean);
    addCheck(column, tr("Logarithmic horizontal axis"), {}, &ChartWishes::logX);
    logLoss_ = addCheck(column, tr("Logarithmic loss axis"), {}, &ChartWishes::logLoss);
    connect(logLoss_, &QCheckBox::toggled, this, &ChartSettings::logLossChanged);
    addCheck(column, tr("Perplexity at the right"), tr("e to the power of the loss"), &ChartWishes::perplexity);
    addCheck(column, tr("Show every point"),
        tr("Otherwise the few most extreme points are clipped, with an arrow and their value"),
        &ChartWishes::allPoints);
    connect(width_, &QLineEdit::editingFinished, this, &ChartSettings::takeFields);
}

void ChartSettings::buildRanges(QVBoxLayout& column)
{
    column.addWidget(makeLabel(tr("Ranges"), TextTone::Value, TextSize::Body, true));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(8);
    grid->setVerticalSpacing(4);
    grid->setColumnStretch(1, 1);
    lossFrom_ = addField(*grid, 0, tr("Loss from"), tr("automatic"));
    lossTo_ = addField(*grid, 1, tr("Loss to"), tr("automatic"));
    xFrom_ = addField(*grid, 2, tr("x from"), tr("everything"));
    xTo_ = addField(*grid, 3, tr("x to"), tr("everything"));
    column.addLayout(grid);
    for (QLineEdit* field : { lossFrom_, lossTo_ })
        connect(field, &QLineEdit::editingFinished, this, &ChartSettings::takeFields);
    for (QLineEdit* field : { xFrom_, xTo_ })
        connect(field, &QLineEdit::editingFinished, this, &ChartSettings::takeRange);
}

void ChartSettings::buildCharts(QVBoxLayout& column)
{
    column.addWidget(makeLabel(tr("Charts below"), TextTone::Value, TextSize::Body, true));
    for (int kind = 0; kind < kSmallChartCount; ++kind) {
        auto* box = new QCheckBox(smallChartName(static_cast<SmallChart>(kind)));
        box->setFont(scaledFont(TextSize::Small));
        box->setChecked(std::find(wishes_.small.begin(), wishes_.small.end(), static_cast<SmallChart>(kind))
            != wishes_.small.end());
        connect(box, &QCheckBox::toggled, this, &ChartSettings::takeSmall);
        column.addWidget(box);
        small_[static_cast<std::size_t>(kind)] = box;
    }
}

void ChartSettings::takeFields()
{
    wishes_.smoothingWidth = takeNumber(*width_, false, counts_).value_or(0);
    wishes_.lossFrom = takeNumber(*lossFrom_, true, false);
    wishes_.lossTo = takeNumber(*lossTo_, true, false);
    if (wishes_.lossFrom && wishes_.lossTo && *wishes_.lossFrom >= *wishes_.lossTo) {
        setInvalid(lossTo_, true);
        wishes_.lossTo.reset();
    }
    Q_EMIT changed();
}

void ChartSettings::takeRange()
{
    const auto begin = takeNumber(*xFrom_, true, counts_);
    const auto end = takeNumber(*xTo_, true, counts_);
    if (!begin || !end)
        return;
    setInvalid(xTo_, *end <= *begin);
    if (*end > *begin)
        Q_EMIT rangeWanted(*begin, *end);
}

void ChartSettings::takeSmall()
{
    wishes_.small.clear();
    for (int kind = 0; kind < kSmallChartCount; ++kind) {
        if (small_[static_cast<std::size_t>(kind)]->isChecked())
            wishes_.small.push_back(static_cast<SmallChart>(kind));
    }
    Q_EMIT changed();
}

void ChartSettings::offer(SmallChart chart, bool has) { small_[static_cast<std::size_t>(chart)]->setVisible(has); }

void ChartSettings::setLogLoss(bool on) { logLoss_->setChecked(on); }

void ChartSettings::setAxis(XAxis axis, const QString& unit)
{
    width_->clear();
    wishes_.smoothingWidth = 0;
    counts_ = axis != XAxis::Epoch;
    unit_->setText(axis == XAxis::WallTime || axis == XAxis::ActiveTime ? tr("seconds") : unit);
    for (QLineEdit* field : { xFrom_, xTo_ }) {
        field->setEnabled(axis != XAxis::WallTime); // a moment is not a number: the strip and the mouse choose it
        setInvalid(field, false);
        field->clear();
    }
}

void ChartSettings::setVisibleRange(std::optional<ChartLink::Range> range)
{
    xFrom_->setPlaceholderText(range ? valueText(range->begin) : tr("everything"));
    xTo_->setPlaceholderText(range ? valueText(range->end) : tr("everything"));
    if (!range) {
        xFrom_->clear();
        xTo_->clear();
    }
}

} // namespace furrow
