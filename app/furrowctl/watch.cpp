#include "app/furrowctl/watch.h"

#include "app/furrowctl/command.h"
#include "app/furrowctl/terminal_output.h"
#include "core/base/format.h"
#include "core/base/plain_line.h"
#include "core/base/process.h"
#include "core/base/stop_asked.h"
#include "core/base/utf8.h"
#include "core/run/start/life_cycle.h"
#include "core/run/status/data_words.h"
#include "core/run/status/feeder_words.h"
#include "core/run/status/telling_workers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <thread>
#include <vector>

namespace furrow::ctl {

namespace {

constexpr auto kRefresh = std::chrono::milliseconds(500);
constexpr int kPlainLineEvery = 10; // refreshes
constexpr std::size_t kSparkWidth = 40;
constexpr int kBarWidth = 30;

std::string fixed(double value, int digits)
{
    if (!std::isfinite(value))
        return "-";
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    return text;
}

/// The newest losses as eighths of a line, highest at the top.
std::string sparkline(const std::vector<double>& values)
{
    static const char* const kEighths[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    if (values.empty())
        return {};
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    std::string text;
    for (const double v : values) {
        const double share = *high > *low ? (v - *low) / (*high - *low) : 0;
        text += kEighths[static_cast<int>(std::lround(share * 7))];
    }
    return text;
}

} // namespace

std::string bar(double share)
{
    const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kBarWidth));
    std::string text;
    for (int i = 0; i < kBarWidth; ++i)
        text += i < full ? "█" : "·";
    return text;
}

namespace {

/// "; at most 812 MB, 1.04 times the estimate"
std::string memoryText(const WorkerStatus& w)
{
    return w.memory ? "; at most " + formatBytes(static_cast<std::uint64_t>(w.memory->peakBytes)) + ", "
            + fixed(w.memory->ratio(), 2) + " times the estimate"
                    : std::string();
}

std::string paceText(double tokensPerSecond)
{
    return formatCount(static_cast<std::int64_t>(tokensPerSecond)) + " tokens/s";
}

/// "12 rows unreadable, 3 filtered"; "" when every row is trained or held out.
std::string rowsText(const RunStatus& s, const EpochRow& epoch)
{
    const char* filtered = s.leftOut.empty() ? " filtered" : " filtered or left out with their file";
    const RowCounts& rows = epoch.rowsKnown;
    std::string text;
    for (const auto& [count, what] : { std::pair(rows.failed, " rows unreadable"), std::pair(rows.filtered, filtered),
             std::pair(rows.duplicates, " left out as repeats"),
             std::pair(samplesLeftOut(epoch.rowsCommitted), " left out by name, as their steps were not finite"),
             std::pair(epoch.samplesExcluded + epoch.unreadExcluded, " in chunks that are left out"),
             std::pair(epoch.samplesAccepted + epoch.unreadAccepted, " in chunks that are accepted as not trained") })
        if (count > 0)
            text += (text.empty() ? "" : ", ") + formatCount(count) + what;
    return text;
}

/// What of the open epochs cannot be read, with its cause; "" when all can. Short enough for a line that is drawn over
/// itself.
std::string unreadText(const RunStatus& s)
{
    constexpr std::size_t kCauseBytes = 100;
    const auto poisoned = shownEpochs(s)->together.chunks[ChunkState::Poisoned];
    if (poisoned == 0)
        return {};
    const std::string cause = s.poisonedCause.size() > kCauseBytes
        ? std::string(cutAtCodePoint(s.poisonedCause, kCauseBytes)) + "..."
        : s.poisonedCause.text();
    return formatCount(poisoned) + (poisoned == 1 ? " chunk cannot be read: " : " chunks cannot be read: ") + cause;
}

bool isAboutFeeder(const Message& reason) { return tells(reason, { kFeederDoes }); }

std::string progressLine(const RunStatus& s)
{
    std::string text = toString(s.state) + (s.hindrance ? ": " + s.hindrance->words : "");
    if (const auto shown = shownEpochs(s)) {
        const auto& e = shown->together;
        const auto committed = e.chunks[ChunkState::Committed];
        const auto trained = e.chunks[ChunkState::Trained];
        text += "  " + shown->name() + "  chunks " + formatCount(committed + trained);
        if (e.blockCount) {
            const auto total = e.chunks.sum() - e.chunks[ChunkState::Excluded];
            text += " of " + formatCount(total) + "  "
                + bar(total ? static_cast<double>(committed + trained) / static_cast<double>(total) : 0);
        } else {
            text += ", total not known yet";
        }
    }
    text += "  step " + formatCount(s.steps) + "  loss " + fixed(s.loss, 4)
        + (s.lossIsGone                            ? " (of steps that are lost)"
                : workersOfLostLoss(s.workers) > 0 ? " (partly of steps that are lost)"
                                                   : "");
    if (isAnyAlive(s))
        text += "  " + paceText(s.tokensPerSecond);
    if (s.evaluation)
        text += "  held-out " + fixed(s.evaluation->loss, 4) + " (step " + formatCount(s.evaluation->step) + ")";
    if (const auto shown = shownEpochs(s))
        for (const auto& trouble : { rowsText(s, shown->together), unreadText(s) })
            text += trouble.empty() ? "" : "  " + trouble;
    for (const auto& reason : s.keepsEpochOpen)
        text += isAboutFeeder(reason) ? "  " + reason : "";
    return text;
}

/// @param isAsked  a person ended it, and on a full disk nobody could write that down
int exitCodeOf(const RunStatus& s, bool isAsked)
{
    if (s.state == RunState::Finished)
        return kDone;
    return s.state == RunState::Stopped || (isAsked && s.state == RunState::Interrupted) ? kCancelled : kFailed;
}

/// One line that is drawn over itself on a terminal.
class ProgressView {
public:
    explicit ProgressView(bool json)
        : json_(json)
        , terminal_(!json && outputIsTerminal())
    {
    }

