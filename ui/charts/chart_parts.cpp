#include "ui/charts/chart_parts.h"

#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QLocale>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>
#include <set>

namespace furrow {
namespace {

double niceStep(double span, int ticks)
{
    const double rough = std::max(span, 1e-300) / std::max(1, ticks);
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double mantissa = rough / power;
    return power * (mantissa <= 1 ? 1 : mantissa <= 2 ? 2 : mantissa <= 5 ? 5 : 10);
}

double ticksIn(const QCPRange& range, double step)
{
    return std::floor(range.upper / step) - std::ceil(range.lower / step) + 1;
}

/// A round step for about `ticks` numbers. Never fewer than three of them, where there is room for three: two say
/// nothing of what is between.
double roundStep(const QCPRange& range, int ticks)
{
    constexpr double kSmaller[] = { 8, 6, 5, 4, 3, 2, 1.5, 1 };
    const double step = niceStep(range.size(), ticks);
    const int least = std::min(3, ticks);
    if (range.size() <= 1e-9 * std::max(std::abs(range.lower), std::abs(range.upper)) || ticksIn(range, step) >= least)
        return step;
    for (double power = std::pow(10, std::floor(std::log10(step)));; power /= 10)
        for (const double mantissa : kSmaller)
            if (power * mantissa < step && ticksIn(range, power * mantissa) >= least)
                return power * mantissa;
}

/// The step that decides the decimals of the numbers: one and a half needs one more than its size says.
double writtenStep(double step)
{
    const double mantissa = step / std::pow(10, std::floor(std::log10(step) + 1e-9));
    return std::abs(mantissa - 1.5) < 1e-6 ? step / 3 : step;
}

} // namespace

ChartTicker::ChartTicker(XAxis axis)
    : axis_(axis)
{
    setTickCount(7);
}

double ChartTicker::getTickStep(const QCPRange& range)
{
    if (axis_ != XAxis::WallTime && axis_ != XAxis::ActiveTime) {
        const double step = roundStep(range, tickCount());
        step_ = writtenStep(step);
        return step;
    }
    static constexpr double kSteps[]
        = { 1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800 };
    for (const double step : kSteps) {
        if (range.size() / step <= tickCount()) {
            step_ = step;
            return step;
        }
    }
    step_ = niceStep(range.size() / 86400, tickCount()) * 86400;
    return step_;
}

QString ChartTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    return axisText(axis_, std::abs(tick) < step_ * 1e-6 ? 0 : tick, step_);
}

ValueTicker::ValueTicker(bool perplexity)
    : perplexity_(perplexity)
{
    setTickCount(6);
}

double ValueTicker::getTickStep(const QCPRange& range)
{
    const double step = roundStep(range, tickCount());
    step_ = writtenStep(step);
    return step;
}

QString ValueTicker::getTickLabel(double tick, const QLocale&, QChar, int)
{
    if (perplexity_)
        return valueText(std::exp(tick));
    return tickText(std::abs(tick) < step_ * 1e-6 ? 0 : tick, step_);
}

QString tickText(double value, double step)
{
    const QLocale locale;
    const double size = std::max(std::abs(value), step);
    if (value == 0)
        return QStringLiteral("0");
    if (size >= 1e9)
        return locale.toString(value / 1e9, 'g', 4) + QStringLiteral(" G");
    if (size >= 1e6)
        return locale.toString(value / 1e6, 'g', 4) + QStringLiteral(" M");
    if (size >= 1e4)
        return locale.toString(value / 1e3, 'g', 5) + QStringLiteral(" k");
    if (size < 1e-2) {
        const double places = std::floor(std::log10(std::abs(value))) - std::floor(std::log10(step) + 1e-9);
        return scientificText(value, std::clamp(static_cast<int>(places), 0, 4));
    }
    const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 6);
    return locale.toString(value, 'f', decimals);
}

CrossHair::CrossHair(const CurvesLayer& curves)
    : curves_(curves)
{
}

void CrossHair::draw(QPainter& p) const
{
    const QRectF area = curves_.keyAxis()->axisRect()->rect();
    p.save();
    if (!box_.isNull()) {
        p.setPen(QPen(theme().color(Token::Accent), 1));
        p.setBrush(theme().color(Token::Accent, 0.16));
        p.drawRect(box_.intersected(area));
    }
    const double pixel = std::isfinite(x_) ? curves_.keyAxis()->coordToPixel(x_) : -1;
    if (pixel >= area.left() && pixel <= area.right()) {
        p.fillRect(QRectF(std::round(pixel), area.top(), 1, area.height()), theme().color(Token::Text1, 0.55));
        if (showsValues_)
            drawValues(p, pixel, area);
        drawTag(p, pixel, area);
    }
    p.restore();
}

