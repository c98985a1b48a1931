#pragma once

#include "core/config/choices.h"
#include "core/telemetry/snapshot.h"
#include "ui/charts/smoothing.h"

#include <QString>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace furrow {

/// One stretch of one worker.
struct ChartLine {
    CurvePtr curve;
    CurvePtr weights; ///< tokens of each step for the mean; null: points count as their curve joins them
    int worker = 0; ///< or the run, where `names` says so
    std::size_t supersededFrom
        = std::numeric_limits<std::size_t>::max(); ///< points from here on are in no weights: they are dashed
    int member = 0; ///< the worker, where `worker` is a run
    std::int64_t attempt = 0; ///< 0: of none
    bool isOver = false; ///< others of the run went on, and it made no step
    std::size_t lostFrom
        = std::numeric_limits<std::size_t>::max(); ///< the same of a line that is drawn whole all the same
};

struct ChartEval {
    double x = 0;
    double y = 0;
    std::size_t stretch = 0; ///< of the last step before it
    std::size_t index = 0; ///< of that step in its stretch
    std::int64_t step = 0; ///< of the worker, in the weights that were evaluated; -1: of a merge, by a task
    bool isLost = false; ///< those weights are in no model any more
};

/// Where an attempt begins. The tag says the cause and what was lost.
struct ChartSeam {
    double x = 0;
    QString title; ///< "Attempt 2"
    QString text; ///< "last step 14:02, resumed 15:39, 34 steps of attempt 1 are not in the weights"
    QString times {}; ///< its first part
    std::int64_t before = 0; ///< the attempt before it; 0: not known
};
/// Gives the text of a seam its figure. @param steps  of the attempt before it
void sayLost(ChartSeam& seam, std::size_t steps);

/// Everything one chart shows. A value; give it to SeriesChart::setData.
struct ChartData {
    std::vector<ChartLine> lines; ///< by worker, then time
    std::vector<ChartEval> evals;
    std::optional<double> evalNow {}; ///< what the legend calls "eval"; absent: the newest of `evals` whose weights are
                                      ///< there, NaN: none of the weights that were evaluated is there any more
    std::vector<ChartSeam> seams;
    std::vector<ChartSpan> gaps; ///< time without data
    std::vector<ChartSpan> spikes; ///< chunks in which the loss jumped
    XAxis axis = XAxis::GlobalStep; ///< how x is written
    std::vector<QString> names; ///< of lines by their `worker` when these are runs, not workers; empty: "worker 0" ...
};

/// What a legend calls the lines of a worker (or run).
QString lineName(const ChartData& data, int worker);

/// What no mean of these lines goes over, ascending: time without data, and where steps are lost and none of any worker
/// survives.
std::vector<ChartSpan> unknownSpans(const ChartData& data, std::span<const ChartLine> lines);

/// What the losses of a run are in, by its setting `objective`.
QString lossUnit(Objective objective);

/// The chart of one metric of a run. Evaluations and spikes only come with Metric::Loss. Means of a loss weigh tokens,
/// those of tokens per second the time that the steps took (PaceColumn).
/// @param only  a worker, or -1 for all
ChartData chartDataOf(
    const TelemetrySnapshot& snapshot, Metric metric, XAxis axis, double samplesPerEpoch = 0, int only = -1);

/// The share of questions that each worker answered right at each evaluation; those of merges as `evals`. Empty: none
/// was asked. Answers of weights that are in no model any more are lines of their own, all of it superseded, which
/// begin with the answers before them; those after them are a line of their own too.
/// @param isLost  whether the weights of an evaluation are lost; null: of none
ChartData answersDataOf(const TelemetrySnapshot& snapshot, XAxis axis, double samplesPerEpoch = 0,
    const std::function<bool(const ChartEval&)>& isLost = {});

/// What private training has given away: epsilon at the first step of each chunk, of the run as each worker saw it.
/// Empty: no noise is added, or no epsilon is said. @param only  a worker, or -1 for all
ChartData privacyDataOf(const TelemetrySnapshot& snapshot, XAxis axis, double samplesPerEpoch = 0, int only = -1);

/// How far each replica was from the mean of all at each merge.
ChartData driftDataOf(const TelemetrySnapshot& snapshot, XAxis axis, double samplesPerEpoch = 0);

/// x as an axis writes it, with the digits that its `step` needs: "3.5 B", "48,200", "16:36", "2 h 5 min".
QString axisText(XAxis axis, double x, double step);
/// A value of x that stands alone on an axis of this length, such as where it begins; it has two figures of its own
/// however small it is.
QString lonelyAxisText(XAxis axis, double x, double length);
/// x as a cross-hair writes it: "3.920 B", "16:36:41".
QString exactAxisText(XAxis axis, double x);
/// "tokens", "steps" ... as said after a number.
QString axisUnit(XAxis axis);
/// "8e-4", "2.94e-4": the digits in the locale, the exponent without sign of plus or zeros.
QString scientificText(double value, int decimals);
/// A value with four significant digits, grouped when large: "3.505", "285,900", "2.94e-4".
QString valueText(double value);

} // namespace furrow
