#include "ui/widgets/box_rows.h"

#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr int kRow = 28;
constexpr int kName = 180;
constexpr int kNumber = 90;

} // namespace

bool makeBox(std::vector<float> values, BoxRow& row)
{
    std::erase_if(values, [](float value) { return !std::isfinite(value); });
    if (values.empty())
        return false;
    std::sort(values.begin(), values.end());
    const auto at = [&values](double share) {
        return static_cast<double>(values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))]);
    };
    row.min = at(0);
    row.lower = at(0.25);
    row.median = at(0.5);
    row.upper = at(0.75);
    row.max = at(1);
    return true;
}

BoxRows::BoxRows(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void BoxRows::setRows(std::vector<BoxRow> rows)
{
    rows_ = std::move(rows);
    QStringList words;
    for (const BoxRow& row : rows_)
        words.append(tr("%1: median %2, from %3 to %4")
                .arg(row.name, QLocale().toString(row.median, 'f', 0), QLocale().toString(row.min, 'f', 0),
                    QLocale().toString(row.max, 'f', 0)));
    setAccessibleDescription(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

QSize BoxRows::sizeHint() const { return { 400, kRow * std::max(1, static_cast<int>(rows_.size())) }; }

void BoxRows::paintEvent(QPaintEvent*)
{
    const Theme& t = theme();
    QPainter p(this);
    double most = 0;
    for (const BoxRow& row : rows_)
        most = std::max(most, row.max);
    const double width = std::max(10, this->width() - kName - kNumber);
    const auto x = [&](double value) { return kName + (most > 0 ? value / most * width : 0); };
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const BoxRow& row = rows_[i];
        const double top = static_cast<double>(i) * kRow;
        const double middle = top + kRow / 2.0;
        drawWorkerMarker(p, { 6, middle }, row.worker);
        p.setFont(t.font(FontRole::Small));
        p.setPen(t.color(Token::Text2));
        p.drawText(QRectF(18, top, kName - 26, kRow), Qt::AlignVCenter,
            p.fontMetrics().elidedText(row.name, Qt::ElideMiddle, kName - 26));
        const QColor color = t.workerColor(row.worker);
        p.setPen(QPen(color, 1));
        p.drawLine(QPointF(x(row.min), middle), QPointF(x(row.max), middle));
        const QRectF box(
            QPointF(x(row.lower), middle - 7), QPointF(std::max(x(row.upper), x(row.lower) + 2), middle + 7));
        p.fillRect(box, t.color(Token::Inset));
        QColor tint = color;
        tint.setAlphaF(0.25f);
        p.fillRect(box, tint);
        p.drawRect(box);
        p.fillRect(QRectF(x(row.median) - 1, middle - 7, 2, 15), t.color(Token::Text1));
        p.setPen(t.color(Token::Text1));
        drawTabular(p, QRectF(this->width() - kNumber, top, kNumber - 4, kRow), Qt::AlignRight,
            QLocale().toString(row.median, 'f', 0));
    }
}

} // namespace furrow
