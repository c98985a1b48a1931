#include "ui/widgets/meters.h"

#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

constexpr int kMeterRow = 17;
constexpr int kBar = 8;
constexpr int kNumbers = 210; // value, total and share at the right
constexpr double kShare = 54;
constexpr double kBeforeShare = 6;
constexpr double kAfterBar = 4;

void drawFill(QPainter& p, const QRectF& area, MeterFill fill)
{
    const Theme& t = theme();
    switch (fill) {
    case MeterFill::Visited: p.fillRect(area, t.color(Token::Line2)); break;
    case MeterFill::Committed: p.fillRect(area, t.color(Token::Text1)); break;
    case MeterFill::Steps: p.fillRect(area, t.color(Token::Text2)); break;
    case MeterFill::Leased: p.fillRect(area, t.color(Token::Accent)); break;
    case MeterFill::TrainedStripes:
        p.fillRect(area, t.color(Token::Inset));
        drawHatch(p, area, t.color(Token::Text1), 3.2, 1.5);
        break;
    case MeterFill::Excluded: p.fillRect(area, t.color(Token::Edge)); break;
    case MeterFill::Free: break;
    }
}

} // namespace

Meter::Meter(const QString& label, QWidget* parent)
    : QWidget(parent)
    , label_(label)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setFixedHeight(std::max(kMeterRow, QFontMetrics(theme().font(FontRole::Small)).height()));
    updateAccessible();
}

void Meter::setParts(std::vector<MeterPart> parts, std::optional<double> total)
{
    parts_ = std::move(parts);
    total_ = total;
    updateAccessible();
    update();
}

void Meter::setTotalToCome(bool toCome)
{
    toCome_ = toCome;
    updateAccessible();
    update();
}

void Meter::setNumbers(const QString& value, const QString& total, const QString& share)
{
    value_ = value;
    totalText_ = total;
    share_ = share;
    updateAccessible();
    update();
}

void Meter::updateAccessible()
{
    setAccessibleName(total_ ? tr("%1: %2 of %3, %4").arg(label_, value_, totalText_, share_)
            : toCome_        ? tr("%1: %2, total not known yet").arg(label_, value_)
                             : tr("%1: %2").arg(label_, value_));
}

int Meter::wordsWidth() const { return QFontMetrics(theme().font(FontRole::Small)).horizontalAdvance(label_); }

void Meter::setLabelWidth(int width)
{
    labelWidth_ = width;
    update();
}

QSize Meter::sizeHint() const { return { labelWidth_ + 160 + kNumbers, height() }; }

void Meter::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange)
        update();
    QWidget::changeEvent(event);
}

QString Meter::restText() const { return QStringLiteral(" / ") + totalText_; }

QRectF Meter::shareArea() const
{
    const double wide = std::max(kShare, tabularWidth(theme().font(FontRole::Small), share_));
    return { width() - wide, 0, wide, static_cast<double>(height()) };
}

QRectF Meter::numbersArea() const
{
    const double right = shareArea().left() - kBeforeShare;
    const double wide = tabularWidth(theme().font(FontRole::Small, QFont::DemiBold), value_)
        + tabularWidth(theme().font(FontRole::Small), restText());
    const double left = std::min(right - std::ceil(wide), width() - kNumbers + kAfterBar);
    return { left, 0, right - left, static_cast<double>(height()) };
}