void CrossHair::drawValues(QPainter& p, double pixel, const QRectF& area) const
{
    const Theme& t = theme();
    struct Row {
        int worker;
        QString value;
    };
    std::vector<Row> rows;
    std::set<int> workers;
    for (const auto& line : curves_.data().lines)
        workers.insert(line.worker);
    for (const int worker : workers) {
        const double value = curves_.valueAt(worker, x_);
        if (std::isfinite(value))
            rows.push_back({ worker, valueText(value) });
    }
    if (const double mean = curves_.meanAt(x_); std::isfinite(mean))
        rows.push_back({ -1, valueText(mean) });
    if (rows.empty())
        return;
    const QFont small = t.font(FontRole::Axis);
    const double line = QFontMetricsF(small).height() + 3;
    const QString unit = axisUnit(curves_.data().axis);
    const QString head
        = exactAxisText(curves_.data().axis, x_) + (unit.isEmpty() ? QString() : QLatin1Char(' ') + unit);
    const double width
        = std::max(150.0, QFontMetricsF(t.font(FontRole::Axis, QFont::DemiBold)).horizontalAdvance(head) + 24);
    const double height = 10 + line * static_cast<double>(rows.size() + 1);
    QRectF box(pixel + 10, area.top() + 34, width, height);
    if (box.right() > area.right())
        box.moveRight(pixel - 10);
    if (box.left() < area.left()) { // a small chart has room on neither side
        box.setWidth(std::min(box.width(), area.width()));
        box.moveLeft(area.left());
    }
    if (box.bottom() > area.bottom())
        box.moveTop(std::max(area.top(), area.bottom() - height));
    p.setPen(QPen(t.color(Token::Line2), 1));
    p.setBrush(t.color(Token::Raised));
    p.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
    QRectF row(box.left() + 8, box.top() + 5, box.width() - 16, line);
    p.setFont(t.font(FontRole::Axis, QFont::DemiBold));
    p.setPen(t.color(Token::Text1));
    drawTabular(p, row, Qt::AlignLeft, head);
    p.setFont(small);
    for (const Row& r : rows) {
        row.translate(0, line);
        if (r.worker >= 0)
            drawWorkerLine(p, { row.left(), row.center().y() }, r.worker, 16);
        else
            p.fillRect(QRectF(row.left(), row.center().y() - 1, 16, 2), t.color(Token::Text1));
        p.setPen(t.color(Token::Text2));
        const QString name
            = r.worker >= 0 ? lineName(curves_.data(), r.worker) : QCoreApplication::translate("Chart", "mean");
        const QRectF place = row.adjusted(24, 0, -tabularWidth(small, r.value) - 8, 0);
        p.drawText(place, Qt::AlignVCenter, QFontMetricsF(small).elidedText(name, Qt::ElideMiddle, place.width()));
        p.setPen(t.color(Token::Text1));
        drawTabular(p, row, Qt::AlignRight, r.value);
    }
}

void CrossHair::drawTag(QPainter& p, double pixel, const QRectF& area) const
{
    const Theme& t = theme();
    p.setFont(t.font(FontRole::Axis));
    const QString text = exactAxisText(curves_.data().axis, x_);
    const double wide = tabularWidth(p.font(), text) + 16;
    QRectF tag(pixel - wide / 2, area.bottom() + 3, wide, 18);
    tag.moveLeft(std::clamp(tag.left(), area.left(), std::max(area.left(), area.right() - wide)));
    p.setPen(QPen(t.color(Token::Line2), 1));
    p.setBrush(t.color(Token::Raised));
    p.drawRect(tag.adjusted(0.5, 0.5, -0.5, -0.5));
    p.setPen(t.color(Token::Text1));
    drawTabular(p, tag, Qt::AlignHCenter, text);
}

ChartTitle::ChartTitle(QWidget* parent)
    : QWidget(parent)
{
    setFixedHeight(28);
}

