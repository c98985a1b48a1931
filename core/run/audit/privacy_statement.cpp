#include "core/run/audit/privacy_statement.h"

#include "core/base/sentence.h"
#include "core/config/gaussian_privacy.h"
#include "core/config/option_term.h"
#include "core/config/poisson_privacy.h"
#include "core/config/schema.h"
#include "core/run/status/privacy_spent.h"

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr int kDigits = 3;

std::string textOf(const RunConfig& config, const char* key) { return settingText(config, *findSetting(key)); }

Message unitOf(const RunConfig& config, std::int64_t units)
{
    return config.privacyUnit == PrivacyUnit::Sample
        ? sentence("The unit is a sample: a row of the data, in a window of its own. There are %1.", { Count(units) })
        : sentence("The unit is a window: %1 tokens, as they were trained together. There are %2.",
              { Count(config.seqLen), Count(units) });
}

/// Why nothing can be stated; "": it can.
Message whyNot(const RunConfig& config, const Participations& counted, const AuditReport& report)
{
    if (!report.isClean())
        return sentence(
            "No epsilon is stated: something is wrong with the ledger, and so nothing proves how often a unit took part.");
    const auto isRebuilt = [](const AuditFinding& finding) { return finding.kind == FindingKind::Rebuilt; };
    if (counted.isHistoryLost || std::any_of(report.findings.begin(), report.findings.end(), isRebuilt))
        return sentence(kNoEpsilonOfMadeAnew);
    if (config.targetDelta == 0)
        return sentence("No epsilon is stated: %1 is 0. A resume may set it.", { settingTerm("target_delta") });
    return {};
}

std::vector<Message> outsideOf(const RunConfig& config)
{
    std::vector<Message> outside {
        sentence(
            "What else a run shows: losses, norms, samples that stand out, texts. No noise hides them. The guarantee is one of the weights."),
        sentence(
            "The held-out text, which is not trained: evaluations show it, and so does who stops or chooses weights by them."),
        sentence(
            "What the data decided before training: a tokenizer made from it, which rows were filtered, left out as repeats or held out, and how many there are."),
        sentence("Who is behind a unit: rows that tell of one person are so many units."),
        sentence(
            "Who knows the seed: the noise follows from it (%1, kept in run.json), by a generator that is not one of cryptography. Give away weights, not the run, and keep the seed.",
            { settingTerm("seed") }),
        sentence("The rounding of numbers: noise of float32 is not quite that of the theory."),
    };
    if (!config.initFrom.empty())
        outside.push_back(
            sentence("What the weights were made from that the run began with (%1).", { settingTerm("init_from") }));
    return outside;
}

/// The same training of theory, which other programs account for: as long, with steps of the same size on average.
PoissonSteps drawnSteps(const RunConfig& config, const PrivacyStatement& statement)
{
    const std::int64_t ranks = config.parallel == ParallelMode::Data ? std::max<std::int64_t>(1, config.workers) : 1;
    const auto units = static_cast<double>(std::max<std::int64_t>(1, statement.units));
    const double rate = std::min(1.0, static_cast<double>(config.batchSize * config.gradAccum * ranks) / units);
    const double steps = std::ceil(static_cast<double>(statement.participations) / rate);
    return { rate, static_cast<std::int64_t>(steps), config.noiseMultiplier };
}

} // namespace

PrivacyStatement privacyStatement(const RunConfig& config, const Participations& counted, const AuditReport& report)
{
    PrivacyStatement statement;
    statement.delta = config.targetDelta;
    statement.participations = counted.all;
    statement.keptParticipations = counted.kept;
    statement.lostTrainings = counted.lostTrainings;
    statement.units = config.privacyUnit == PrivacyUnit::Sample ? counted.samples : counted.windows;
    statement.outside = outsideOf(config);
    if (auto why = whyNot(config, counted, report); !why.empty()) {
        statement.lines.push_back(std::move(why));
        return statement;
    }
    const GaussianLoss loss = lossOf(counted.all, config.noiseMultiplier);
    statement.epsilon = epsilonOf(loss, config.targetDelta);
    statement.epsilonReplaced = epsilonOf({ 2 * loss.mu }, config.targetDelta);
    statement.epsilonKept = epsilonOf(lossOf(counted.kept, config.noiseMultiplier), config.targetDelta);
    statement.lines = {
        sentence("Epsilon is %1 at delta %2, for one unit that is left out.",
            { Real(*statement.epsilon, kDigits), textOf(config, "target_delta") }),
        unitOf(config, statement.units),
        sentence(
            "Two runs are neighbours when they differ by one unit that counts as zero in every step. For one unit in place of another epsilon is %1.",
            { Real(*statement.epsilonReplaced, kDigits) }),
        sentence(
            "Each step adds normal noise of %1 times the norm that the gradient of a unit may have (%2). Any unit took part %3 times at most, by the history of claims; no chance of taking part is assumed.",
            { textOf(config, "noise_multiplier"), textOf(config, "clip_per_sample"), Count(counted.all) }),
    };
    if (counted.lostTrainings > 0)
        statement.lines.push_back(sentence(
            "That counts %1 trainings of chunks whose weights are lost, for somebody may have seen them. Of the surviving weights alone: %2 times at most, epsilon %3.",
            { Count(counted.lostTrainings), Count(counted.kept), Real(*statement.epsilonKept, kDigits) }));
    const PoissonSteps drawn = drawnSteps(config, statement);
    statement.epsilonOfDrawing = poissonEpsilon(drawn, config.targetDelta);
    statement.lines.push_back(sentence(
        "For comparison with other programs only: had each of %1 steps drawn its units by chance (Poisson, %2 % each), epsilon would be %3. Steps here take units in turn, so that does not hold.",
        { Count(drawn.steps), Real(100 * drawn.rate, kDigits), Real(*statement.epsilonOfDrawing, kDigits) }));
    return statement;
}

void withhold(PrivacyStatement& statement)
{
    if (!statement.epsilon)
        return;
    statement.epsilon = statement.epsilonReplaced = statement.epsilonKept = statement.epsilonOfDrawing = std::nullopt;
    statement.lines = { sentence("No epsilon is stated: the files are not what the ledger speaks of.") };
}

} // namespace furrow
