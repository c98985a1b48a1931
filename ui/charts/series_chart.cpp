#include "ui/charts/series_chart.h"

#include "ui/charts/chart_parts.h"
#include "ui/charts/chart_plot.h"
#include "ui/theme/theme.h"
#include "ui/widgets/plain_text.h"

#include <QElapsedTimer>
#include <QLabel>
#include <QVBoxLayout>
#include <QWindow>
#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

constexpr int kLeft = 54; // equal in all charts, so that linked ones stand under each other
constexpr int kBottom = 26;
constexpr int kLeastPlot = 78; // its value axis has room for three numbers

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
    empty_ = plainLabel(emptyText_, plot_);
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
    plot_ = new ChartPlot(this);
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->setNoAntialiasingOnDrag(false);
    plot_->setPlottingHints(QCP::phFastPolylines | QCP::phImmediateRefresh | QCP::phCacheLabels);
    plot_->setMinimumSize(120, kLeastPlot);
    QCPAxisRect* area = plot_->axisRect();
    area->setAutoMargins(QCP::msNone);
    area->setMargins(QMargins(kLeft, 6, 12, kBottom));
    curves_ = new CurvesLayer(plot_->xAxis, plot_->yAxis);
    crossHair_ = std::make_unique<CrossHair>(*curves_);
    plot_->setOverlay([this](QPainter& painter) { crossHair_->draw(painter); });
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
        plot_->update();
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
    link_.addExtent(
        this, any ? std::optional(ChartLink::Range { begin, end > begin ? end : begin + 1 }) : std::nullopt);
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

void SeriesChart::setValueLimits(std::optional<double> from, std::optional<double> to)
{
    if (from == from_ && to == to_)
        return;
    from_ = from;
    to_ = to;
    values_.reset();
    markDirty();
}

QCPRange SeriesChart::shownValues() const
{
    if (values_)
        return *values_;
    QCPRange range = curves_->suggestedValues();
    const bool canBe = !options_.logY || from_.value_or(1) > 0; // a logarithmic axis has no zero
    const double low = canBe ? from_.value_or(range.lower) : range.lower;
    const double high = to_.value_or(range.upper);
    return high > low ? QCPRange(low, high) : range;
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

bool SeriesChart::isSeen() const { return isVisible() && !window()->isMinimized(); }

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
    drawFrame();
    plot_->repaint();
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

void SeriesChart::drawFrame()
{
    dirty_ = false;
    const auto range = shownRange();
    double low = range.begin;
    if (options_.logX)
        low = std::max(low, std::max(range.end * 1e-6, 1e-9));
    // The geometry of this frame must be known before it is measured.
    if (plot_->viewport() != plot_->rect())
        plot_->setViewport(plot_->rect());
    for (const auto phase :
        { QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins, QCPLayoutElement::upLayout })
        plot_->plotLayout()->update(phase);
    constexpr int kTickRoom = 22; // a number and half as much again
    plot_->yAxis->ticker()->setTickCount(std::clamp(plot_->axisRect()->height() / kTickRoom, 3, 6));
    const int numberWide = QFontMetrics(plot_->xAxis->tickLabelFont()).horizontalAdvance(QStringLiteral("00:00:00"));
    const int numbers = plot_->axisRect()->width() / (numberWide + kTickRoom);
    const int least = plot_->axisRect()->width() > 3 * numberWide ? 3 : 2;
    plot_->xAxis->ticker()->setTickCount(std::clamp(numbers, least, 7));
    plot_->xAxis->setRange(low, range.end);
    curves_->measure(plot_->bufferDevicePixelRatio());
    plot_->yAxis->setRange(shownValues());
    plot_->yAxis2->setRange(plot_->yAxis->range());
    const bool any = !curves_->data().lines.empty() || !curves_->data().evals.empty();
    empty_->setVisible(!any);
    for (QCPAxis* axis : { plot_->xAxis, plot_->yAxis }) { // a scale of nothing would be a lie
        axis->setTickLabels(any);
        axis->grid()->setVisible(any);
    }
    plot_->drawFrame();
    updateTitle();
    updateAccessible();
    Q_EMIT replotted();
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

bool SeriesChart::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == plot_ && event->type() == QEvent::Leave) {
        crossHair_->setShowsValues(false);
        link_.setCursor(NAN);
    }
    if (watched == plot_ && event->type() == QEvent::Paint && dirty_) { // resized, or restored after data came
        if (plot_->hasFrame())
            link_.requestFrame();
        else
            drawFrame();
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace furrow