void Meter::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    QPainter p(this);
    p.setFont(t.font(FontRole::Small));
    p.setPen(t.color(Token::Text2));
    p.drawText(QRectF(0, 0, labelWidth_, height()), Qt::AlignVCenter | Qt::AlignLeft, label_);
    const double right = width();
    p.setFont(t.font(FontRole::Small, QFont::DemiBold));
    if (!total_) {
        p.setPen(t.color(Token::Text1));
        const double used
            = drawTabular(p, QRectF(labelWidth_, 0, right - labelWidth_, height()), Qt::AlignLeft, value_);
        p.setFont(t.font(FontRole::Small));
        p.setPen(t.color(Token::Text3));
        if (toCome_)
            p.drawText(QRectF(labelWidth_ + used + 12, 0, right, height()), Qt::AlignVCenter | Qt::AlignLeft,
                tr("total not known yet"));
        return;
    }
    const QRectF bar(labelWidth_, std::floor((height() - kBar) / 2.0),
        std::max(20.0, numbersArea().left() - kAfterBar - labelWidth_), kBar);
    p.setPen(QPen(t.color(Token::Line2), 1));
    p.setBrush(t.color(Token::Inset));
    p.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
    const QRectF inner = bar.adjusted(1, 1, -1, -1);
    double x = inner.left();
    for (const MeterPart& part : parts_) {
        const double w = *total_ > 0 ? inner.width() * part.value / *total_ : 0;
        const double end = std::min(inner.right(), x + w);
        if (end > x)
            drawFill(p, QRectF(x, inner.top(), end - x, inner.height()), part.fill);
        x = end;
    }
    p.setPen(t.color(Token::Text2));
    p.setFont(t.font(FontRole::Small));
    drawTabular(p, shareArea(), Qt::AlignRight, share_);
    p.setPen(t.color(Token::Text3));
    const QRectF numbers = numbersArea();
    const double restWidth = drawTabular(p, numbers, Qt::AlignRight, restText());
    p.setPen(t.color(Token::Text1));
    p.setFont(t.font(FontRole::Small, QFont::DemiBold));
    drawTabular(p, numbers.adjusted(0, 0, -restWidth, 0), Qt::AlignRight, value_);
}

namespace {

constexpr int kSwatch = 8;
constexpr int kAfterSwatch = 6;
constexpr int kBetweenEntries = 14;

QFontMetricsF legendMetrics() { return QFontMetricsF(theme().font(FontRole::Small)); }
double wordsBegin(const MeterLegend::Entry& entry) { return entry.fill ? kSwatch + kAfterSwatch : 0; }
double widthOf(const MeterLegend::Entry& entry)
{
    return wordsBegin(entry) + legendMetrics().horizontalAdvance(entry.text);
}
int lineHeight() { return static_cast<int>(std::ceil(legendMetrics().height())) + 2; }

void drawSwatch(QPainter& p, const QRectF& area, MeterFill fill)
{
    drawFill(p, area, fill);
    if (fill != MeterFill::Free && fill != MeterFill::TrainedStripes)
        return;
    p.setPen(QPen(theme().color(Token::Line2), 1));
    p.setBrush(Qt::NoBrush);
    p.drawRect(area.adjusted(0.5, 0.5, -0.5, -0.5));
}

} // namespace

MeterLegend::MeterLegend(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    setFixedHeight(lineHeight());
}

void MeterLegend::setEntries(std::vector<Entry> entries)
{
    entries_ = std::move(entries);
    QStringList words;
    for (const Entry& entry : entries_)
        words.append(entry.text);
    setAccessibleName(words.join(QStringLiteral(", ")));
    setToolTip(accessibleName());
    updateGeometry();
    fitHeight();
    update();
}

QSize MeterLegend::sizeHint() const
{
    double width = 0;
    for (const Entry& entry : entries_)
        width += widthOf(entry) + kBetweenEntries;
    return { static_cast<int>(std::ceil(width)), height() };
}

std::vector<MeterLegend::Place> MeterLegend::places(double width) const
{
    std::vector<Place> all;
    Place next;
    for (const Entry& entry : entries_) {
        if (next.x > 0 && next.x + widthOf(entry) > width)
            next = { 0, next.line + 1 };
        all.push_back(next);
        next.x += widthOf(entry) + kBetweenEntries;
    }
    return all;
}

void MeterLegend::fitHeight()
{
    const auto all = places(width());
    setFixedHeight(lineHeight() * (all.empty() ? 1 : all.back().line + 1));
}

void MeterLegend::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    if (event->size().width() != event->oldSize().width())
        fitHeight();
}

