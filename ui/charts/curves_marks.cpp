// What stands on the curves of a chart: intervals, evaluations, arrows for what is off scale, exceptions, seams.
#include "ui/charts/curves_layer.h"

#include "ui/charts/curve_strokes.h"
#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

constexpr double kRoomyHeight = 140; // from here on there is room for words beside the marks

} // namespace

void CurvesLayer::drawSpans(QPainter& p) const
{
    const QRectF area = clipRect();
    for (const ChartSpan& gap : data_.gaps)
        drawHatch(p, QRectF(QPointF(px(gap.begin), area.top()), QPointF(px(gap.end), area.bottom())).intersected(area),
            theme().color(Token::Line), 7 / 1.41421356);
    for (const auto* spans : { &data_.spikes, &highlights_ }) {
        for (const ChartSpan& span : *spans) {
            double left = px(span.begin);
            double right = px(span.end);
            if (right - left < 3) {
                left = (left + right) / 2 - 1.5;
                right = left + 3;
            }
            p.fillRect(QRectF(QPointF(left, area.top()), QPointF(right, area.bottom())).intersected(area),
                theme().color(Token::Accent, 0.28));
        }
    }
}

void CurvesLayer::drawMarks(QPainter& p) const
{
    constexpr double kApart = 14; // nearer ones would cover each other and the curves
    const QRectF area = clipRect();
    double last = -INFINITY;
    for (const ChartEval& eval : data_.evals) {
        const QPointF at(px(eval.x), py(eval.y));
        if (!std::isfinite(eval.y) || !area.contains(at))
            continue;
        if (std::abs(at.x() - last) < kApart && &eval != &data_.evals.back()) {
            drawEvalDiamond(p, at, 4, eval.isLost);
            continue;
        }
        last = at.x();
        drawEvalDiamond(p, at, 9, eval.isLost);
    }
}

/// What leaves the picture at one edge; near ones share the mark of the farthest.
std::vector<CurvesLayer::OffScale> CurvesLayer::offScale(bool above) const
{
    constexpr double kNear = 14;
    const double left = clipRect().left();
    std::vector<OffScale> found;
    for (const Shape& shape : shapes_) {
        for (std::size_t c = 0; c < shape.columns.size(); ++c) {
            const Summary& s = shape.columns[c].summary;
            if (!s.empty() && (above ? s.max > mValueAxis->range().upper : s.min < mValueAxis->range().lower))
                found.push_back(
                    { left + static_cast<double>(c) / pixelRatio_, above ? s.max : s.min, shape.line.worker });
        }
    }
    std::sort(found.begin(), found.end(), [](const OffScale& a, const OffScale& b) { return a.x < b.x; });
    std::vector<OffScale> merged;
    for (const OffScale& off : found) {
        if (merged.empty() || off.x - merged.back().x > kNear)
            merged.push_back(off);
        else if (above ? off.value > merged.back().value : off.value < merged.back().value)
            merged.back() = off;
    }
    return merged;
}

/// A triangle at the edge for what is beyond it, with the true value where there is room.
void CurvesLayer::drawOffScale(QPainter& p, bool above, EdgeRoom& room) const
{
    constexpr std::size_t kMostTexts = 12;
    const QRectF area = clipRect();
    const Theme& t = theme();
    const std::vector<OffScale> all = offScale(above);
    p.setRenderHint(QPainter::Antialiasing, true);
    for (const OffScale& off : all) {
        const QRectF at = room.take(QRectF(off.x - 5, above ? area.top() + 1 : area.bottom() - 10, 10, 9));
        p.setPen(Qt::NoPen);
        p.setBrush(t.workerColor(off.worker));
        const double tip = above ? at.top() : at.bottom();
        const double base = above ? at.bottom() : at.top();
        p.drawPolygon(QPolygonF { { off.x, tip }, { off.x + 5, base }, { off.x - 5, base } });
    }
    p.setRenderHint(QPainter::Antialiasing, false);
    if (all.size() > kMostTexts)
        return;
    p.setFont(t.font(FontRole::Axis));
    p.setPen(t.color(Token::Text2));
    const QFontMetricsF metrics(p.font());
    for (const OffScale& off : all) {
        const QString text = QCoreApplication::translate("CurvesLayer", "%1 off scale").arg(valueText(off.value));
        const double wide = metrics.horizontalAdvance(text);
        const double left = off.x + 10 + wide < area.right() ? off.x + 9 : off.x - 9 - wide;
        if (left < area.left())
            continue; // the arrow alone: half a number is another number
        const QRectF wanted(left, above ? area.top() : area.bottom() - metrics.height(), wide, metrics.height());
        const QRectF at = room.take(wanted);
        const double farthest
            = area.height() < kRoomyHeight ? 1 : 2 * metrics.height(); // beyond it nobody knows whose value it is
        if (std::abs(at.top() - wanted.top()) >= farthest)
            continue;
        p.fillRect(at.adjusted(-2, 0, 2, 0),
            t.color(Token::Inset)); // the curve goes up to the edge here: nobody reads words across it
        p.drawText(at, Qt::AlignVCenter | Qt::TextDontClip, text);
    }
}