void ChartTitle::set(
    const QString& title, const QString& unit, std::vector<Entry> entries, const QString& trouble, const QString& right)
{
    if (title == title_ && unit == unit_ && entries == entries_ && trouble == trouble_ && right == right_)
        return;
    title_ = title;
    unit_ = unit;
    entries_ = std::move(entries);
    trouble_ = trouble;
    right_ = right;
    QStringList lines {
        QStringList { title_, unit_, right_ }.filter(QRegularExpression(QStringLiteral("."))).join(QStringLiteral(", "))
    };
    for (const Entry& entry : entries_) // those too that have no room
        lines.append(QStringLiteral("%1: %2").arg(entry.name, entry.value));
    setToolTip(lines.join(QLatin1Char('\n')));
    update();
}

void ChartTitle::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    QPainter p(this);
    p.fillRect(rect(), t.color(Token::Inset));
    const QFont bold = t.font(FontRole::Body, QFont::DemiBold);
    const QFont small = t.font(FontRole::Small);
    double x = 12;
    const double middle = height() / 2.0;
    double end = width() - 12;
    const auto text = [&](const QString& words, const QFont& font, Token token, double gap) {
        if (words.isEmpty())
            return;
        const double wide = QFontMetricsF(font).horizontalAdvance(words);
        if (x + wide > end)
            return;
        p.setFont(font);
        p.setPen(t.color(token));
        p.drawText(QRectF(x, 0, wide + 2, height()), Qt::AlignVCenter, words);
        x += wide + gap;
    };
    const QFont smallBold = t.font(FontRole::Small, QFont::DemiBold);
    const auto fits = [&](const QFont& font) {
        return QFontMetricsF(font).horizontalAdvance(title_) + 12 + tabularWidth(font, right_) <= end - x;
    };
    const QFont& font = right_.isEmpty() || fits(bold) ? bold : smallBold;
    if (!right_.isEmpty() && fits(font)) { // a value of nobody knows what says nothing: it is in the tooltip then
        p.setFont(font);
        p.setPen(t.color(Token::Text1));
        end -= drawTabular(p, QRectF(x, 0, end - x, height()), Qt::AlignRight, right_) + 12;
    }
    const QString title = QFontMetricsF(font).elidedText(title_, Qt::ElideRight, std::max(0.0, end - x));
    text(title, font, Token::Text1, 10);
    const auto nameOf
        = [&](const Entry& entry) { return QFontMetricsF(small).elidedText(entry.name, Qt::ElideMiddle, 160); };
    const auto markOf = [](const Entry& entry) { return entry.worker >= 0 ? 42.0 : entry.worker == -1 ? 26.0 : 16.0; };
    const auto needOf = [&](const Entry& entry) {
        return markOf(entry) + QFontMetricsF(small).horizontalAdvance(nameOf(entry)) + 8
            + tabularWidth(bold, entry.value);
    };
    constexpr double kBetween = 18;
    double others = trouble_.isEmpty() ? 0 : QFontMetricsF(small).horizontalAdvance(trouble_) + kBetween;
    for (const Entry& entry : entries_)
        others += needOf(entry) + (&entry == &entries_.back() ? 0 : kBetween);
    const double unitWide = QFontMetricsF(small).horizontalAdvance(unit_) + kBetween;
    const bool onlyWithoutUnit = x + others <= end && x + unitWide + others > end; // values come first
    if (title == title_ && !onlyWithoutUnit) // a unit alone would be the unit of nothing
        text(unit_, small, Token::Text3, kBetween);
    text(trouble_, small, Token::Error, kBetween);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        const QString more = QStringLiteral("+%1").arg(entries_.size() - i);
        const double room = i + 1 < entries_.size() ? QFontMetricsF(small).horizontalAdvance(more) + 6 : 0;
        if (x + needOf(entry) + room > end) { // how many have no room: the tip says them
            text(more, small, Token::Text3, 0);
            break;
        }
        if (entry.worker >= 0) {
            drawWorkerMarker(p, { x + 5, middle }, entry.worker);
            drawWorkerLine(p, { x + 15, middle }, entry.worker, 20);
        } else if (entry.worker == -1) {
            p.fillRect(QRectF(x, middle - 1, 20, 2), t.color(Token::Text1));
        } else if (entry.worker == -2) {
            drawEvalDiamond(p, { x + 5, middle });
        } else {
            p.fillRect(QRectF(x, middle - 6, 10, 12), t.color(Token::Accent, 0.28));
        }
        x += markOf(entry);
        text(nameOf(entry), small, Token::Text2, 8);
        p.setFont(t.font(FontRole::Small, QFont::DemiBold));
        p.setPen(t.color(Token::Text1));
        x += drawTabular(p, QRectF(x, 0, end - x, height()), Qt::AlignLeft, entry.value) + 18;
    }
}

} // namespace furrow