void MeterLegend::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.setFont(theme().font(FontRole::Small));
    const auto all = places(width());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        const Entry& entry = entries_[i];
        const QRectF line(all[i].x, all[i].line * lineHeight(), width() - all[i].x, lineHeight());
        if (entry.fill)
            drawSwatch(p, QRectF(line.left(), line.top() + std::floor((line.height() - kSwatch) / 2), kSwatch, kSwatch),
                *entry.fill);
        const QRectF words = line.adjusted(wordsBegin(entry), 0, 0, 0);
        p.setPen(theme().color(Token::Text2));
        p.drawText(words, Qt::AlignVCenter | Qt::AlignLeft,
            legendMetrics().elidedText(entry.text, Qt::ElideRight, std::max(0.0, words.width())));
    }
}

Sparkline::Sparkline(QWidget* parent)
    : QWidget(parent)
{
    setMinimumSize(24, 12);
}

void Sparkline::setValues(std::vector<double> values)
{
    values_ = std::move(values);
    update();
}

void Sparkline::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    drawSparkline(painter, QRectF(rect()).adjusted(1, 1, -1, -1), values_);
}

void drawSparkline(QPainter& painter, const QRectF& area, const std::vector<double>& values)
{
    double low = INFINITY;
    double high = -INFINITY;
    for (const double v : values) {
        if (std::isfinite(v)) {
            low = std::min(low, v);
            high = std::max(high, v);
        }
    }
    if (!(low <= high) || values.size() < 2)
        return;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme().color(Token::Text3), 1));
    QPolygonF line;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isfinite(values[i])) {
            painter.drawPolyline(line);
            line.clear();
            continue;
        }
        const double y = high > low ? (values[i] - low) / (high - low) : 0.5;
        line << QPointF(area.left() + area.width() * static_cast<double>(i) / static_cast<double>(values.size() - 1),
            area.bottom() - y * area.height());
    }
    painter.drawPolyline(line);
    painter.restore();
}

EstimateBar::EstimateBar(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void EstimateBar::setScale(Scale scale)
{
    scale_ = std::move(scale);
    update();
}

void EstimateBar::setParts(std::vector<EstimatePart> parts)
{
    parts_ = std::move(parts);
    updateGeometry();
    update();
}

void EstimateBar::setBand(double low, double likely, double high)
{
    low_ = low;
    likely_ = likely;
    high_ = high;
    update();
}

void EstimateBar::setLimit(std::optional<double> at, const QString& label)
{
    limit_ = at;
    limitLabel_ = label;
    update();
}

QSize EstimateBar::sizeHint() const
{
    const int line = QFontMetrics(theme().font(FontRole::Axis)).height();
    return { 300, 16 + line * ((parts_.empty() && limitLabel_.isEmpty()) ? 1 : 2) + 4 };
}

double EstimateBar::xOf(double value) const
{
    const double span = scale_.end - scale_.begin;
    return span > 0 ? (width() - 1) * std::clamp((value - scale_.begin) / span, 0.0, 1.0) : 0;
}

void EstimateBar::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    QPainter p(this);
    p.setFont(t.font(FontRole::Axis));
    const int line = QFontMetrics(p.font()).height();
    const bool band = low_ && high_;
    const QRectF bar(0, band ? 4 : 0, width(), band ? 8 : 16);
    p.setPen(QPen(t.color(Token::Line2), 1));
    p.setBrush(t.color(Token::Inset));
    p.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
    double labelsEnd = 0;
    double value = scale_.begin;
    const Token greys[] = { Token::Accent, Token::Line2, Token::Text3, Token::Text2 };
    for (const EstimatePart& part : parts_) {
        const double from = xOf(value);
        value += part.value;
        const QRectF area(from, 1, std::max(0.0, xOf(value) - from), bar.height() - 2);
        const QColor color = t.color(greys[std::clamp(part.shade, 0, 3)]);
        if (part.uncertain)
            drawHatch(p, area, color, 3.2, 1.2);
        else
            p.fillRect(area, color);
        const double wide = QFontMetricsF(p.font()).horizontalAdvance(part.label);
        if (!part.label.isEmpty() && from >= labelsEnd && from + wide <= width()) {
            p.setPen(t.color(Token::Text2));
            p.drawText(QPointF(from, bar.bottom() + line - 2), part.label);
            labelsEnd = from + wide + 8;
        }
        p.fillRect(QRectF(area.right() - 1, 1, 1, bar.height() - 2), t.color(Token::Inset));
    }
    if (band) {
        p.fillRect(QRectF(xOf(*low_), bar.top() + 1, xOf(*high_) - xOf(*low_), bar.height() - 2),
            t.color(Token::Accent, 0.45));
        p.fillRect(QRectF(xOf(likely_.value_or(*low_)) - 1, bar.top() - 3, 2, bar.height() + 6), t.color(Token::Text1));
    }
    double y = bar.bottom() + line - 1 + (parts_.empty() ? 2 : line);
    if (limit_) {
        p.fillRect(QRectF(xOf(*limit_), 0, 1.5, bar.bottom() + 2), t.color(Token::Error));
        const double wide = QFontMetricsF(p.font()).horizontalAdvance(limitLabel_);
        const double x = std::clamp(xOf(*limit_) - wide / 2, 0.0, width() - wide);
        p.setPen(t.color(Token::Error));
        if (x >= labelsEnd)
            p.drawText(QPointF(x, bar.bottom() + line - 2), limitLabel_);
        if (parts_.empty())
            y += line;
    }
    p.setPen(t.color(Token::Text3));
    for (const auto& [at, text] : scale_.ticks) {
        const double wide = tabularWidth(p.font(), text);
        drawTabular(p,
            QRectF(std::clamp(xOf(at) - wide / 2, 0.0, std::max(0.0, width() - wide)), y - line + 2, wide, line),
            Qt::AlignLeft, text);
    }
}