void CurvesLayer::drawExceptions(QPainter& p, EdgeRoom& top, EdgeRoom& bottom) const
{
    constexpr double kApart = 10; // what is nearer shares a mark
    const QRectF area = clipRect();
    const Theme& t = theme();
    p.setFont(t.font(FontRole::Body, QFont::DemiBold));
    p.setPen(QPen(t.color(Token::Error), 1.6));
    p.setRenderHint(QPainter::Antialiasing, true);
    double lastCross = -INFINITY;
    double lastSign = -INFINITY;
    for (const Shape& shape : shapes_) {
        const Curve& curve = *shape.line.curve;
        const auto& bad = curve.nonFinite();
        for (auto i = bad.lowerBound(shape.columns.front().begin); i < bad.size() && bad[i] < shape.columns.back().end;
            ++i) {
            const double x = px(curve.x(bad[i]));
            const bool cross = std::isnan(curve.y(bad[i]));
            double& last = cross ? lastCross : lastSign;
            if (std::abs(x - last) < kApart)
                continue;
            last = x;
            if (cross) {
                const QRectF at = bottom.take(QRectF(x - 4, area.bottom() - 9, 8, 8));
                p.drawLine(at.topLeft(), at.bottomRight());
                p.drawLine(at.bottomLeft(), at.topRight());
            } else {
                p.drawText(top.take(QRectF(x - 4.5, area.top(), 9, 12)), Qt::AlignCenter | Qt::TextDontClip,
                    QStringLiteral("∞"));
            }
        }
    }
    p.setRenderHint(QPainter::Antialiasing, false);
}

namespace {

/// The label at a seam. Seams for whose own there is no room are counted in the one before them.
struct SeamTag {
    const ChartSeam* seam = nullptr;
    QRectF area;
    bool whole = false; ///< with room for all its words
    int more = 0;

    QString title() const { return more == 0 ? seam->title : QStringLiteral("%1 +%2").arg(seam->title).arg(more); }
};

std::vector<SeamTag> placeTags(const std::vector<std::pair<const ChartSeam*, double>>& seams, const QRectF& area)
{
    const QFontMetricsF bold(theme().font(FontRole::Axis, QFont::DemiBold));
    const QFontMetricsF plain(theme().font(FontRole::Axis));
    const double forMore = bold.horizontalAdvance(QStringLiteral(" +99"));
    std::vector<SeamTag> tags;
    double tagEnd = -INFINITY;
    for (const auto& [seam, x] : seams) {
        const double title = bold.horizontalAdvance(seam->title) + 16;
        const double words = title + 6 + plain.horizontalAdvance(seam->text);
        const bool hasRoom = std::max(x, tagEnd) + words <= area.right();
        const double wide = hasRoom ? words : title + (seam == seams.back().first ? 0 : forMore);
        const double left = x + wide <= area.right() ? x : x - wide;
        if (left < tagEnd && !tags.empty()) {
            ++tags.back().more;
            continue;
        }
        tagEnd = left + wide + 4;
        tags.push_back({ seam, QRectF(left, area.top() + 0.5, wide, 18), hasRoom, 0 });
    }
    return tags;
}

void drawTag(QPainter& p, const SeamTag& tag)
{
    const Theme& t = theme();
    const QFont bold = t.font(FontRole::Axis, QFont::DemiBold);
    const double titleWide = QFontMetricsF(bold).horizontalAdvance(tag.title());
    p.setBrush(t.color(Token::InterruptedGround));
    p.setPen(QPen(t.color(Token::Interrupted), 1));
    p.drawRect(tag.area);
    p.setFont(bold);
    p.drawText(tag.area.adjusted(8, 0, 0, 0), Qt::AlignVCenter, tag.title());
    if (!tag.whole || tag.more > 0)
        return;
    p.setFont(t.font(FontRole::Axis));
    p.setPen(t.color(Token::Text1));
    p.drawText(tag.area.adjusted(8 + titleWide + 6, 0, 0, 0), Qt::AlignVCenter, tag.seam->text);
}

} // namespace

/// All lines first: one that comes later would cut through the words of the label before it.
void CurvesLayer::drawSeams(QPainter& p, EdgeRoom& room) const
{
    const QRectF area = clipRect();
    std::vector<std::pair<const ChartSeam*, double>> shown;
    p.setPen(QPen(theme().color(Token::Interrupted), 1));
    for (const ChartSeam& seam : data_.seams) {
        const double x = std::round(px(seam.x)) + 0.5;
        if (x < area.left() || x > area.right())
            continue;
        p.drawLines(strokes(QPolygonF { { x, area.top() }, { x, area.bottom() } }, { 4, 2 }));
        shown.emplace_back(&seam, x);
    }
    if (area.height() < kRoomyHeight)
        return;
    for (const SeamTag& tag : placeTags(shown, area)) {
        (void)room.take(tag.area);
        drawTag(p, tag);
    }
}

} // namespace furrow
