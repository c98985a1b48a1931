#include "ui/pages/small_charts.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kColumns = 3;
constexpr int kLeastWidth = 150;

struct Kind {
    const char* name;
    const char* unit;
    Metric metric;
    bool isSchedule = false; ///< no noise to be smoothed
    bool isStacked = false;
    bool fromZero = false;
};

// In the order of SmallChart. Drift, answers and privacy have no metric: their points are merges, evaluations and
// chunks, not steps.
constexpr Kind kKinds[kSmallChartCount] = {
    { QT_TRANSLATE_NOOP("SmallCharts", "Learning rate"),
        QT_TRANSLATE_NOOP("SmallCharts", "per worker, each on its own schedule"), Metric::LearningRate, true, false,
        true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Tokens per second"), QT_TRANSLATE_NOOP("SmallCharts", "all workers, stacked"),
        Metric::TokensPerSecond, false, true, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Gradient norm"), QT_TRANSLATE_NOOP("SmallCharts", "before clipping"),
        Metric::GradientNorm },
    { QT_TRANSLATE_NOOP("SmallCharts", "Parameter norm"), QT_TRANSLATE_NOOP("SmallCharts", "per replica"),
        Metric::ParameterNorm, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Drift of replicas"),
        QT_TRANSLATE_NOOP("SmallCharts", "from their mean at each merge"), Metric::ParameterNorm, true, false, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Memory"), QT_TRANSLATE_NOOP("SmallCharts", "MiB per worker"), Metric::MemoryMiB,
        true, false, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Waiting for data"), QT_TRANSLATE_NOOP("SmallCharts", "ms per step"),
        Metric::WaitData, false, false, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Forward"), QT_TRANSLATE_NOOP("SmallCharts", "ms per step"), Metric::Forward,
        false, false, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Backward"), QT_TRANSLATE_NOOP("SmallCharts", "ms per step"), Metric::Backward,
        false, false, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Optimiser"), QT_TRANSLATE_NOOP("SmallCharts", "ms per step"), Metric::Optimizer,
        false, false, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Right answers"),
        QT_TRANSLATE_NOOP("SmallCharts", "share of the questions, at each evaluation"), Metric::Loss, true, false,
        true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Privacy spent"),
        QT_TRANSLATE_NOOP("SmallCharts", "epsilon at most, of any unit"), Metric::Loss, true, false, true },
    { QT_TRANSLATE_NOOP("SmallCharts", "Margin of the chosen answers"),
        QT_TRANSLATE_NOOP("SmallCharts", "mean of a step, against the start weights"), Metric::Margin },
    { QT_TRANSLATE_NOOP("SmallCharts", "Chosen answers preferred"),
        QT_TRANSLATE_NOOP("SmallCharts", "share of the pairs of a step"), Metric::Preferred, false, false, true },
};

/// Of the workers of the newest attempt: those of earlier ones are over. What is stacked is the sum of those that
/// train still.
QString newestText(const SeriesChart& chart)
{
    const auto statistics = chart.statistics();
    std::int64_t attempt = 0;
    for (const SeriesChart::Statistic& statistic : statistics)
        attempt = std::max(attempt, statistic.attempt);
    double sum = 0;
    int n = 0;
    const bool isSum = chart.options().stacked;
    for (const SeriesChart::Statistic& statistic : statistics) {
        if (statistic.attempt != attempt || (isSum && statistic.isOver))
            continue;
        sum += statistic.newest;
        ++n;
    }
    if (n == 0)
        return {};
    const QString text = valueText(isSum ? sum : sum / n);
    return n == 1 || isSum ? text : QCoreApplication::translate("SmallCharts", "mean %1").arg(text);
}

} // namespace

QString smallChartName(SmallChart chart)
{
    return QCoreApplication::translate("SmallCharts", kKinds[static_cast<int>(chart)].name);
}

SmallCharts::SmallCharts(ChartLink& link, QWidget* parent)
    : QFrame(parent)
    , link_(link)
    , grid_(new QGridLayout(this))
    , charts_(kSmallChartCount, nullptr)
{
    setProperty("separator", true); // what shows between the charts is a line
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setSpacing(1);
}

