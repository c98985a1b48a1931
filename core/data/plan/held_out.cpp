// The evaluation set of a run: collected once, written durably, read by every worker.

#include "core/data/plan/held_out.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/data/block/block_layout.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/plan/each_row.h"
#include "core/data/plan/inspect.h"
#include "core/data/source/row_reader.h"
#include "core/data/plan/sample_encoder.h"

#include <algorithm>

namespace furrow {

namespace {

using namespace layout;

constexpr std::string_view kHeldOutMagic = "FURROWHO";
constexpr std::uint32_t kHeldOutVersion = 2; ///< of conversations; plain text has 1
constexpr std::uint32_t kComplete = 1;
constexpr std::uint32_t kAlsoTrained = 2;
constexpr std::uint32_t kMasked = 4;
constexpr std::uint64_t kHeldOutHeader = 8 + 4 + 4 + 8 + 8 + 8;
constexpr std::int64_t kFallbackSamples = 64;
constexpr std::uint64_t kMostShownTokens = 1 << 22; ///< of a text that is read to say how much of it counts

/// A conversation that cannot be written is stepped over, and so is what is left out for its length.
/// @return the sample, which says whether it is in
Result<SampleTokens> add(HeldOut& into, const Row& row, std::uint64_t fingerprint, const SampleEncoder& encoder)
{
    FURROW_TRY_ASSIGN(auto sample, encoder.encode(row.text, row.isConversation));
    if (!sample.problem.empty() || sample.isLeftOut)
        return sample;
    auto& text = into.text;
    if (!sample.learnt.empty())
        text.learnt.resize(text.tokens.size(), 1); // of plain text before it
    text.tokens.insert(text.tokens.end(), sample.tokens.begin(), sample.tokens.end());
    text.offsets.push_back(text.tokens.size());
    text.fingerprints.push_back(fingerprint);
    text.learnt.insert(text.learnt.end(), sample.learnt.begin(), sample.learnt.end());
    if (!text.learnt.empty())
        text.learnt.resize(text.tokens.size(), 1);
    const bool isCut = encoder.limitsLength() && sample.isTooLong;
    into.textBytes
        += isCut ? std::min(row.text.size(), encoder.tokenizer().decode(sample.tokens).size()) : row.text.size();
    return sample;
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
    const SampleEncoder& encoder;
    HeldOutLimits limits;
    HeldOut found;
    HeldOut first;
    std::uint64_t scanned = 0;

    Result<bool> take(const Row& row)
    {
        const std::uint64_t fingerprint = xxh3(row.text);
        scanned += row.text.size();
        if (isHeldOut(fingerprint, config.heldOutPercent))
            FURROW_TRY(add(found, row, fingerprint, encoder));
        else if (found.text.fingerprints.empty()
            && static_cast<std::int64_t>(first.text.fingerprints.size()) < kFallbackSamples
            && static_cast<std::int64_t>(first.text.tokens.size()) < limits.maxTokens / 16)
            FURROW_TRY(add(first, row, fingerprint, encoder));
        found.complete = static_cast<std::int64_t>(found.text.tokens.size()) < limits.maxTokens
            && scanned < limits.maxScannedBytes;
        return found.complete;
    }
};

std::string serialised(const HeldOut& set)
{
    std::string out(kHeldOutMagic);
    const bool isMasked = !set.text.learnt.empty();
    putValue(out, isMasked ? kHeldOutVersion : 1u);
    putValue(out, (set.complete ? kComplete : 0) | (set.alsoTrained ? kAlsoTrained : 0) | (isMasked ? kMasked : 0));
    putValue(out, static_cast<std::uint64_t>(set.text.fingerprints.size()));
    putValue(out, static_cast<std::uint64_t>(set.text.tokens.size()));
    putValue(out, set.textBytes);
    for (std::size_t i = 0; i < set.text.fingerprints.size(); ++i)
        putValue(out, set.text.offsets[i + 1]);
    for (const auto fingerprint : set.text.fingerprints)
        putValue(out, fingerprint);
    for (const auto token : set.text.tokens)
        putValue(out, token);
    out.append(reinterpret_cast<const char*>(set.text.learnt.data()), set.text.learnt.size());
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
        return data.error().in(sentence("the evaluation text"));
    FURROW_TRY_ASSIGN(const auto manifest, readManifest(data.value().manifest));
    FURROW_TRY_ASSIGN(const auto encoder, SampleEncoder::open(own, manifest, tokenizer));
    HeldOut set;
    set.text.offsets.push_back(0);
    std::uint64_t scanned = 0;
    const auto take = [&](const Row& row, RowPlace place) -> Result<bool> {
        set.complete
            = static_cast<std::int64_t>(set.text.tokens.size()) < limits.maxTokens && scanned < limits.maxScannedBytes;
        scanned += row.text.size();
        if (!set.complete)
            return false;
        FURROW_TRY_ASSIGN(const SampleTokens sample, add(set, row, xxh3(row.text), encoder));
        if (sample.problem.empty())
            set.left.filtered += sample.isLeftOut ? 1 : 0;
        else if (set.left.unreadable++ == 0)
            set.left.firstUnreadable = rowInWords(
                place.row, manifest.sources.front().files[static_cast<std::size_t>(place.file)], sample.problem);
        return true;
    };
    const auto walked = forEachPlacedRow(own, data.value().manifest, take, &set.left);
    if (!walked.ok())
        return walked.error().in(sentence("the evaluation text"));
    if (set.text.tokens.empty())
        return Error { ErrorCode::InvalidArgument,
            sentence("The evaluation text %1 has no sample that passes the filters of the run.", { source }) };
    completeSamples(set.text);
    return set;
}

std::vector<Message> leftInWords(const RowsLeft& left)
{
    std::vector<Message> said;
    if (left.unreadable == 1)
        said.push_back(
            sentence("1 row of the evaluation text cannot be used and is not in it: %1.", { left.firstUnreadable }));
    if (left.unreadable > 1)
        said.push_back(sentence("%1 rows of the evaluation text cannot be used and are not in it; one of them: %2.",
            { Count(left.unreadable), left.firstUnreadable }));
    if (left.filtered == 1)
        said.push_back(sentence("1 row of the evaluation text is filtered, as in training."));
    if (left.filtered > 1)
        said.push_back(
            sentence("%1 rows of the evaluation text are filtered, as in training.", { Count(left.filtered) }));
    return said;
}

Result<RowsLeft> freezeHeldOut(const RunConfig& config, const std::string& manifest, const Tokenizer& tokenizer,
    const std::filesystem::path& path, const HeldOutLimits& limits)
{
    if (!config.evalData.empty()) {
        auto set = readEvaluationText(config, config.evalData, tokenizer, limits);
        if (!set.ok())
            return set.error();
        FURROW_TRY(writeFileDurably(realFileSystem(), path, serialised(set.value())));
        return set.value().left;
    }
    FURROW_TRY_ASSIGN(const auto frozen, readManifest(manifest));
    FURROW_TRY_ASSIGN(const auto encoder, SampleEncoder::open(config, frozen, tokenizer));
    Collector collector { config, encoder, limits, {}, {}, 0 };
    collector.found.text.offsets.push_back(0);
    collector.first.text.offsets.push_back(0);
    if (config.heldOutPercent > 0) {
        FURROW_TRY(forEachRow(config, manifest, [&](const Row& row) { return collector.take(row); }));
    }
    HeldOut& set = collector.found;
    if (config.heldOutPercent > 0 && set.text.tokens.empty()) {
        const bool complete = set.complete;
        set = std::move(collector.first);
        set.complete = complete;
        set.alsoTrained = true;
    }
    FURROW_TRY(writeFileDurably(realFileSystem(), path, serialised(set)));
    return RowsLeft {};
}

Result<HeldOut> readHeldOut(const std::filesystem::path& path)
{
    const auto bytes = readFile(path, kMostHeldOutBytes);
    if (!bytes.ok() && bytes.error().code == ErrorCode::NotFound)
        return Error { ErrorCode::NotFound,
            sentence(
                "%1 is not there. 'furrowctl doctor %2' says whether it can be made again; else put it back from a copy of the run.",
                { utf8Text(path), utf8Text(path.parent_path()) }) };
    if (!bytes.ok())
        return bytes.error();
    const std::string& all = bytes.value();
    const auto corrupt = [&] {
        return Error { ErrorCode::Corrupt,
            sentence(
                "The evaluation set %1 is damaged. 'furrowctl doctor %2' says whether it can be made again; else copy the file from a backup, or start a new run.",
                { utf8Text(path), utf8Text(path.parent_path()) }) };
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
    const std::uint64_t perToken = (flags & kMasked) != 0 ? 5 : 4;
    if (samples > body / 16 || tokens > body / perToken || samples * 16 + tokens * perToken != body)
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
    if ((flags & kMasked) != 0) {
        cursor.skip(tokens * 4);
        set.text.learnt.assign(cursor.data(), cursor.data() + tokens);
    }
    if (!std::is_sorted(set.text.offsets.begin(), set.text.offsets.end()) || set.text.offsets.back() != tokens)
        return corrupt();
    completeSamples(set.text);
    return set;
}

std::int32_t evaluatedWindows(const ChunkWindows& windows, std::int64_t most)
{
    const std::int32_t count
        = most > 0 ? static_cast<std::int32_t>(std::min<std::int64_t>(most, windows.count())) : windows.count();
    for (int w = 0; w < windows.count(); ++w) // long prompts may stand before the first answer
        if (windows.learntCount(w) > 0)
            return std::max(count, w + 1);
    return count;
}

EvaluatedText evaluatedText(const std::filesystem::path& path, const RunConfig& config)
{
    RegularFileStream file(path);
    std::string head(kHeldOutHeader, '\0');
    if (!file.read(head.data(), static_cast<std::streamsize>(head.size())) || !head.starts_with(kHeldOutMagic))
        return {};
    Cursor cursor(head.data() + kHeldOutMagic.size() + 4); // behind the version
    const auto flags = cursor.take<std::uint32_t>();
    const auto samples = cursor.take<std::uint64_t>();
    const auto tokens = cursor.take<std::uint64_t>();
    const bool alsoTrained = (flags & kAlsoTrained) != 0;
    const WindowRules rules = windowRules(config);
    const std::int64_t most = config.evalBatches * config.batchSize;
    if ((flags & kMasked) == 0 && packingOf(rules, false) == Packing::EndToEnd) {
        const double labels = static_cast<double>(tokens) + static_cast<double>(samples); // the end of each is one
        const double taken = static_cast<double>(most) * static_cast<double>(config.seqLen);
        return { static_cast<std::int64_t>(most > 0 ? std::min(labels, taken) : labels), alsoTrained };
    }
    const auto set = tokens <= kMostShownTokens ? readHeldOut(path) : Result<HeldOut>(HeldOut {});
    if (!set.ok() || set.value().text.count() == 0)
        return { 0, alsoTrained, rules.pairs };
    const ChunkWindows windows(set.value().text, 0, rules, PackingOrder { .shuffle = false });
    const std::int32_t count = evaluatedWindows(windows, most);
    EvaluatedText text { 0, alsoTrained, rules.pairs };
    for (std::int32_t w = 0; w < count; ++w)
        text.labels += windows.learntCount(w);
    return text;
}

} // namespace furrow