    void show(const RunStatus& s)
    {
        if (std::isfinite(s.loss) && s.steps != lastSteps_) {
            losses_.push_back(s.loss);
            if (losses_.size() > kSparkWidth)
                losses_.erase(losses_.begin());
            lastSteps_ = s.steps;
        }
        const bool due = count_++ % kPlainLineEvery == 0;
        if (terminal_)
            std::cout << clearLine << progressLine(s) << "  " << sparkline(losses_) << std::flush;
        else if (due && json_)
            print(toJson(s));
        else if (due)
            std::cout << progressLine(s) << std::endl;
    }

    void end(const RunStatus& s)
    {
        if (json_)
            return print(toJson(s));
        if (terminal_)
            std::cout << clearLine;
        std::cout << progressLine(s) << "\n" << statusText(s) << std::flush;
    }

    void say(const std::string& sentence)
    {
        if (!json_)
            std::cerr << (terminal_ ? "\n" : "") << sentence << std::endl;
    }

private:
    bool json_;
    bool terminal_;
    int count_ = 0;
    std::int64_t lastSteps_ = -1;
    std::vector<double> losses_;
};

bool isOver(const RunStatus& s) { return !s.supervised && s.state != RunState::Running && s.state != RunState::New; }

/// Of committed chunks those that are in no weights; "": none is.
std::string untrainedText(std::int64_t chunks)
{
    if (chunks == 0)
        return {};
    return " (" + formatCount(chunks)
        + (chunks == 1 ? " of them is left out by name, as its steps were not finite)"
                       : " of them are left out by name, as their steps were not finite)");
}

/// ": 3 as their workers ended before a checkpoint had them", and the like; "" where the ledger does not tell.
std::string lostCausesText(const LostCauses& causes)
{
    std::string text;
    for (const Message& cause : inWords(causes))
        text += (text.empty() ? ": " : ", ") + cause;
    return text;
}

/// Of chunks whose work is lost; "": nothing of them is kept.
std::string keptOfLostText(const LostChunks::Kept& kept)
{
    if (kept.chunks == 0)
        return {};
    return "  of these kept in part: " + formatCount(kept.chunks) + (kept.chunks == 1 ? " chunk, " : " chunks, ")
        + formatCount(kept.samplesDone) + " of " + formatCount(kept.samples)
        + " samples in checkpoints; only the rest is trained again\n";
}

/// One open epoch: its chunks, those of them that are trained again, and rows that are not trained.
std::string epochText(const RunStatus& s, const EpochRow& e, const SkippedOfEpoch& skipped, const LostCauses& causes)
{
    const auto outOf = [&e](std::int64_t total) { return e.blockCount ? formatCount(total) : std::string("?"); };
    const std::int64_t wanted = e.chunks.sum() - e.chunks[ChunkState::Excluded];
    std::string text = "epoch " + std::to_string(e.epoch + 1) + (e.closedWallNs ? ", complete" : "") + ": blocks "
        + formatCount(e.visitedBlocks) + " of " + outOf(e.blockCount.value_or(0)) + " visited, chunks "
        + formatCount(e.chunks[ChunkState::Committed]) + " of " + outOf(wanted) + " committed"
        + untrainedText(skipped.chunks)
        + (e.excludedByName() > 0 ? ", " + formatCount(e.excludedByName()) + " left out" : std::string())
        + (e.toParent.chunks > 0 ? ", " + formatCount(e.toParent.chunks) + " trained by the parent run" : std::string())
        + (e.chunks[ChunkState::Accepted] > 0
                ? ", " + formatCount(e.chunks[ChunkState::Accepted]) + " accepted as not trained"
                : std::string())
        + "\n";
    if (const auto partly = e.partly.sum(); partly > 0)
        text += "  partly trained: " + formatCount(partly) + (partly == 1 ? " chunk, " : " chunks, ")
            + formatCount(e.partly.samplesDone) + " of " + formatCount(e.partly.samples)
            + " samples in checkpoints; only the rest is to come"
            + (skipped.samplesOfPartly == 0 ? "\n"
                                            : " (" + formatCount(skipped.samplesOfPartly)
                        + " more were left out by name, as their steps were not finite)\n");
    if (const auto& partly = e.partlyLeftOut; partly.chunks > 0)
        text += "  left out after a part was trained: " + formatCount(partly.chunks)
            + (partly.chunks == 1 ? " chunk, " : " chunks, ") + formatCount(partly.samplesDone) + " of "
            + formatCount(partly.samples) + " samples in checkpoints, which stay; the rest is left out\n";
    if (const auto lost = e.lost.sum(); lost > 0)
        text += "  work lost: " + formatCount(lost)
            + (lost == 1 ? " chunk was trained or begun, its weights are gone; it will be trained again"
                         : " chunks were trained or begun, their weights are gone; they will be trained again")
            + lostCausesText(causes) + "\n" + keptOfLostText(e.lost.kept);
    if (const auto rows = e.toParent.samples + e.toParent.unread; e.toParent.chunks > 0)
        text += "  trained by the parent run: " + formatCount(rows) + (rows == 1 ? " row in " : " rows in ")
            + formatCount(e.toParent.chunks) + (e.toParent.chunks == 1 ? " chunk" : " chunks")
            + " left out here; the start weights have them\n";
    if (const auto rows = rowsText(s, e); !rows.empty())
        text += "  rows that are not trained: " + rows + "\n";
    return text;
}

/// A whole sentence, perhaps a long one, that the lines below the state say with the time.
bool isAmong(const std::vector<Message>& evidence, const Message& why)
{
    return why.ends_with(".") && std::any_of(evidence.begin(), evidence.end(), [&why](const Message& line) {
        return line.find(why.text()) != std::string::npos;
    });
}

std::string readingText(const Reading& r)
{
    const std::string cached = formatCount(r.blocksFromCache) + (r.blocksFromCache == 1 ? " block" : " blocks");
    if (r.samplesFetched == 0 && r.blocksFromCache > 0)
        return "nothing read, " + cached + " from the cache";
    constexpr double kLeastRate = 0.05; // less is shown as none
    return "read " + formatCount(r.samplesFetched) + (r.samplesFetched == 1 ? " sample, " : " samples, ")
        + formatBytes(r.textBytes)
        + (r.megabytesPerSecond < kLeastRate ? "" : " at " + formatNumber(r.megabytesPerSecond, 1) + " MB/s")
        + (r.downloadedBytes > 0 ? ", downloaded " + formatBytes(r.downloadedBytes) : "")
        + (r.blocksFromCache > 0 ? ", " + cached + " from the cache" : "")
        + (r.slots > r.labels
                ? ", " + formatNumber(100 * static_cast<double>(r.slots - r.labels) / static_cast<double>(r.slots), 1)
                    + " % of the windows is padding"
                : "");
}

} // namespace

