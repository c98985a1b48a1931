#include "ui/charts/series_chart.h"

#include "ui/charts/chart_parts.h"
#include "ui/theme/theme.h"

#include <QElapsedTimer>
#include <QLabel>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <QVBoxLayout>
#include <QWindow>
#include <algorithm>
#include <cmath>
#include <map>

namespace furrow {
namespace {

constexpr int kLeft = 54; // equal in all charts, so that linked ones stand under each other
constexpr int kBottom = 26;
constexpr double kClickReach = 12;

} // namespace

SeriesChart::SeriesChart(ChartLink& link, QWidget* parent)
    : QWidget(parent)
    , link_(link)
    , linkAlive_(&link)
    , title_(new ChartTitle(this))
    , emptyText_(tr("No steps recorded yet."))
{
    setFocusPolicy(Qt::StrongFocus);
    buildPlot();
    empty_ = new QLabel(emptyText_, plot_);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setAttribute(Qt::WA_TransparentForMouseEvents);
    empty_->hide();
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(title_);
    column->addWidget(plot_, 1);
    connectPlot();
    applyTheme();
}

SeriesChart::~SeriesChart()
{
    if (linkAlive_)
        link_.addExtent(this, std::nullopt);
}

void SeriesChart::buildPlot()
{
    plot_ = new QCustomPlot(this);
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->setNoAntialiasingOnDrag(false);
    plot_->setPlottingHints(QCP::phFastPolylines | QCP::phImmediateRefresh | QCP::phCacheLabels);
    plot_->setMinimumSize(120, 60);
    QCPAxisRect* area = plot_->axisRect();
    area->setAutoMargins(QCP::msNone);
    area->setMargins(QMargins(kLeft, 6, 12, kBottom));
    curves_ = new CurvesLayer(plot_->xAxis, plot_->yAxis);
    plot_->addLayer(QStringLiteral("cross-hair"), plot_->layer(QStringLiteral("overlay")), QCustomPlot::limAbove);
    plot_->layer(QStringLiteral("cross-hair"))->setMode(QCPLayer::lmBuffered);
    crossHair_ = new CrossHair(plot_, *curves_);
    crossHair_->setLayer(QStringLiteral("cross-hair"));
    plot_->xAxis->setTicker(QSharedPointer<ChartTicker>::create(XAxis::GlobalStep));
    plot_->yAxis->setTicker(QSharedPointer<ValueTicker>::create());
    plot_->installEventFilter(this);
}

void SeriesChart::connectPlot()
{
    connect(plot_, &QCustomPlot::mousePress, this, &SeriesChart::onPress);
    connect(plot_, &QCustomPlot::mouseMove, this, &SeriesChart::onMove);
    connect(plot_, &QCustomPlot::mouseRelease, this, &SeriesChart::onRelease);
    connect(plot_, &QCustomPlot::mouseWheel, this, &SeriesChart::onWheel);
    connect(plot_, &QCustomPlot::mouseDoubleClick, this, &SeriesChart::fit);
    connect(&link_, &ChartLink::frame, this, &SeriesChart::onFrame);
    connect(&link_, &ChartLink::rangeChanged, this, &SeriesChart::markDirty);
    connect(&theme(), &Theme::changed, this, &SeriesChart::applyTheme);
    connect(&link_, &ChartLink::cursorChanged, this, [this](double x) {
        crossHair_->setX(x);
        if (isVisible())
            plot_->layer(QStringLiteral("cross-hair"))->replot();
    });
}

void SeriesChart::setTitle(const QString& title, const QString& unit)
{
    titleText_ = title;
    unit_ = unit;
    updateTitle();
}

void SeriesChart::setCompact(const QString& newestValue)
{
    title_->set(titleText_, unit_, {}, {}, newestValue);
    title_->setProperty("compact", true);
}

void SeriesChart::setData(ChartData data)
{
    curves_->setData(std::move(data));
    double begin = 0;
    double end = 0;
    const bool any = curves_->dataRange(begin, end);
    link_.addExtent(this, any ? std::optional(ChartLink::Range { begin, end > begin ? end : begin + 1 }) : std::nullopt);
    applyAxes();
    markDirty();
}

void SeriesChart::setOptions(const ChartOptions& options)
{
    options_ = options;
    curves_->setOptions(options);
    applyAxes();
    markDirty();
}

void SeriesChart::setHighlights(std::vector<ChartSpan> spans)
{
    curves_->setHighlights(std::move(spans));
    markDirty();
}

void SeriesChart::setEmptyText(const QString& sentence)
{
    emptyText_ = sentence;
    empty_->setText(sentence);
    markDirty();
}

void SeriesChart::setValueRange(std::optional<QCPRange> range)
{
    values_ = range;
    markDirty();
}

void SeriesChart::fit()
{
    values_.reset();
    link_.setRange(std::nullopt);
    markDirty();
}

void SeriesChart::markDirty()
{
    dirty_ = true;
    if (isSeen())
        link_.requestFrame();
}

void SeriesChart::onFrame()
{
    if (dirty_ && isSeen())
        replotNow();
}

bool SeriesChart::isSeen() const
{
    return isVisible() && !window()->isMinimized();
}

ChartLink::Range SeriesChart::shownRange() const
{
    if (link_.range())
        return *link_.range();
    const auto extent = link_.extent();
    return extent ? *extent : ChartLink::Range { 0, 1 };
}

double SeriesChart::replotNow()
{
    QElapsedTimer timer;
    timer.start();
    dirty_ = false;
    const auto range = shownRange();
    double low = range.begin;
    if (options_.logX)
        low = std::max(low, std::max(range.end * 1e-6, 1e-9));
    // The geometry of this frame must be known before it is measured.
    if (plot_->viewport() != plot_->rect())
        plot_->setViewport(plot_->rect());
    for (const auto phase : { QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins, QCPLayoutElement::upLayout })
        plot_->plotLayout()->update(phase);
    constexpr int kTickRoom = 22; // a number and half as much again
    plot_->yAxis->ticker()->setTickCount(std::clamp(plot_->axisRect()->height() / kTickRoom, 3, 6));
    plot_->xAxis->setRange(low, range.end);
    curves_->measure(plot_->bufferDevicePixelRatio());
    plot_->yAxis->setRange(values_ ? *values_ : curves_->suggestedValues());
    plot_->yAxis2->setRange(plot_->yAxis->range());
    const bool any = !curves_->data().lines.empty();
    empty_->setVisible(!any);
    for (QCPAxis* axis : { plot_->xAxis, plot_->yAxis }) { // a scale of nothing would be a lie
        axis->setTickLabels(any);
        axis->grid()->setVisible(any);
    }
    plot_->replot(QCustomPlot::rpRefreshHint);
    updateTitle();
    updateAccessible();
    const double spent = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    Q_EMIT replotted();
    return spent;
}

void SeriesChart::applyAxes()
{
    const bool logX = options_.logX;
    plot_->xAxis->setScaleType(logX ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (logX)
        plot_->xAxis->setTicker(QSharedPointer<QCPAxisTickerLog>::create());
    else
        plot_->xAxis->setTicker(QSharedPointer<ChartTicker>::create(curves_->data().axis));
    // Beautiful powers only where the ticker of the library writes them; our own texts stay as they are.
    plot_->xAxis->setNumberFormat(logX ? QStringLiteral("gb") : QStringLiteral("g"));
    plot_->yAxis->setNumberFormat(options_.logY ? QStringLiteral("gb") : QStringLiteral("g"));
    plot_->yAxis->setScaleType(options_.logY ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    if (options_.logY)
        plot_->yAxis->setTicker(QSharedPointer<QCPAxisTickerLog>::create());
    else
        plot_->yAxis->setTicker(QSharedPointer<ValueTicker>::create());
    plot_->yAxis->setNumberPrecision(4);
    plot_->yAxis2->setVisible(options_.perplexity);
    plot_->yAxis2->setTicker(QSharedPointer<ValueTicker>::create(true));
    plot_->axisRect()->setMargins(QMargins(kLeft, 6, options_.perplexity ? kLeft : 12, kBottom));
}

void SeriesChart::applyTheme()
{
    const Theme& t = theme();
    plot_->setBackground(QBrush(t.color(Token::Inset)));
    for (QCPAxis* axis : { plot_->xAxis, plot_->yAxis, plot_->yAxis2 }) {
        axis->setBasePen(QPen(t.color(Token::Line2), 1));
        axis->setTickPen(Qt::NoPen);
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(t.color(Token::Text3));
        axis->setTickLabelFont(t.font(FontRole::Axis));
        axis->setTickLabelPadding(8);
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    plot_->yAxis->grid()->setPen(QPen(t.color(Token::Line, 0.75), 1));
    plot_->xAxis->grid()->setPen(QPen(t.color(Token::Line, 0.45), 1));
    markDirty();
}

void SeriesChart::updateTitle()
{
    if (title_->property("compact").toBool())
        return;
    std::vector<ChartTitle::Entry> entries;
    std::map<int, double> newest;
    for (const auto& shape : curves_->shapes()) {
        if (!shape.smooth.empty())
            newest[curves_->data().lines[shape.line].worker] = shape.smooth.back().y;
    }
    for (const auto& [worker, value] : newest)
        entries.push_back({ worker, lineName(curves_->data(), worker), valueText(value) });
    if (!curves_->mean().empty())
        entries.push_back({ -1, tr("mean"), valueText(curves_->mean().back().y) });
    if (!curves_->data().evals.empty())
        entries.push_back({ -2, tr("eval"), valueText(curves_->data().evals.back().y) });
    QStringList trouble;
    if (curves_->notANumbers() > 0)
        trouble << tr("%1 NaN").arg(curves_->notANumbers());
    if (curves_->infinities() > 0)
        trouble << tr("%1 infinite").arg(curves_->infinities());
    title_->set(titleText_, unit_, std::move(entries), trouble.join(QStringLiteral(", ")), {});
}

void SeriesChart::updateAccessible()
{
    setAccessibleName(titleText_);
    setAccessibleDescription(valueSentence());
}

QString SeriesChart::valueSentence() const
{
    const auto& points = curves_->mean();
    const std::vector<SmoothPoint>* shown = points.empty() ? nullptr : &points;
    for (const auto& shape : curves_->shapes()) {
        if (!shown && !shape.smooth.empty())
            shown = &shape.smooth;
    }
    if (!shown)
        return emptyText_;
    const SmoothPoint last = shown->back();
    const double before = (*shown)[shown->size() * 4 / 5].y;
    const double change = (last.y - before) / std::max(1e-12, std::abs(before));
    const QString trend = change < -0.002 ? tr("falling") : change > 0.002 ? tr("rising") : tr("level");
    const QString unit = axisUnit(curves_->data().axis);
    return tr("%1 %2, at %3, %4").arg(titleText_, valueText(last.y), exactAxisText(curves_->data().axis, last.x) + (unit.isEmpty() ? QString() : QLatin1Char(' ') + unit), trend);
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
    std::map<int, std::pair<Summary, double>> perWorker;
    for (const auto& shape : curves_->shapes()) {
        const ChartLine& line = curves_->data().lines[shape.line];
        const auto begin = shape.columns.front().begin;
        const auto end = shape.columns.back().end;
        if (end <= begin)
            continue;
        auto& [summary, newest] = perWorker[line.worker];
        summary.add(line.curve->range(begin, end));
        newest = line.curve->y(end - 1);
    }
    std::vector<Statistic> rows;
    for (const auto& [worker, entry] : perWorker)
        rows.push_back({ worker, entry.first.count, entry.first.min, entry.first.max, entry.first.mean(), entry.second });
    return rows;
}

QString SeriesChart::csv(std::size_t limit) const
{
    QString text = QStringLiteral("worker,x,y\n");
    std::size_t lines = 0;
    for (const auto& shape : curves_->shapes()) {
        const ChartLine& line = curves_->data().lines[shape.line];
        for (auto i = shape.columns.front().begin; i < shape.columns.back().end && lines < limit; ++i, ++lines)
            text += QString::number(line.worker) + QLatin1Char(',') + QString::number(line.curve->x(i), 'g', 15) + QLatin1Char(',')
                + QString::number(static_cast<double>(line.curve->y(i)), 'g', 9) + QLatin1Char('\n');
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
    QPixmap image(whole * scale);
    image.setDevicePixelRatio(scale);
    image.fill(theme().color(Token::Inset));
    QPainter painter(&image);
    title_->render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
    painter.drawPixmap(0, title_->height(), plot_->width(), plot_->height(), plot_->toPixmap(plot_->width(), plot_->height(), scale));
    painter.end();
    return image.save(path);
}

void SeriesChart::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (!screenKnown_ && window()->windowHandle()) {
        // QCustomPlot 2.1.0 keeps the pixel ratio of the screen it was born on.
        screenKnown_ = true;
        connect(window()->windowHandle(), &QWindow::screenChanged, this, [this] {
            plot_->setBufferDevicePixelRatio(devicePixelRatioF());
            markDirty();
        });
    }
    if (plot_->bufferDevicePixelRatio() != devicePixelRatioF())
        plot_->setBufferDevicePixelRatio(devicePixelRatioF());
    markDirty();
}

void SeriesChart::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange)
        applyTheme();
    QWidget::changeEvent(event);
}

void SeriesChart::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    empty_->setGeometry(0, 0, width(), height() * 2 / 3);
    markDirty();
}

void SeriesChart::keyPressEvent(QKeyEvent* event)
{
    const auto range = shownRange();
    const double step = (range.end - range.begin) / 10;
    switch (event->key()) {
    case Qt::Key_F: fit(); return;
    case Qt::Key_L:
        options_.logY = !options_.logY;
        setOptions(options_);
        Q_EMIT optionsChanged();
        return;
    case Qt::Key_Backspace: link_.zoomBack(); return;
    case Qt::Key_Left:
        if (event->modifiers() & Qt::AltModifier)
            link_.zoomBack();
        else
            link_.setRange(ChartLink::Range { range.begin - step, range.end - step }, false);
        return;
    case Qt::Key_Right: link_.setRange(ChartLink::Range { range.begin + step, range.end + step }, false); return;
    case Qt::Key_Plus: link_.setRange(ChartLink::Range { range.begin + step, range.end - step }); return;
    case Qt::Key_Minus: link_.setRange(ChartLink::Range { range.begin - step, range.end + step }); return;
    default: QWidget::keyPressEvent(event);
    }
}

bool SeriesChart::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == plot_ && event->type() == QEvent::Leave) {
        crossHair_->setShowsValues(false);
        link_.setCursor(NAN);
    }
    if (watched == plot_ && event->type() == QEvent::Paint && dirty_)
        link_.requestFrame(); // restored: what came meanwhile is drawn now
    return QWidget::eventFilter(watched, event);
}