TokenView::TokenView(QWidget* parent)
    : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void TokenView::setTokens(std::vector<QString> tokens)
{
    tokens_ = std::move(tokens);
    QString whole;
    for (QString& token : tokens_) {
        whole += token;
        token.replace(QLatin1Char(' '), QChar(0x00B7));
        token.replace(QLatin1Char('\n'), QStringLiteral("\\n"));
        token.replace(QLatin1Char('\t'), QStringLiteral("\\t"));
    }
    setAccessibleName(tr("%n tokens: %1", nullptr, static_cast<int>(tokens_.size())).arg(whole.left(200)));
    updateGeometry();
    update();
}

void TokenView::setWrapped(bool wrap)
{
    wrap_ = wrap;
    updateGeometry();
    update();
}

template <typename Place> int TokenView::layOut(int width, Place place) const
{
    const QFontMetricsF metrics(theme().monoFont(FontRole::Axis));
    const double line = std::ceil(metrics.height()) + 4;
    double x = 0;
    double y = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
        const double w = metrics.horizontalAdvance(tokens_[i]);
        if (wrap_ && x > 0 && x + w > width) {
            x = 0;
            y += line;
        }
        if (!wrap_ && x > width)
            break;
        place(i, QRectF(x, y, w, line));
        x += w;
    }
    return static_cast<int>(y + line);
}

int TokenView::heightForWidth(int width) const
{
    return layOut(width, [](std::size_t, const QRectF&) { });
}

QSize TokenView::sizeHint() const { return { 300, heightForWidth(wrap_ ? std::max(100, width()) : 1 << 20) }; }

void TokenView::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    QPainter p(this);
    p.setFont(t.monoFont(FontRole::Axis));
    p.setPen(t.color(Token::Text1));
    layOut(width(), [&](std::size_t i, const QRectF& area) {
        if (i % 2 == 0)
            p.fillRect(area.adjusted(0, 1, -1, -1), t.color(Token::Selection));
        p.drawText(area, Qt::AlignVCenter | Qt::AlignLeft, tokens_[i]);
    });
}

} // namespace furrow