std::string statusText(const RunStatus& s)
{
    std::string text = plainLine(s.folder) + "\n" + toString(s.state) + (s.markedByHand ? ", marked by hand" : "");
    if (const auto why = endInWords(s.stopReason, s.stopDetail); !why.empty() && !isAmong(s.evidence, why))
        text += ": " + why;
    if (s.hindrance)
        text += ": " + s.hindrance->words;
    text += ", attempt " + std::to_string(s.attempt) + ", " + formatCount(s.steps)
        + (s.steps == 1 ? " step, " : " steps, ") + formatCount(s.tokens) + " tokens, "
        + formatDuration(s.activeSeconds) + " active\n";
    for (const auto& e : s.evidence)
        text += "  " + e + "\n";
    auto skipped = s.skipped;
    auto causes = s.lostCauses;
    for (const EpochRow& epoch : openEpochs(s.epochs))
        text += epochText(s, epoch, skipped[epoch.epoch], causes[epoch.epoch]);
    for (const auto& note : dataInWords(s))
        text += "  " + note + "\n";
    if (!s.poisonedCause.empty())
        text += "cannot be read: " + s.poisonedCause + " ('furrowctl chunks list' names them all)\n";
    for (const auto& reason : s.keepsEpochOpen)
        if (!s.dataWait || !isAboutFeeder(reason)) // the first lines say what it waits for
            text += (s.state == RunState::Finished ? "  left when the run ended: " : "  keeps the epoch open: ")
                + reason + "\n";
    if (s.reading)
        text += "feeder: " + (s.reading->doing.empty() || s.dataWait ? "" : s.reading->doing + "; ")
            + readingText(*s.reading) + "\n";
    for (const auto& w : s.workers)
        text += "worker " + std::to_string(w.worker) + " on " + w.deviceName + ": "
            + (w.alive && w.phase == WorkerPhase::None ? "starting"
                    : w.alive                          ? Message(toString(w.phase))
                    : w.endCause.empty()               ? "ended"
                                                       : "ended, " + w.endCause)
            + ", step " + formatCount(w.step) + ", loss " + fixed(w.loss, 4)
            + (w.lossIsGone ? " (no checkpoint has this step)" : "")
            + (w.alive ? ", " + paceText(w.tokensPerSecond) : "") + memoryText(w) + "\n";
    if (s.evaluation)
        text += (s.evaluation->text.alsoTrained ? "loss of trained text " : "held-out loss ")
            + fixed(s.evaluation->loss, 4) + (s.evaluation->text.arePairs ? " nats per pair, " : " nats per token, ")
            + ofWhat(*s.evaluation) + "\n";
    if (s.evaluation && s.evaluation->pairs.pairs > 0)
        text += "  " + inWords(s.evaluation->pairs) + "\n";
    if (s.answers)
        text += inWords(*s.answers) + "\n";
    if (s.privacy)
        text += inWords(*s.privacy) + "\n";
    return text;
}

