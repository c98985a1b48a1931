// What a chart says of itself outside its picture: title row, sentence, statistics, table, files.
#include "ui/charts/series_chart.h"

#include "ui/charts/chart_parts.h"
#include "ui/charts/chart_plot.h"
#include "ui/theme/theme.h"

#include <QPdfWriter>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>
#include <map>

namespace furrow {

namespace {

/// @param workers  that the value is the mean of: what stands beside one name must not be the value of one of them
QString meanText(double value, int workers)
{
    const QString text = valueText(value);
    return workers == 1 ? text : SeriesChart::tr("%1, mean of %n workers", nullptr, workers).arg(text);
}

/// The newest evaluation of weights that are there; where there are none, the newest of all, which is lost.
/// @param data  with evaluations
ChartTitle::Entry evalEntry(const ChartData& data)
{
    const auto newest
        = std::find_if(data.evals.rbegin(), data.evals.rend(), [](const ChartEval& eval) { return !eval.isLost; });
    const bool isLost = data.evalNow ? std::isnan(*data.evalNow) : newest == data.evals.rend();
    if (isLost)
        return { -2, SeriesChart::tr("eval (lost)"), valueText(data.evals.back().y) };
    return { -2, SeriesChart::tr("eval"), valueText(data.evalNow ? *data.evalNow : newest->y) };
}

} // namespace

void SeriesChart::updateTitle()
{
    if (title_->property("compact").toBool())
        return;
    std::vector<ChartTitle::Entry> entries;
    struct Newest {
        std::int64_t attempt = 0;
        std::map<int, double> values; ///< of a run by worker; of a worker its own
    };
    std::map<int, Newest> newest; // of each worker, or of each run
    for (const auto& shape : curves_->shapes()) {
        Newest& one = newest[shape.line.worker];
        if (shape.smooth.empty() || shape.line.attempt < one.attempt)
            continue;
        if (shape.line.attempt > one.attempt)
            one = { shape.line.attempt, {} };
        one.values[shape.line.member] = shape.smooth.back().y;
    }
    for (const auto& [worker, one] : newest) {
        if (one.values.empty())
            continue;
        const auto* mean = curves_->meanOfRun(worker);
        entries.push_back({ worker, lineName(curves_->data(), worker),
            meanText(mean ? mean->back().y : one.values.begin()->second, static_cast<int>(one.values.size())) });
    }
    if (!curves_->mean().empty())
        entries.push_back({ -1, tr("mean"), valueText(curves_->mean().back().y) });
    if (!curves_->data().evals.empty())
        entries.push_back(evalEntry(curves_->data()));
    if (const std::size_t jumps = curves_->data().spikes.size(); jumps > 0)
        entries.push_back({ -3, tr("jumps of the loss"), QLocale().toString(static_cast<qulonglong>(jumps)) });
    QStringList trouble;
    if (curves_->notANumbers() > 0)
        trouble << tr("%1 NaN").arg(curves_->notANumbers());
    if (curves_->infinities() > 0)
        trouble << tr("%1 infinite").arg(curves_->infinities());
    const QString unit
        = options_.smoothing.kind == SmoothingKind::None || unit_.isEmpty() ? unit_ : tr("%1, smoothed").arg(unit_);
    title_->set(titleText_, unit, std::move(entries), trouble.join(QStringLiteral(", ")), {});
}

void SeriesChart::updateAccessible()
{
    setAccessibleName(titleText_);
    setAccessibleDescription(valueSentence());
}

QString SeriesChart::valueSentence() const
{
    const auto& points = curves_->total().empty() ? curves_->mean() : curves_->total();
    const std::vector<SmoothPoint>* shown = points.empty() ? nullptr : &points;
    for (const auto& shape : curves_->shapes()) {
        if (!shown && !shape.smooth.empty())
            shown = &shape.smooth;
    }
    if (!shown)
        return emptyText_;
    const SmoothPoint last = shown->back();
    const auto from = shown->begin() + static_cast<std::ptrdiff_t>(shown->size() * 4 / 5);
    const double before = std::find_if(from, shown->end(), [](const SmoothPoint& at) { return !std::isnan(at.y); })->y;
    const double change = (last.y - before) / std::max(1e-12, std::abs(before));
    const QString trend = change < -0.002 ? tr("falling") : change > 0.002 ? tr("rising") : tr("level");
    const QString unit = axisUnit(curves_->data().axis);
    return tr("%1 %2, at %3, %4")
        .arg(titleText_, valueText(last.y),
            exactAxisText(curves_->data().axis, last.x) + (unit.isEmpty() ? QString() : QLatin1Char(' ') + unit),
            trend);
}

QString SeriesChart::densityText() const
{
    const auto points = pointsPerPixel();
    if (points <= 1)
        return {};
    return tr("1 px = %1 points, min and max kept").arg(QLocale().toString(static_cast<qulonglong>(points)));
}

std::vector<SeriesChart::Statistic> SeriesChart::statistics() const
{
    struct OfWorker {
        Summary summary;
        double newest = 0;
        std::int64_t attempt = 0;
        bool isOver = false;
    };
    std::map<int, OfWorker> perWorker;
    for (const auto& shape : curves_->shapes()) {
        const ChartLine& line = shape.line;
        const auto begin = shape.columns.front().begin;
        const auto end = shape.columns.back().end;
        if (end <= begin)
            continue;
        OfWorker& one = perWorker[line.worker];
        one.summary.add(line.curve->range(begin, end));
        one.newest = line.curve->newest(end);
        one.attempt = line.attempt;
        one.isOver = line.isOver && end >= std::min(line.supersededFrom, line.curve->size());
    }
    std::vector<Statistic> rows;
    for (const auto& [worker, one] : perWorker)
        rows.push_back({ worker, one.summary.count, one.summary.min, one.summary.max, one.summary.mean(), one.newest,
            one.attempt, one.isOver });
    return rows;
}

QString SeriesChart::csv(std::size_t limit) const
{
    QString text = QStringLiteral("worker,x,y,lost\n");
    std::size_t lines = 0;
    for (const auto& shape : curves_->shapes()) {
        const ChartLine& line = shape.line;
        const auto& columns = shape.superseded.empty() ? shape.columns : shape.superseded;
        const std::size_t lost = std::min(line.supersededFrom, line.lostFrom);
        for (auto i = columns.front().begin; i < columns.back().end && lines < limit; ++i, ++lines)
            text += QString::number(line.worker) + QLatin1Char(',') + QString::number(line.curve->x(i), 'g', 15)
                + QLatin1Char(',') + QString::number(static_cast<double>(line.curve->y(i)), 'g', 9)
                + QLatin1String(i < lost ? ",0\n" : ",1\n");
    }
    return text;
}

bool SeriesChart::save(const QString& path, double scale)
{
    replotNow();
    const QSize whole = size();
    const auto paintVectors = [&](QPaintDevice& device) {
        QCPPainter painter;
        if (!painter.begin(&device))
            return false;
        painter.setMode(QCPPainter::pmVectorized);
        title_->render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
        painter.translate(0, title_->height());
        plot_->toPainter(&painter, plot_->width(), plot_->height());
        return painter.end();
    };
    if (path.endsWith(QStringLiteral(".svg"), Qt::CaseInsensitive)) {
        QSvgGenerator svg;
        svg.setFileName(path);
        svg.setResolution(96); // what the fonts were laid out for
        svg.setSize(whole);
        svg.setViewBox(QRect(QPoint(), whole));
        return paintVectors(svg);
    }
    if (path.endsWith(QStringLiteral(".pdf"), Qt::CaseInsensitive)) {
        QPdfWriter pdf(path);
        pdf.setResolution(96);
        pdf.setPageMargins({});
        pdf.setPageSize(QPageSize(QSizeF(whole) * 72 / 96, QPageSize::Point));
        return paintVectors(pdf);
    }
    return picture(scale).save(path);
}

QImage SeriesChart::picture(double scale)
{
    const double onScreen = plot_->bufferDevicePixelRatio();
    plot_->setBufferDevicePixelRatio(scale);
    drawFrame();
    QImage image(size() * scale, QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    image.fill(theme().color(Token::Inset));
    QPainter painter(&image);
    title_->render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
    painter.drawImage(0, title_->height(), plot_->frame());
    plot_->setBufferDevicePixelRatio(onScreen);
    markDirty();
    return image;
}

} // namespace furrow
