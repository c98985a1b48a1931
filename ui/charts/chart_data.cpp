#include "ui/charts/chart_data.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <cmath>
#include <map>

namespace furrow {
namespace {

QString clock(double seconds, const char* format)
{
    return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000)).toString(QLatin1String(format));
}

/// @param step  distance of ticks; 0: three digits behind the point
QString scaled(double x, double step)
{
    static constexpr struct {
        double from;
        double unit;
        const char* suffix;
    } kUnits[] = { { 1e12, 1e12, " T" }, { 1e9, 1e9, " B" }, { 1e6, 1e6, " M" }, { 1e4, 1e3, " k" } };
    const QLocale locale;
    if (x == 0)
        return locale.toString(0);
    const double size = std::max(std::abs(x), step);
    for (const auto& u : kUnits) {
        if (size < u.from)
            continue;
        const int decimals = step <= 0
            ? 3
            : std::clamp(static_cast<int>(std::ceil(-std::log10(step / u.unit) - 1e-9)), u.unit >= 1e9 ? 1 : 0, 6);
        return locale.toString(x / u.unit, 'f', decimals) + QLatin1String(u.suffix);
    }
    if (step > 0 && step < 1)
        return locale.toString(x, 'f', std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)), 0, 6));
    return locale.toString(static_cast<qlonglong>(std::llround(x)));
}

} // namespace

void sayLost(ChartSeam& seam, std::size_t steps)
{
    const int count = static_cast<int>(steps); // lupdate does not read past a cast
    const QString words
        = QCoreApplication::translate("ChartData", "%n step(s) of attempt %1 are not in the weights", nullptr, count)
              .arg(seam.before);
    seam.text = steps == 0 ? seam.times : seam.times + QStringLiteral(", ") + words;
}

namespace {

void addSeams(ChartData& data, const TelemetrySnapshot& snapshot, double samplesPerEpoch)
{
    std::int64_t attempt = 0;
    double lastEnd = 0;
    for (std::size_t k = 0; k < snapshot.stretches.size(); ++k) {
        const Stretch& s = snapshot.stretches[k];
        if (s.size() == 0)
            continue;
        if (attempt != 0 && s.attempt != attempt) {
            const bool sameDay = clock(lastEnd, "d MMM") == clock(s.wallStart, "d MMM");
            const QString times = QCoreApplication::translate("ChartData", "last step %1, resumed %2")
                                      .arg(clock(lastEnd, sameDay ? "HH:mm" : "d MMM HH:mm"),
                                          clock(s.wallStart, sameDay ? "HH:mm" : "d MMM HH:mm"));
            std::size_t lost = 0;
            for (std::size_t before = 0; before < k; ++before)
                if (snapshot.stretches[before].attempt == attempt && snapshot.stretches[before].rank == 0)
                    lost += snapshot.stretches[before].size() - snapshot.supersededFrom(before);
            ChartSeam& seam = data.seams.emplace_back();
            seam.x = snapshot.xAt(k, 0, data.axis, samplesPerEpoch);
            seam.title = QCoreApplication::translate("ChartData", "Attempt %1").arg(s.attempt);
            seam.times = times;
            seam.before = attempt;
            sayLost(seam, lost);
            if (data.axis == XAxis::WallTime)
                data.gaps.push_back({ lastEnd, s.wallStart });
        }
        lastEnd = s.attempt == attempt ? std::max(lastEnd, s.wallEnd()) : s.wallEnd();
        attempt = s.attempt;
    }
}

/// The chunks in which a worker saw its loss jump.
void addSpikes(ChartData& data, const TelemetrySnapshot& snapshot, double samplesPerEpoch, int only)
{
    if (!snapshot.events)
        return;
    for (const EventPoint& event : *snapshot.events) {
        TelemetrySnapshot::Interval at;
        if (event.record.kind != EventRecord::Kind::Spike || (only >= 0 && event.worker != only)
            || !snapshot.find(event.worker, event.wall, at))
            continue;
        at = snapshot.intervalAround(at.stretch, at.begin);
        data.spikes.push_back({ snapshot.xAt(at.stretch, at.begin, data.axis, samplesPerEpoch),
            snapshot.xAt(at.stretch, at.end - 1, data.axis, samplesPerEpoch) });
    }
}

/// @param take  gets each with its place, oldest first: they come worker by worker, and the last one is to be the
/// newest
template <typename Take>
void forEachEval(const TelemetrySnapshot& snapshot, XAxis axis, double samplesPerEpoch, int only, const Take& take)
{
    if (!snapshot.evals)
        return;
    std::vector<EvalPoint> evals = *snapshot.evals;
    std::stable_sort(
        evals.begin(), evals.end(), [](const EvalPoint& a, const EvalPoint& b) { return a.wall < b.wall; });
    for (const EvalPoint& eval : evals) {
        TelemetrySnapshot::Interval at;
        if ((only < 0 || eval.worker == only) && snapshot.find(eval.worker, eval.wall, at))
            take(eval,
                ChartEval { snapshot.xAt(at.stretch, at.begin, axis, samplesPerEpoch), 0, at.stretch, at.begin,
                    eval.worker < 0 ? -1 : eval.record.step });
    }
}

void addEvals(ChartData& data, const TelemetrySnapshot& snapshot, double samplesPerEpoch, int only)
{
    forEachEval(snapshot, data.axis, samplesPerEpoch, only, [&data](const EvalPoint& eval, ChartEval at) {
        at.y = eval.record.loss;
        if (eval.record.hasLoss())
            data.evals.push_back(at);
    });
}

/// Points of one line, whose x does not fall.
struct Points {
    std::vector<double> x;
    std::vector<float> y;

