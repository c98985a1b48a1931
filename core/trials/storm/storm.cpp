// How this works: a list of deadly acts is drawn first (every fail point among them), other faults are mixed in
// between. The loop keeps the run going by plain resumes, waits for a little progress, and does the next act. Whoever
// needs more than a resume is a "manual step".

#include "core/trials/storm/storm.h"

#include "core/base/clock.h"
#include "core/base/fail_point.h"
#include "core/base/file_system.h"
#include "core/base/format.h"
#include "core/run/audit/run_audit.h"
#include "core/trials/storm/counting_check.h"
#include "core/trials/storm/storm_acts.h"
#include "core/trials/storm/storm_waits.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <thread>

namespace furrow {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kStuckAfter = std::chrono::seconds(120);
constexpr auto kProgressPatience = std::chrono::seconds(20);
constexpr int kResumeTries = 3;
constexpr int kKillsBetweenAudits = 20;
constexpr const char* kFailPointPrefix = "at ";
constexpr double kLongestWaitSeconds
    = 2; ///< of a worker for a fault that is not its own, beside what the fault itself holds
constexpr double kWaitsFromSeconds = 0.05;
constexpr std::int64_t kJustThenNs = 1'000'000'000;

bool isOfFiles(FindingKind kind)
{
    constexpr FindingKind kKinds[] { FindingKind::Manifest, FindingKind::Weights, FindingKind::Parts,
        FindingKind::Older, FindingKind::Block, FindingKind::Download, FindingKind::Source, FindingKind::Frozen,
        FindingKind::Unreadable };
    return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

class Storm {
public:
    Storm(StormRun run, const StormOptions& options, const StormLog& log, const std::function<bool()>& goOn)
        : run_(std::move(run))
        , options_(options)
        , log_(log)
        , goOn_(goOn)
        , random_(options.seed)
        , waits_(run_.paths().telemetryFolder())
    {
        report_.run = run_.paths().folder();
    }

    Result<StormReport> blow()
    {
        const auto began = Clock::now();
        for (const auto& name : plan()) {
            if (!goOn_()) {
                run_.killEverything();
                return Error { ErrorCode::Cancelled,
                    "The storm was ended; its run is in " + report_.run.string() + "." };
            }
            perform(name);
            for (auto mixed = options_.only.empty() ? random_.below(3) : 0; mixed > 0; --mixed)
                perform(draw(false));
        }
        visitMissedPoints();
        calm();
        verify();
        report_.resumes = run_.resumes();
        report_.askedSteps = run_.askedSteps();
        report_.seconds = std::chrono::duration<double>(Clock::now() - began).count();
        return report_;
    }

private:
    std::string draw(bool kills)
    {
        std::uint64_t sum = 0;
        for (const auto& act : stormActs())
            sum += act.kills == kills ? static_cast<std::uint64_t>(act.weight) : 0;
        auto at = random_.below(sum);
        for (const auto& act : stormActs()) {
            if (act.kills != kills)
                continue;
            if (at < static_cast<std::uint64_t>(act.weight))
                return act.name;
            at -= static_cast<std::uint64_t>(act.weight);
        }
        return stormActs().front().name;
    }

    /// `kills` deadly acts, every fail point among them when at least half of them are other acts; in a long storm
    /// every other act too.
    std::vector<std::string> plan()
    {
        const auto kills = static_cast<std::size_t>(options_.kills);
        if (!options_.only.empty()) {
            std::vector<std::string> chosen;
            while (chosen.size() < kills)
                chosen.push_back(options_.only[chosen.size() % options_.only.size()]);
            return chosen;
        }
        std::vector<std::string> points;
        for (const auto at : permutation(static_cast<std::uint32_t>(kFailPoints.size()), options_.seed))
            points.push_back(kFailPointPrefix + std::string(kFailPoints[at]));
        points.resize(std::min(points.size(), kills / 2));
        std::vector<std::string> acts = points;
        while (acts.size() < kills)
            acts.push_back(draw(true));
        if (kills >= stormActs().size())
            for (const auto& act : stormActs())
                acts.push_back(act.name);
        std::vector<std::string> shuffled;
        for (const auto at : permutation(static_cast<std::uint32_t>(acts.size()), options_.seed + 1))
            shuffled.push_back(acts[at]);
        // Blocks become known once, at the very start.
        const auto first
            = std::find(shuffled.begin(), shuffled.end(), std::string(kFailPointPrefix) + "feeder.planned");
        if (first != shuffled.end())
            std::rotate(shuffled.begin(), first, first + 1);
        return shuffled;
    }

    void tell(const std::string& text) { log_(text); }

    void problem(const std::string& text)
    {
        report_.problems.push_back(text);
        tell("PROBLEM: " + text);
    }

    void perform(const std::string& name)
    {
        if (!name.starts_with(kFailPointPrefix)) {
            keepGoing();
            waitForProgress();
        }
        judgeWaits();
        const auto beganNs = systemClock().monotonicNs();
        StormDeed deed;
        if (name.starts_with(kFailPointPrefix)) {
            const auto point = name.substr(std::string(kFailPointPrefix).size());
            bool reached = false;
            deed = performFailPoint(run_, random_, point, run_.faultFile("died-at-" + point), reached);
            report_.failPoints[point] = reached;
        } else {
            const auto act = std::find_if(
                stormActs().begin(), stormActs().end(), [&](const StormAct& one) { return one.name == name; });
            deed = act->perform(run_, random_);
            ++report_.acts[name];
        }
        report_.kills += deed.kills;
        tell(deed.text);
        if (!deed.problem.empty())
            problem(deed.problem);
        judgeSteps();
        done_.push_back({ name, beganNs, deed.holdsSeconds });
        if (report_.kills >= auditedAtKills_ + kKillsBetweenAudits) {
            auditedAtKills_ = report_.kills;
            auditNow();
        }
    }

    void judgeSteps()
    {
        const auto undue = run_.takeUndueStep();
        if (undue.empty())
            return;
        ++report_.manualSteps;
        problem("A person was asked although nothing called for one: " + undue);
    }

    /// Waits belong to the act that was newest when they began, or began just then; and are none while that one or
    /// another fault lasted.
    void judgeWaits()
    {
        for (const auto& theirs : waits_.take(kWaitsFromSeconds)) {
            const StormWait wait = run_.clock().own(theirs);
            const auto act = std::find_if(done_.rbegin(), done_.rend(),
                [&](const Done& one) { return one.beganNs <= wait.beganNs + kJustThenNs; });
            if (act == done_.rend() || !act->holdsSeconds)
                continue;
            auto& longest = report_.waits[act->name];
            longest.seconds = std::max(longest.seconds, wait.seconds);
            longest.mergeSeconds = std::max(longest.mergeSeconds, wait.mergeSeconds);
            const double held = secondsWithin(faults(), std::min(wait.beganNs, act->beganNs), wait.endedNs);
            const double beyond = wait.seconds + wait.mergeSeconds - held;
            report_.longestWait = std::max(report_.longestWait, beyond);
            if (beyond > kLongestWaitSeconds)
                problem("After " + act->name + " a worker that it did not hit waited " + formatNumber(wait.seconds, 2)
                    + " s, and " + formatNumber(wait.mergeSeconds, 2) + " s at merges; faults lasted "
                    + formatNumber(held, 2) + " s of that.");
        }
    }

    std::vector<TimeSpan> faults() const
    {
        std::vector<TimeSpan> found;
        for (const Done& one : done_)
            if (one.holdsSeconds)
                found.push_back({ one.beganNs, one.beganNs + static_cast<std::int64_t>(*one.holdsSeconds * 1e9) });
        return found;
    }

    /// A point that nobody came to in its time (there was nothing to remove just then, say) gets two more chances.
    void visitMissedPoints()
    {
        for (int chance = 0; chance < 2; ++chance)
            for (const auto& [point, reached] : report_.failPoints)
                if (!reached && goOn_())
                    perform(kFailPointPrefix + point);
    }

    /// The run is held by a supervisor when this returns.
    void keepGoing()
    {
        for (int attempt = 0; !run_.isHeld(); ++attempt) {
            const auto state = run_.state();
            const auto status = run_.resume();
            if (status.ok())
                return;
            if (attempt == kResumeTries) {
                ++report_.manualSteps;
                problem("A resume of the run (" + toString(state) + ") was not enough: " + status.error().message);
                return;
            }
            std::this_thread::sleep_for(std::chrono::seconds(1));
        }
    }

    /// Chunks are moving again, or the attempt is over. A run that stands still although nothing hinders it is a fault.
    void waitForProgress()
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(random_.below(700)));
        const auto before = run_.events();
        const auto wanted = before + 1 + static_cast<std::int64_t>(random_.below(60));
        const auto until = Clock::now() + kProgressPatience;
        while (run_.isHeld() && run_.events() < wanted && Clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const auto newest = run_.events();
        if (newest != lastEvents_) {
            lastEvents_ = newest;
            lastProgress_ = Clock::now();
        } else if (run_.isHeld() && Clock::now() - lastProgress_ > kStuckAfter) {
            ++report_.manualSteps;
            problem("Nothing happened in the run for two minutes; it was killed.");
            run_.killEverything();
            lastProgress_ = Clock::now();
        }
    }

    void auditNow()
    {
        auto report = audit(run_.paths().tracker());
        if (!report.ok())
            problem(report.error().message);
        else if (!report.value().isClean())
            problem(auditText(report.value()));
        checkMomentum();
    }

    void checkMomentum()
    {
        auto verdict = checkOuterMomentum(run_.paths());
        if (!verdict.ok())
            return problem(verdict.error().message);
        report_.outerSteps += verdict.value().steps;
        if (!verdict.value().firstFault.empty())
            problem(verdict.value().firstFault);
    }

    /// No faults any more: the run must finish by itself.
    void calm()
    {
        tell("the storm is over; the run may finish");
        run_.setLastEpoch();
        run_.jumpClocks(0, 0);
        lastProgress_ = Clock::now();
        for (int attempt = 0; run_.state() != RunState::Finished; ++attempt) {
            if (attempt > kResumeTries) {
                ++report_.manualSteps;
                problem("The run does not finish: it is " + toString(run_.state()) + ".");
                run_.killEverything();
                return;
            }
            keepGoing();
            while (run_.isHeld())
                waitForProgress();
        }
        judgeWaits();
        judgeSteps();
    }

    void verify()
    {
        checkMomentum();
        auto whole = auditRun(run_.paths(), AuditDepth::Files);
        if (!whole.ok()) {
            problem(whole.error().message);
            return;
        }
        auto& proof = whole.value();
        report_.integrity = proof.integrityOk ? "ok" : proof.integrity;
        for (const auto& epoch : proof.epochs) {
            ++report_.epochs;
            report_.chunks += epoch.committed;
            report_.duplicated += epoch.duplicated;
            report_.missing += epoch.missing + epoch.remaining + epoch.poisoned;
            report_.chunksLost += epoch.chunksLost;
            if (epoch.digest != proof.epochs.front().digest)
                problem("epoch " + std::to_string(epoch.epoch + 1) + " has another digest of samples than epoch 1");
        }
        judgeFiles(proof);
        proof.inspections.clear(); // what is left is the ledger's
        if (!proof.isClean())
            problem(auditText(proof));
        auto weights = checkCounting(run_.paths());
        if (!weights.ok()) {
            problem(weights.error().message);
            return;
        }
        report_.windows = weights.value().windows;
        report_.models = weights.value().models;
        report_.duplicated += weights.value().duplicated;
        report_.missing += weights.value().missing;
        if (!weights.value().isExact())
            problem(weights.value().firstFault);
        if (report_.models != 1)
            problem("the run is finished and its weights are in " + std::to_string(report_.models) + " pieces");
        for (const auto& [point, reached] : report_.failPoints)
            if (!reached)
                problem("no process came to the fail point " + point);
    }

    /// What is wrong or missing and was not damaged by the storm itself.
    void judgeFiles(const AuditReport& report)
    {
        for (const auto& one : report.inspections)
            tell(toString(one.what) + ": " + one.how);
        for (const auto& finding : report.findings)
            if (isOfFiles(finding.kind) && !run_.wasDamaged(finding.text))
                problem(toString(finding.kind) + ": " + finding.text);
        if (report.findingsLeftOut > 0)
            problem("the audit left out " + std::to_string(report.findingsLeftOut) + " findings");
    }

    StormRun run_;
    const StormOptions& options_;
    const StormLog& log_;
    const std::function<bool()>& goOn_;
    Random random_;
    StormReport report_;
    struct Done {
        std::string name;
        std::int64_t beganNs = 0;
        std::optional<double> holdsSeconds;
    };
    std::vector<Done> done_; ///< acts, oldest first
    StormWaits waits_;
    int auditedAtKills_ = 0;
    std::int64_t lastEvents_ = -1;
    Clock::time_point lastProgress_ = Clock::now();
};

} // namespace

