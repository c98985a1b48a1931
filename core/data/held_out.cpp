// The evaluation set of a run: collected once, written durably, read by every worker.

#include "core/data/held_out.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/data/block_layout.h"
#include "core/data/inspect.h"
#include "core/data/tokenizer/tokenizer.h"

#include <algorithm>

namespace furrow {

namespace {

using namespace layout;

constexpr std::string_view kHeldOutMagic = "FURROWHO";
constexpr std::uint32_t kHeldOutVersion = 1;
constexpr std::uint32_t kComplete = 1;
constexpr std::uint32_t kAlsoTrained = 2;
constexpr std::uint64_t kHeldOutHeader = 8 + 4 + 4 + 8 + 8 + 8;
constexpr std::int64_t kFallbackSamples = 64;

Status add(HeldOut& into, std::string_view text, std::uint64_t fingerprint, const Tokenizer& tokenizer)
{
    FURROW_TRY(tokenizer.encode(text, into.text.tokens));
    into.text.offsets.push_back(into.text.tokens.size());
    into.text.fingerprints.push_back(fingerprint);
    into.textBytes += text.size();
    return {};
}

/// What the file does not hold: no sample is left out, none says where it came from.
void completeSamples(ChunkText& text)
{
    text.flags.assign(text.fingerprints.size(), 0);
    text.files.assign(text.fingerprints.size(), -1);
    text.rows.assign(text.fingerprints.size(), -1);
}

/// The settings under which an evaluation text is read: cut and filtered as the run's data, but all of it.
RunConfig evaluationConfig(const RunConfig& config, const std::string& source)
{
    RunConfig own = config;
    own.data = { source };
    own.dataWeights.clear();
    own.exclude.clear();
    own.startSample = own.maxSamples = 0;
    own.fraction = 1;
    own.heldOutPercent = 0;
    return own;
}

/// Samples for evaluation and, for the case that there are none, the first of the others.
struct Collector {
    const RunConfig& config;
    const Tokenizer& tokenizer;
    HeldOutLimits limits;
    HeldOut found;
    HeldOut first;
    std::uint64_t scanned = 0;