namespace {

/// What a person who presses Ctrl+C for the first, or the second, time wants of the run.
Status endRun(const RunPaths& paths, int time, ProgressView& view)
{
    view.say(time == 1 ? "Stopping after a checkpoint. Ctrl+C again ends it now."
                       : "Ending it now. What is in no checkpoint is trained again after a resume.");
    return time == 1 ? stopRun(paths) : killRun(paths);
}

} // namespace

int watchRun(const RunPaths& paths, bool json)
{
    const StopRequest interrupt(false);
    ProgressView view(json);
    int obeyed = 0; // of the times that a person asked
    for (;;) {
        auto status = readStatus(paths);
        if (!status.ok())
            return fail(status.error(), json);
        if (isOver(status.value())) {
            view.end(status.value());
            return exitCodeOf(status.value(), obeyed > 0);
        }
        view.show(status.value());
        if (obeyed == 0)
            interrupt.waitFor(kRefresh);
        else
            std::this_thread::sleep_for(kRefresh);
        if (timesAskedToStop() <= obeyed)
            continue;
        if (++obeyed > 2) {
            view.say("The run is left as it is; 'furrowctl status' says what becomes of it.");
            return kCancelled;
        }
        if (const auto ended = endRun(paths, obeyed, view); !ended.ok())
            view.say(ended.error().message);
    }
}

} // namespace furrow::ctl