void SeriesChart::onPress(QMouseEvent* event)
{
    setFocus(Qt::MouseFocusReason);
    if (event->button() != Qt::LeftButton)
        return;
    drag_ = event->modifiers() & Qt::ShiftModifier ? Drag::Box : Drag::Pan;
    dragFrom_ = event->position();
    dragRange_ = shownRange();
    dragMoved_ = false;
}

void SeriesChart::onMove(QMouseEvent* event)
{
    const QPointF at = event->position();
    const QRectF area = plot_->axisRect()->rect();
    if (drag_ != Drag::None && (dragMoved_ || (at - dragFrom_).manhattanLength() > 4)) {
        const bool first = !dragMoved_;
        dragMoved_ = true;
        if (drag_ == Drag::Box) {
            crossHair_->setBox(QRectF(dragFrom_, at).normalized());
            plot_->layer(QStringLiteral("cross-hair"))->replot();
            return;
        }
        if (!options_.logX) {
            const double shift = (dragFrom_.x() - at.x()) / area.width() * (dragRange_.end - dragRange_.begin);
            link_.setRange(ChartLink::Range { dragRange_.begin + shift, dragRange_.end + shift }, first);
        }
        return;
    }
    const bool inside = area.contains(at);
    crossHair_->setShowsValues(inside);
    link_.setCursor(inside ? plot_->xAxis->pixelToCoord(at.x()) : NAN);
}