    void add(double atX, double atY)
    {
        x.push_back(x.empty() ? atX : std::max(atX, x.back()));
        y.push_back(static_cast<float>(atY));
    }
};

void addLines(ChartData& data, const std::map<int, Points>& byWorker)
{
    for (const auto& [worker, points] : byWorker)
        data.lines.push_back({ makeCurve(points.x, points.y), nullptr, worker });
}

} // namespace

QString lossUnit(Objective objective)
{
    switch (objective) {
    case Objective::NextToken: break;
    case Objective::Dpo: return QCoreApplication::translate("Charts", "nats per pair");
    }
    return QCoreApplication::translate("Charts", "nats per token");
}

ChartData chartDataOf(const TelemetrySnapshot& snapshot, Metric metric, XAxis axis, double samplesPerEpoch, int only)
{
    ChartData data;
    data.axis = axis;
    double newest = 0; // [s since 1970]
    for (const Stretch& stretch : snapshot.stretches)
        newest = std::max(newest, stretch.wallEnd());
    for (std::size_t k = 0; k < snapshot.stretches.size(); ++k) {
        const int worker = snapshot.stretches[k].worker;
        if (only >= 0 && worker != only)
            continue;
        const bool own = metric == Metric::TokensPerSecond || metric == Metric::MemoryMiB;
        if (snapshot.stretches[k].rank > 0 && !own) // rank 0 tells it for the group
            continue;
        if ((metric == Metric::Margin || metric == Metric::Preferred) && !snapshot.stretches[k].hasPairs())
            continue;
        data.lines.push_back({ snapshot.curve(k, metric, axis, samplesPerEpoch),
            metric == Metric::TokensPerSecond ? nullptr : snapshot.curve(k, Metric::StepTokens, axis, samplesPerEpoch),
            worker, snapshot.supersededFrom(k), 0, snapshot.stretches[k].attempt,
            snapshot.stretches[k].wallEnd() + snapshot.stretches[k].quietAfter() < newest });
    }
    std::stable_sort(data.lines.begin(), data.lines.end(),
        [](const ChartLine& a, const ChartLine& b) { return a.worker < b.worker; });
    addSeams(data, snapshot, samplesPerEpoch);
    if (metric == Metric::Loss) {
        addSpikes(data, snapshot, samplesPerEpoch, only);
        addEvals(data, snapshot, samplesPerEpoch, only);
    }
    if (metric == Metric::Margin || metric == Metric::Preferred)
        forEachEval(snapshot, axis, samplesPerEpoch, only, [&](const EvalPoint& eval, ChartEval at) {
            at.y = metric == Metric::Margin ? eval.record.pairs.margin : eval.record.pairs.preferred;
            if (eval.record.pairs.pairs > 0)
                data.evals.push_back(at);
        });
    return data;
}