bool StormReport::passed() const
{
    return problems.empty() && duplicated == 0 && missing == 0 && manualSteps == 0 && integrity == "ok";
}

Result<StormReport> runStorm(const StormOptions& options, const StormLog& log, const std::function<bool()>& goOn)
{
    if (options.kills < 0 || options.kills > 100'000)
        return Error { ErrorCode::InvalidArgument,
            "kills is " + std::to_string(options.kills) + ", allowed is 0 to 100,000." };
    for (const auto& name : options.only)
        if (std::none_of(stormActs().begin(), stormActs().end(), [&](const StormAct& act) { return act.name == name; }))
            return Error { ErrorCode::InvalidArgument,
                "There is no fault '" + name + "'; 'furrowctl storm --list' names them." };
    const auto folder
        = std::filesystem::absolute(options.folder) / ("storm-" + std::to_string(options.seed) + "-" + randomHex(6));
    auto run = StormRun::make(folder, options.seed);
    if (!run.ok()) {
        (void)realFileSystem().removeAll(folder);
        return run.error();
    }
    log("a run of the counting model in " + run.value().paths().folder().string());
    auto report = Storm(std::move(run).value(), options, log, goOn).blow();
    if (report.ok() && report.value().passed() && !options.keep)
        (void)realFileSystem().removeAll(folder);
    return report;
}

nlohmann::json toJson(const StormReport& r)
{
    auto waits = nlohmann::json::object();
    for (const auto& [act, longest] : r.waits)
        waits[act] = { { "seconds", longest.seconds }, { "merge_seconds", longest.mergeSeconds } };
    return { { "passed", r.passed() }, { "run", r.run.string() }, { "kills", r.kills }, { "resumes", r.resumes },
        { "acts", r.acts }, { "fail_points", r.failPoints }, { "duplicated", r.duplicated }, { "missing", r.missing },
        { "manual_steps", r.manualSteps }, { "asked_steps", r.askedSteps }, { "integrity_check", r.integrity },
        { "epochs", r.epochs }, { "chunks", r.chunks }, { "windows", r.windows }, { "models", r.models },
        { "work_lost", { { "chunks", r.chunksLost } } }, { "problems", r.problems }, { "waits", waits },
        { "longest_wait_seconds", r.longestWait }, { "outer_steps", r.outerSteps }, { "seconds", r.seconds } };
}

std::string stormText(const StormReport& r)
{
    const auto number = [](auto value) { return std::to_string(value); };
    std::string text = number(r.kills) + " processes killed, " + number(r.resumes) + " resumes, "
        + number(static_cast<int>(r.seconds)) + " s\n";
    for (const auto& [name, count] : r.acts) {
        text += "  " + name + " " + number(count);
        if (const auto wait = r.waits.find(name); wait != r.waits.end())
            text += "; workers that it did not hit waited " + formatNumber(wait->second.seconds, 2) + " s at most, and "
                + formatNumber(wait->second.mergeSeconds, 2) + " s at merges and checkpoints";
        text += "\n";
    }
    text += "  died at "
        + number(std::count_if(r.failPoints.begin(), r.failPoints.end(), [](const auto& p) { return p.second; }))
        + " of " + number(r.failPoints.size()) + " fail points\n";
    text += number(r.epochs) + " epochs, " + number(r.chunks) + " chunks committed, " + number(r.chunksLost)
        + " trainings lost and done again\n";
    text += "in the weights: " + number(r.windows) + " windows, duplicated " + number(r.duplicated) + ", missing "
        + number(r.missing) + "; manual steps " + number(r.manualSteps) + "; asked steps " + number(r.askedSteps)
        + "; integrity_check " + r.integrity + "\n";
    text += "longest wait of a worker for a fault that is not its own, beyond the time of the fault itself: "
        + formatNumber(r.longestWait, 2) + " s; " + number(r.outerSteps) + " outer steps of DiLoCo compared\n";
    for (const auto& problem : r.problems)
        text += "PROBLEM: " + problem + "\n";
    return text + (r.passed() ? "Exactly once.\n" : "NOT in order; the run is kept in " + r.run.string() + "\n");
}

std::string listStorm()
{
    std::string text = "Acts:\n";
    for (const auto& act : stormActs())
        text += std::string("  ") + act.name + ": " + act.help + "\n";
    text += "Fail points (a process dies there as by kill -9):\n";
    for (const auto point : kFailPoints)
        text += "  " + std::string(point) + "\n";
    return text;
}

} // namespace furrow