void SeriesChart::onRelease(QMouseEvent* event)
{
    const Drag drag = std::exchange(drag_, Drag::None);
    const QPointF at = event->position();
    if (drag == Drag::Box && dragMoved_) {
        crossHair_->setBox({});
        const QRectF box = QRectF(dragFrom_, at).normalized();
        values_ = QCPRange(plot_->yAxis->pixelToCoord(box.bottom()), plot_->yAxis->pixelToCoord(box.top()));
        link_.setRange(ChartLink::Range { plot_->xAxis->pixelToCoord(box.left()), plot_->xAxis->pixelToCoord(box.right()) });
        markDirty();
        return;
    }
    if (drag == Drag::None || dragMoved_)
        return;
    const double x = plot_->xAxis->pixelToCoord(at.x());
    double nearest = kClickReach * 4;
    int worker = -1;
    for (const auto& shape : curves_->shapes()) {
        const int w = curves_->data().lines[shape.line].worker;
        const double value = curves_->valueAt(w, x);
        const double distance = std::isfinite(value) ? std::abs(plot_->yAxis->coordToPixel(value) - at.y()) : INFINITY;
        if (distance < nearest) {
            nearest = distance;
            worker = w;
        }
    }
    Q_EMIT pointClicked(worker, x);
}

void SeriesChart::onWheel(QWheelEvent* event)
{
    const double factor = std::pow(0.85, event->angleDelta().y() / 120.0);
    if (event->modifiers() & Qt::ShiftModifier) {
        const double at = plot_->yAxis->pixelToCoord(event->position().y());
        const QCPRange now = plot_->yAxis->range();
        setValueRange(QCPRange(at - (at - now.lower) * factor, at + (now.upper - at) * factor));
        return;
    }
    const double at = plot_->xAxis->pixelToCoord(event->position().x());
    const auto now = shownRange();
    link_.setRange(ChartLink::Range { at - (at - now.begin) * factor, at + (now.end - at) * factor });
    event->accept();
}

} // namespace furrow