namespace {

/// The same, of spans that do not meet.
std::vector<ChartSpan> united(std::vector<ChartSpan> spans)
{
    std::ranges::sort(spans, {}, &ChartSpan::begin);
    std::vector<ChartSpan> apart;
    for (const ChartSpan& span : spans) {
        if (apart.empty() || span.begin > apart.back().end)
            apart.push_back(span);
        else
            apart.back().end = std::max(apart.back().end, span.end);
    }
    return apart;
}

} // namespace

std::vector<ChartSpan> unknownSpans(const ChartData& data, std::span<const ChartLine> lines)
{
    std::vector<ChartSpan> kept, lost;
    for (const ChartLine& line : lines) {
        const std::size_t size = line.curve->size();
        const std::size_t limit = std::min(line.supersededFrom, size);
        if (limit > 0)
            kept.push_back({ line.curve->x(0), line.curve->x(limit - 1) });
        if (limit < size)
            lost.push_back({ line.curve->x(limit), line.curve->x(size - 1) });
    }
    kept = united(std::move(kept));
    lost = united(std::move(lost));
    std::vector<ChartSpan> unknown = data.gaps;
    for (std::size_t i = 1; i < kept.size(); ++i) {
        const ChartSpan between { kept[i - 1].end, kept[i].begin };
        const auto first = std::ranges::upper_bound(lost, between.begin, {}, &ChartSpan::end);
        if (first != lost.end() && first->begin < between.end)
            unknown.push_back(between);
    }
    std::ranges::sort(unknown, {}, &ChartSpan::begin);
    return unknown;
}

ChartData driftDataOf(const TelemetrySnapshot& snapshot, XAxis axis, double samplesPerEpoch)
{
    ChartData data;
    data.axis = axis;
    std::map<int, Points> byReplica;
    if (!snapshot.drifts)
        return data;
    for (const DriftPoint& drift : *snapshot.drifts) {
        TelemetrySnapshot::Interval at;
        if (!snapshot.find(-1, drift.wall, at)) // whoever merged, the replicas stood where the newest step was
            continue;
        byReplica[drift.record.replica].add(
            snapshot.xAt(at.stretch, at.begin, axis, samplesPerEpoch), drift.record.fromMean);
    }
    addLines(data, byReplica);
    return data;
}

ChartData privacyDataOf(const TelemetrySnapshot& snapshot, XAxis axis, double samplesPerEpoch, int only)
{
    ChartData data;
    data.axis = axis;
    std::map<int, Points> byWorker;
    if (!snapshot.privacy)
        return data;
    for (const PrivacyPoint& point : *snapshot.privacy) {
        TelemetrySnapshot::Interval at;
        if ((only < 0 || point.worker == only) && snapshot.find(point.worker, point.wall, at))
            byWorker[point.worker].add(snapshot.xAt(at.stretch, at.begin, axis, samplesPerEpoch), point.record.epsilon);
    }
    addLines(data, byWorker);
    return data;
}

namespace {

/// Answers of one worker, as told one after the other, in pieces that nothing joins.
struct Answers {
    std::vector<Points> kept;
    std::vector<Points> lost; ///< answers whose weights are in no model any more
    bool endsLost = true; ///< the last one was, or there is none

    void add(const ChartEval& at)
    {
        if (at.isLost && (!endsLost || lost.empty()))
            beginLost();
        else if (!at.isLost && endsLost)
            kept.emplace_back();
        (at.isLost ? lost : kept).back().add(at.x, at.y);
        endsLost = at.isLost;
    }
    void beginLost()
    {
        Points& begun = lost.emplace_back();
        if (!kept.empty())
            begun.add(kept.back().x.back(), static_cast<double>(kept.back().y.back()));
    }
};

} // namespace

