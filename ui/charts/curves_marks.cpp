// What stands on the curves of a chart: intervals, evaluations, arrows for what is off scale, exceptions, seams.
#include "ui/charts/curves_layer.h"

#include "ui/charts/curve_strokes.h"
#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <algorithm>
#include <cmath>

namespace furrow {

void CurvesLayer::drawSpans(QPainter& p) const
{
    const QRectF area = clipRect();
    for (const ChartSpan& gap : data_.gaps)
        drawHatch(p, QRectF(QPointF(px(gap.begin), area.top()), QPointF(px(gap.end), area.bottom())).intersected(area), theme().color(Token::Line), 7 / 1.41421356);
    for (const ChartSpan& span : highlights_) {
        double left = px(span.begin);
        double right = px(span.end);
        if (right - left < 3) {
            left = (left + right) / 2 - 1.5;
            right = left + 3;
        }
        p.fillRect(QRectF(QPointF(left, area.top()), QPointF(right, area.bottom())).intersected(area), theme().color(Token::Accent, 0.28));
    }
}

void CurvesLayer::drawMarks(QPainter& p) const
{
    const QRectF area = clipRect();
    for (const ChartEval& eval : data_.evals) {
        const QPointF at(px(eval.x), py(eval.y));
        if (std::isfinite(eval.y) && area.contains(at))
            drawEvalDiamond(p, at);
    }
}

/// A triangle at the edge for what is beyond it, with the true value; near ones share the triangle of the largest.
void CurvesLayer::drawOffScale(QPainter& p) const
{
    struct Off {
        double x;
        float value;
        int worker;
    };
    const QRectF area = clipRect();
    const Theme& t = theme();
    p.setFont(t.font(FontRole::Axis));
    for (const bool above : { true, false }) {
        std::vector<Off> found;
        for (const Shape& shape : shapes_) {
            for (std::size_t c = 0; c < shape.columns.size(); ++c) {
                const Summary& s = shape.columns[c].summary;
                if (!s.empty() && (above ? s.max > mValueAxis->range().upper : s.min < mValueAxis->range().lower))
                    found.push_back({ area.left() + static_cast<double>(c) / pixelRatio_, above ? s.max : s.min, shape.line.worker });
            }
        }
        std::sort(found.begin(), found.end(), [](const Off& a, const Off& b) { return a.x < b.x; });
        std::vector<Off> merged;
        for (const Off& off : found) {
            if (merged.empty() || off.x - merged.back().x > 14)
                merged.push_back(off);
            else if (above ? off.value > merged.back().value : off.value < merged.back().value)
                merged.back() = off;
        }
        const double edge = above ? area.top() + 1 : area.bottom() - 1;
        const double down = above ? 9 : -9;
        double textEnd = -INFINITY;
        for (const Off& off : merged) {
            p.setRenderHint(QPainter::Antialiasing, true);
            p.setPen(Qt::NoPen);
            p.setBrush(t.workerColor(off.worker));
            p.drawPolygon(QPolygonF { { off.x, edge }, { off.x + 5, edge + down }, { off.x - 5, edge + down } });
            const QString text = QCoreApplication::translate("CurvesLayer", "%1 off scale").arg(valueText(off.value));
            const double wide = QFontMetricsF(p.font()).horizontalAdvance(text);
            const double left = off.x + 10 + wide < area.right() ? off.x + 9 : off.x - 9 - wide;
            if (merged.size() > 12 || left < textEnd)
                continue;
            p.setPen(t.color(Token::Text2));
            p.drawText(QPointF(left, edge + (above ? 10 : -3)), text);
            textEnd = left + wide + 8;
        }
        p.setRenderHint(QPainter::Antialiasing, false);
    }
}

void CurvesLayer::drawExceptions(QPainter& p) const
{
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
        for (auto i = bad.lowerBound(shape.columns.front().begin); i < bad.size() && bad[i] < shape.columns.back().end; ++i) {
            const double x = px(curve.x(bad[i]));
            const bool cross = std::isnan(curve.y(bad[i]));
            double& last = cross ? lastCross : lastSign;
            if (std::abs(x - last) < 10)
                continue;
            last = x;
            if (cross) {
                p.drawLine(QPointF(x - 4, area.bottom() - 9), QPointF(x + 4, area.bottom() - 1));
                p.drawLine(QPointF(x - 4, area.bottom() - 1), QPointF(x + 4, area.bottom() - 9));
            } else {
                p.drawText(QRectF(x - 10, area.top() - 2, 20, 16), Qt::AlignCenter, QStringLiteral("∞"));
            }
        }
    }
    p.setRenderHint(QPainter::Antialiasing, false);
}

void CurvesLayer::drawSeams(QPainter& p) const
{
    const QRectF area = clipRect();
    const Theme& t = theme();
    double tagEnd = -INFINITY;
    for (const ChartSeam& seam : data_.seams) {
        const double x = std::round(px(seam.x)) + 0.5;
        if (x < area.left() || x > area.right())
            continue;
        p.setPen(QPen(t.color(Token::Interrupted), 1));
        p.drawLines(strokes(QPolygonF { { x, area.top() }, { x, area.bottom() } }, { 4, 2 }));
        if (area.height() < 140)
            continue;
        const QFont bold = t.font(FontRole::Axis, QFont::DemiBold);
        const QFont plain = t.font(FontRole::Axis);
        const double titleWide = QFontMetricsF(bold).horizontalAdvance(seam.title);
        double wide = titleWide + 6 + QFontMetricsF(plain).horizontalAdvance(seam.text) + 16;
        const bool whole = std::max(x, tagEnd) + wide <= area.right();
        if (!whole)
            wide = titleWide + 16;
        const double left = x + wide <= area.right() ? x : x - wide;
        if (left < tagEnd)
            continue;
        tagEnd = left + wide + 4;
        const QRectF tag(left, area.top() + 0.5, wide, 18);
        p.setBrush(t.color(Token::InterruptedGround));
        p.setPen(QPen(t.color(Token::Interrupted), 1));
        p.drawRect(tag);
        p.setFont(bold);
        p.drawText(tag.adjusted(8, 0, 0, 0), Qt::AlignVCenter, seam.title);
        if (whole) {
            p.setFont(plain);
            p.setPen(t.color(Token::Text1));
            p.drawText(tag.adjusted(8 + titleWide + 6, 0, 0, 0), Qt::AlignVCenter, seam.text);
        }
    }
}

} // namespace furrow