SeriesChart* SmallCharts::chart(SmallChart kind)
{
    SeriesChart*& made = charts_[static_cast<std::size_t>(kind)];
    if (made == nullptr) {
        const Kind& of = kKinds[static_cast<int>(kind)];
        made = new SeriesChart(link_, this);
        made->setTitle(smallChartName(kind), QCoreApplication::translate("SmallCharts", of.unit));
        made->setCompact({});
        made->setMinimumWidth(kLeastWidth);
        made->setEmptyText(emptyTextOf(kind));
        connect(made, &SeriesChart::replotted, made, [made] { made->setCompact(newestText(*made)); });
        applyOptions(static_cast<int>(kind));
    }
    return made;
}

QString SmallCharts::emptyTextOf(SmallChart kind) const
{
    if (kind == SmallChart::Drift)
        return tr("The replicas have not been merged yet.");
    return kind == SmallChart::Privacy && !privacyText_.isEmpty() ? privacyText_ : emptyText_;
}

void SmallCharts::setShown(const std::vector<SmallChart>& shown)
{
    shown_ = shown;
    for (SeriesChart* made : charts_) {
        if (made != nullptr) {
            grid_->removeWidget(made);
            made->hide();
        }
    }
    for (int kind = 0; kind < kSmallChartCount; ++kind) // what is not shown must not widen the range of the others
        if (SeriesChart* made = charts_[static_cast<std::size_t>(kind)];
            made != nullptr && std::ranges::find(shown, static_cast<SmallChart>(kind)) == shown.end())
            made->setData({});
    const int count = static_cast<int>(shown.size());
    for (int i = 0; i < count; ++i) { // the last one fills its row
        const int span = i + 1 == count ? kColumns - i % kColumns : 1;
        const bool alone = count < kColumns;
        grid_->addWidget(chart(shown[static_cast<std::size_t>(i)]), i / kColumns, i % kColumns, 1, alone ? 1 : span);
        charts_[static_cast<std::size_t>(shown[static_cast<std::size_t>(i)])]->show();
    }
    setVisible(count > 0);
}

void SmallCharts::applyOptions(int kind)
{
    const Kind& of = kKinds[kind];
    ChartOptions options = common_;
    if (of.isSchedule) {
        options.smoothing.kind = SmoothingKind::None;
        options.mean = false; // between two schedules nobody trains
    }
    options.stacked = of.isStacked;
    options.fromZero = of.fromZero;
    options.logY = false;
    options.perplexity = false;
    charts_[static_cast<std::size_t>(kind)]->setOptions(options);
}

void SmallCharts::setOptions(const ChartOptions& common)
{
    common_ = common;
    for (int kind = 0; kind < kSmallChartCount; ++kind) {
        if (charts_[static_cast<std::size_t>(kind)] != nullptr)
            applyOptions(kind);
    }
}

void SmallCharts::setData(const std::function<ChartData(Metric)>& dataOf, const ChartData& drift,
    const ChartData& answers, const ChartData& privacy)
{
    for (const SmallChart kind : shown_)
        chart(kind)->setData(kind == SmallChart::Drift ? drift
                : kind == SmallChart::Answers          ? answers
                : kind == SmallChart::Privacy          ? privacy
                                                       : dataOf(kKinds[static_cast<int>(kind)].metric));
}

void SmallCharts::clearData()
{
    setData([](Metric) { return ChartData {}; }, {}, {}, {});
}

void SmallCharts::setHighlights(const std::vector<ChartSpan>& spans)
{
    for (const SmallChart kind : shown_)
        chart(kind)->setHighlights(spans);
}

void SmallCharts::setEmptyText(const QString& sentence)
{
    emptyText_ = sentence;
    for (const SmallChart kind : shown_)
        chart(kind)->setEmptyText(emptyTextOf(kind));
}

void SmallCharts::setPrivacyText(const QString& sentence)
{
    privacyText_ = sentence;
    setEmptyText(emptyText_);
}

} // namespace furrow