ChartData answersDataOf(const TelemetrySnapshot& snapshot, XAxis axis, double samplesPerEpoch,
    const std::function<bool(const ChartEval&)>& isLost)
{
    ChartData data;
    data.axis = axis;
    std::map<int, Answers> byWorker;
    forEachEval(snapshot, axis, samplesPerEpoch, -1, [&](const EvalPoint& eval, ChartEval at) {
        if (eval.record.tasks.questions == 0)
            return;
        at.y = eval.record.tasks.share();
        at.isLost = isLost && isLost(at);
        if (eval.record.what == EvalRecord::What::Merged)
            data.evals.push_back(at);
        else
            byWorker[eval.worker].add(at);
    });
    for (const auto& [worker, answers] : byWorker) {
        for (const Points& points : answers.kept)
            data.lines.push_back({ makeCurve(points.x, points.y), nullptr, worker });
        for (const Points& points : answers.lost)
            data.lines.push_back({ makeCurve(points.x, points.y), nullptr, worker, 0 });
    }
    return data;
}

QString axisText(XAxis axis, double x, double step)
{
    switch (axis) {
    case XAxis::WallTime:
        return clock(x, step >= 86400 ? "d MMM" : step >= 14400 ? "d MMM HH:mm" : step >= 60 ? "HH:mm" : "HH:mm:ss");
    case XAxis::ActiveTime: {
        const auto minutes = static_cast<qint64>(std::llround(x / 60));
        if (step < 60)
            return QCoreApplication::translate("ChartData", "%1 s")
                .arg(QLocale().toString(static_cast<qlonglong>(std::llround(x))));
        if (minutes < 60)
            return QCoreApplication::translate("ChartData", "%1 min").arg(minutes);
        return minutes % 60 == 0
            ? QCoreApplication::translate("ChartData", "%1 h").arg(minutes / 60)
            : QCoreApplication::translate("ChartData", "%1 h %2 min").arg(minutes / 60).arg(minutes % 60);
    }
    case XAxis::Epoch:
        return QLocale().toString(
            x, 'f', std::clamp(static_cast<int>(std::ceil(-std::log10(std::max(step, 1e-9)) - 1e-9)), 1, 6));
    default: return scaled(x, step);
    }
}

QString lonelyAxisText(XAxis axis, double x, double length)
{
    constexpr double kTicks = 5;
    const double step = length / kTicks;
    return axisText(axis, x, x == 0 ? step : std::min(step, std::abs(x) / 10));
}

QString exactAxisText(XAxis axis, double x)
{
    switch (axis) {
    case XAxis::WallTime: return clock(x, "d MMM HH:mm:ss");
    case XAxis::ActiveTime: return axisText(axis, x, x < 600 ? 1 : 60);
    case XAxis::Epoch: return QLocale().toString(x, 'f', 4);
    default: return scaled(x, 0);
    }
}

QString axisUnit(XAxis axis)
{
    switch (axis) {
    case XAxis::WorkerStep:
    case XAxis::GlobalStep: return QCoreApplication::translate("ChartData", "steps");
    case XAxis::Samples: return QCoreApplication::translate("ChartData", "samples");
    case XAxis::Tokens: return QCoreApplication::translate("ChartData", "tokens");
    case XAxis::Epoch: return QCoreApplication::translate("ChartData", "epochs");
    default: return {};
    }
}

QString lineName(const ChartData& data, int worker)
{
    if (worker >= 0 && worker < static_cast<int>(data.names.size()))
        return data.names[static_cast<std::size_t>(worker)];
    return QCoreApplication::translate("Chart", "worker %1").arg(worker);
}

QString scientificText(double value, int decimals)
{
    if (value == 0 || !std::isfinite(value))
        return QLocale().toString(value, 'f', 0);
    // By the C locale first: others write "E", and the rounded mantissa decides the exponent.
    const QStringList parts = QString::number(value, 'e', decimals).split(QLatin1Char('e'));
    return QLocale().toString(parts[0].toDouble(), 'f', decimals) + QLatin1Char('e')
        + QString::number(parts[1].toInt());
}

QString valueText(double value)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("∞") : QStringLiteral("-∞");
    const QLocale locale;
    const double size = std::abs(value);
    if (size >= 1000)
        return locale.toString(static_cast<qlonglong>(std::llround(value)));
    if (size >= 100)
        return locale.toString(value, 'f', 1);
    if (size >= 0.01 || size == 0)
        return locale.toString(value, 'f', size == 0 ? 0 : size >= 10 ? 2 : 3);
    return scientificText(value, 2);
}

} // namespace furrow