    Result<bool> take(std::string_view text)
    {
        Status added;
        const std::uint64_t fingerprint = xxh3(text);
        scanned += text.size();
        if (isHeldOut(fingerprint, config.heldOutPercent))
            added = add(found, text, fingerprint, tokenizer);
        else if (found.text.fingerprints.empty()
            && static_cast<std::int64_t>(first.text.fingerprints.size()) < kFallbackSamples
            && static_cast<std::int64_t>(first.text.tokens.size()) < limits.maxTokens / 16)
            added = add(first, text, fingerprint, tokenizer);
        if (!added.ok())
            return added.error();
        found.complete = static_cast<std::int64_t>(found.text.tokens.size()) < limits.maxTokens
            && scanned < limits.maxScannedBytes;
        return found.complete;
    }
};

std::string serialised(const HeldOut& set)
{
    std::string out(kHeldOutMagic);
    putValue(out, kHeldOutVersion);
    putValue(out, (set.complete ? kComplete : 0) | (set.alsoTrained ? kAlsoTrained : 0));
    putValue(out, static_cast<std::uint64_t>(set.text.fingerprints.size()));
    putValue(out, static_cast<std::uint64_t>(set.text.tokens.size()));
    putValue(out, set.textBytes);
    for (std::size_t i = 0; i < set.text.fingerprints.size(); ++i)
        putValue(out, set.text.offsets[i + 1]);
    for (const auto fingerprint : set.text.fingerprints)
        putValue(out, fingerprint);
    for (const auto token : set.text.tokens)
        putValue(out, token);
    putValue(out, xxh3(out));
    return out;
}

} // namespace

HeldOutLimits heldOutLimits(const RunConfig& config)
{
    constexpr std::int64_t kEnough = 1 << 16;
    HeldOutLimits limits;
    const double evaluation = static_cast<double>(config.evalBatches) * static_cast<double>(config.batchSize)
        * static_cast<double>(config.seqLen);
    if (evaluation < static_cast<double>(limits.maxTokens))
        limits.maxTokens = std::max(kEnough, static_cast<std::int64_t>(evaluation));
    return limits;
}

bool isHeldOut(std::uint64_t fingerprint, double heldOutPercent)
{
    // 53 bits of the fingerprint as a number in [0, 100)
    return static_cast<double>(fingerprint >> 11) * (100.0 / 9007199254740992.0) < heldOutPercent;
}

Result<HeldOut> readEvaluationText(
    const RunConfig& config, const std::string& source, const Tokenizer& tokenizer, const HeldOutLimits& limits)
{
    const RunConfig own = evaluationConfig(config, source);
    auto data = inspectData(own);
    if (!data.ok())
        return data.error().in("the evaluation text");
    HeldOut set;
    set.text.offsets.push_back(0);
    const auto walked = forEachText(own, data.value().manifest, [&](std::string_view text) -> Result<bool> {
        set.complete = static_cast<std::int64_t>(set.text.tokens.size()) < limits.maxTokens
            && set.textBytes < limits.maxScannedBytes;
        if (set.complete)
            FURROW_TRY(add(set, text, xxh3(text), tokenizer));
        return set.complete;
    });
    if (!walked.ok())
        return walked.error().in("the evaluation text");
    if (set.text.tokens.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("The evaluation text %1 has no sample that passes the filters of the run.", { source }) };
    completeSamples(set.text);
    return set;
}

Status freezeHeldOut(const RunConfig& config, const std::string& manifest, const Tokenizer& tokenizer,
    const std::filesystem::path& path, const HeldOutLimits& limits)
{
    if (!config.evalData.empty()) {
        auto set = readEvaluationText(config, config.evalData, tokenizer, limits);
        return set.ok() ? writeFileDurably(realFileSystem(), path, serialised(set.value())) : Status(set.error());
    }
    Collector collector { config, tokenizer, limits, {}, {}, 0 };
    collector.found.text.offsets.push_back(0);
    collector.first.text.offsets.push_back(0);
    if (config.heldOutPercent > 0) {
        FURROW_TRY(forEachText(config, manifest, [&](std::string_view text) { return collector.take(text); }));
    }
    HeldOut& set = collector.found;
    if (config.heldOutPercent > 0 && set.text.tokens.empty()) {
        const bool complete = set.complete;
        set = std::move(collector.first);
        set.complete = complete;
        set.alsoTrained = true;
    }
    return writeFileDurably(realFileSystem(), path, serialised(set));
}

Result<HeldOut> readHeldOut(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(auto bytes, readFile(path, kMostHeldOutBytes));
    const std::string& all = bytes;
    const auto corrupt = [&] {
        return Error { ErrorCode::Corrupt,
            sentence("The evaluation set %1 is damaged. Start the run anew, or copy the file from a backup.",
                { utf8Text(path) }) };
    };
    if (all.size() < kHeldOutHeader + 8 || !all.starts_with(kHeldOutMagic))
        return corrupt();
    Cursor cursor(all.data() + kHeldOutMagic.size());
    const auto version = cursor.take<std::uint32_t>();
    if (version > kHeldOutVersion)
        return Error { ErrorCode::InvalidArgument,
            sentence("The evaluation set %1 has version %2. Use the Furrow that wrote it.",
                { utf8Text(path), std::to_string(version) }) };
    const auto flags = cursor.take<std::uint32_t>();
    const auto samples = cursor.take<std::uint64_t>();
    const auto tokens = cursor.take<std::uint64_t>();
    HeldOut set;
    set.textBytes = cursor.take<std::uint64_t>();
    const std::uint64_t body = all.size() - kHeldOutHeader - 8;
    if (samples > body / 16 || tokens > body / 4 || samples * 16 + tokens * 4 != body)
        return corrupt();
    if (Cursor(all.data() + all.size() - 8).take<std::uint64_t>()
        != xxh3(std::string_view(all).substr(0, all.size() - 8)))
        return corrupt();
    set.complete = (flags & kComplete) != 0;
    set.alsoTrained = (flags & kAlsoTrained) != 0;
    set.text.offsets.push_back(0);
    for (std::uint64_t i = 0; i < samples; ++i)
        set.text.offsets.push_back(cursor.take<std::uint64_t>());
    for (std::uint64_t i = 0; i < samples; ++i)
        set.text.fingerprints.push_back(cursor.take<std::uint64_t>());
    set.text.tokens.resize(tokens);
    if (tokens > 0)
        std::memcpy(set.text.tokens.data(), cursor.data(), tokens * 4);
    if (!std::is_sorted(set.text.offsets.begin(), set.text.offsets.end()) || set.text.offsets.back() != tokens)
        return corrupt();
    completeSamples(set.text);
    return set;
}

std::int64_t evaluatedLabels(const std::filesystem::path& path, const RunConfig& config)
{
    RegularFileStream file(path);
    std::string head(kHeldOutHeader, '\0');
    if (!file.read(head.data(), static_cast<std::streamsize>(head.size())) || !head.starts_with(kHeldOutMagic))
        return 0;
    Cursor cursor(head.data() + kHeldOutMagic.size() + 4 + 4); // behind version and flags
    const auto samples = cursor.take<std::uint64_t>();
    const auto tokens = cursor.take<std::uint64_t>();
    const double labels = static_cast<double>(tokens) + static_cast<double>(samples); // the end of each sample is one
    const double most = static_cast<double>(config.evalBatches) * static_cast<double>(config.batchSize)
        * static_cast<double>(config.seqLen);
    return static_cast<std::int64_t>(std::min(labels, most));
}

} // namespace furrow
