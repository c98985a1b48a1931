#include "core/telemetry/store_cache.h"

#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/link_refusal.h"
#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <cmath>
#include <fstream>

namespace furrow {
namespace {

struct CacheHead {
    char magic[8] = { 'f', 'u', 'r', 'r', 'o', 'w', 'c', 'c' };
    std::uint32_t version = kStoreCacheVersion;
    std::uint32_t stretchSize = sizeof(Stretch); ///< another build with other columns does not fit
    std::uint64_t payloadBytes = 0;
    std::uint64_t payloadHash = 0;
};

constexpr std::uint64_t kMaxCacheBytes = 8ull << 30;

// Columns of a stretch, in file order; one list for both directions.
template <typename Io, typename S> void visitColumns(Io& io, S& s)
{
    io.column(s.step);
    io.column(s.globalStep);
    io.column(s.millis);
    io.column(s.tokens);
    io.column(s.samples);
    io.column(s.chunks);
    io.metric(s.loss);
    io.metric(s.learningRate);
    io.metric(s.gradientNorm);
    io.metric(s.tokensPerSecond);
    io.metric(s.memoryMiB);
    io.metric(s.stepTokens);
    io.metric(s.parameterNorm);
    io.metric(s.margin);
    io.metric(s.preferred);
    io.metric(s.waitData);
    io.metric(s.forward);
    io.metric(s.backward);
    io.metric(s.optimizer);
    io.metric(s.checkpoint);
    io.pyramid(s.stepSeconds, StepSeconds { s.stepTokens.values, s.tokensPerSecond.values });
}

/// Over just so many values: readers of a stretch rely on it.
bool fits(const Pyramid& pyramid, std::size_t size)
{
    std::size_t nodes = size;
    for (int i = 0; i < Pyramid::kLevels; ++i)
        if (pyramid.level(i).size() != (nodes /= Pyramid::kFan))
            return false;
    return true;
}

/// As long as the steps, with a pyramid over just these values.
template <typename T> bool fits(const MetricColumn<T>& m, std::size_t size)
{
    bool inside = fits(m.pyramid, size);
    m.nonFinite.forEach(0, m.nonFinite.size(), [&](std::uint32_t index) { inside = inside && index < size; });
    return inside && m.values.size() == size;
}

bool fits(const Stretch& s)
{
    const std::size_t size = s.size();
    for (const auto* steady : { &s.globalStep, &s.millis, &s.tokens, &s.samples })
        if (steady->size() != size)
            return false;
    for (const auto* metric : { &s.loss, &s.learningRate, &s.gradientNorm, &s.tokensPerSecond, &s.memoryMiB,
             &s.stepTokens, &s.parameterNorm })
        if (!fits(*metric, size))
            return false;
    for (const auto* metric : { &s.margin, &s.preferred })
        if (!fits(*metric, s.hasPairs() ? size : 0))
            return false;
    for (const auto* time : { &s.waitData, &s.forward, &s.backward, &s.optimizer, &s.checkpoint })
        if (!fits(*time, size))
            return false;
    std::uint32_t next = 0;
    bool ascend = fits(s.stepSeconds, size) && s.ranks > 0;
    s.chunks.forEach(0, s.chunks.size(), [&](const ChunkStart& start) {
        ascend = ascend && start.index >= next && start.index < size;
        next = start.index + 1;
    });
    return ascend && std::isfinite(s.wallStart) && std::isfinite(s.tokensBase) && std::isfinite(s.samplesBase);
}

/// Evaluations, events and samples are few: they are kept as lines, each with its place before it.
template <typename Points> void savePoints(CacheWriter& out, const Points& points)
{
    out.number(points.size());
    for (const auto& p : points) {
        out.number(static_cast<std::uint64_t>(p.worker));
        out.real(p.wall);
        if constexpr (requires { p.attempt; })
            out.number(static_cast<std::uint64_t>(p.attempt));
        std::string line;
        encodeLine(TelemetryRecord(p.record), line);
        line.pop_back();
        out.text(line);
    }
}

template <typename Points, typename Record>
void loadPoints(CacheReader& in, Points& points, Record ScannedLine::* record)
{
    const auto count = in.number();
    ScannedLine line;
    for (std::uint64_t i = 0; i < count && in.good(); ++i) {
        typename Points::value_type p;
        p.worker = static_cast<int>(in.number());
        p.wall = in.real();
        if constexpr (requires { p.attempt; })
            p.attempt = static_cast<std::int64_t>(in.number());
        scanLine(in.text(), line);
        in.require(line.kind != LineKind::Bad && std::isfinite(p.wall));
        p.record = line.*record;
        points.push_back(std::move(p));
    }
}

} // namespace

Status CacheWriter::writeTo(const std::filesystem::path& path) const
{
    CacheHead head;
    head.payloadBytes = out_.size();
    head.payloadHash = xxh3(out_);
    auto temporary = path;
    temporary += ".part";
    FURROW_TRY(refuseLink(path.parent_path())); // the folder of the run may come from anybody
    FURROW_TRY_ASSIGN(auto out, RegularFile::open(temporary, RegularFile::At::Nothing));
    const std::string_view first(reinterpret_cast<const char*>(&head), sizeof head);
    if (out.write(first) + out.write(out_) != first.size() + out_.size()) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        return Error { ErrorCode::Io,
            sentence("%1 cannot be written: the run opens without its cache", { utf8Text(path) }) };
    }
    return realFileSystem().replace(temporary, path);
}

Result<CacheReader> CacheReader::open(const std::filesystem::path& path)
{
    CacheReader reader;
    CacheHead head;
    const CacheHead wanted;
    RegularFileStream in(path);
    in.read(reinterpret_cast<char*>(&head), sizeof head);
    if (!in || std::memcmp(head.magic, wanted.magic, sizeof head.magic) != 0 || head.version != wanted.version
        || head.stretchSize != wanted.stretchSize || head.payloadBytes > kMaxCacheBytes)
        return Error { ErrorCode::NotFound, sentence("%1 is not a cache of this version", { utf8Text(path) }) };
    std::error_code error;
    if (std::filesystem::file_size(path, error) != head.payloadBytes + sizeof head || error)
        return Error { ErrorCode::Corrupt, sentence("%1 is cut", { utf8Text(path) }) };
    reader.data_.resize(head.payloadBytes);
    in.read(reader.data_.data(), static_cast<std::streamsize>(reader.data_.size()));
    if (!in || xxh3(reader.data_) != head.payloadHash)
        return Error { ErrorCode::Corrupt, sentence("%1: checksum differs", { utf8Text(path) }) };
    return reader;
}

std::string CacheReader::text()
{
    const auto size = number();
    if (!has(size)) {
        good_ = false;
        return {};
    }
    std::string value(data_, at_, size);
    at_ += size;
    return value;
}

void CacheReader::column(SteadyColumn& into)
{
    const auto count = number();
    std::vector<SteadyColumn::Segment> full;
    for (std::uint64_t i = 0; i < count && good_; ++i) {
        SteadyColumn::Segment& segment = full.emplace_back();
        segment.first = static_cast<std::uint32_t>(number());
        segment.width = static_cast<std::uint32_t>(number());
        segment.slope = number();
        const std::size_t size = segment.width * SteadyColumn::kSegment;
        const bool isWidth = segment.width <= 2 || segment.width == 4; // what SteadyColumn reads, no byte more
        if (!isWidth || !has(size)) {
            good_ = false;
            return;
        }
        std::shared_ptr<char[]> off(new char[size]);
        std::memcpy(off.get(), data_.data() + at_, size);
        segment.off = std::move(off);
        at_ += size;
    }
    Column<std::uint32_t> tail;
    column(tail);
    good_ = good_ && tail.size() < SteadyColumn::kSegment;
    if (good_)
        into = SteadyColumn::restored(std::move(full), std::move(tail));
}

void saveSource(CacheWriter& out, const ColumnStore::Source& source)
{
    std::string line;
    encodeLine(source.header, line);
    line.pop_back();
    out.text(line);
    out.number(source.hasHeader);
    out.number(static_cast<std::uint64_t>(source.lastMonotonicNs));
    out.number(static_cast<std::uint64_t>(source.lastStep));
    out.number(static_cast<std::uint64_t>(source.stretch));
}

void loadSource(CacheReader& in, ColumnStore::Source& source)
{
    ScannedLine line;
    scanLine(in.text(), line);
    source.header = line.header;
    source.hasHeader = in.number() != 0;
    source.lastMonotonicNs = static_cast<std::int64_t>(in.number());
    source.lastStep = static_cast<std::int64_t>(in.number());
    source.stretch = static_cast<std::int64_t>(in.number());
}

void ColumnStore::save(CacheWriter& out) const
{
    out.number(stretches_.size());
    for (const auto& live : stretches_) {
        const Stretch& s = live.columns;
        for (const auto n :
            { std::int64_t(s.worker), std::int64_t(s.rank), std::int64_t(s.ranks), std::int64_t(s.beginsProcess),
                s.attempt, s.epoch, s.firstStep, s.lastStep, s.firstOwnTokens, s.firstGlobalStep })
            out.number(static_cast<std::uint64_t>(n));
        for (const auto d : { s.wallStart, s.tokensBase, s.samplesBase, live.lastParameterNorm })
            out.real(d);
        visitColumns(out, s);
    }
    out.number(totals_.size());
    for (const auto& [worker, total] : totals_) {
        for (const auto n : { std::int64_t(worker), total.steps, total.tokens, total.samples })
            out.number(static_cast<std::uint64_t>(n));
    }
    for (const auto n : { now_.steps, now_.tokens, now_.samples })
        out.number(static_cast<std::uint64_t>(n));
    savePoints(out, evals_);
    savePoints(out, events_);
    savePoints(out, samples_);
    savePoints(out, claimWaits_);
    savePoints(out, drifts_);
    savePoints(out, privacy_);
    out.column(gpu_);
    for (const auto n : { counts_.lines, counts_.steps, counts_.bad, counts_.duplicates, counts_.unknown,
             counts_.orphans, counts_.shortened })
        out.number(static_cast<std::uint64_t>(n));
    out.text(counts_.problem);
}

bool ColumnStore::load(CacheReader& in)
{
    constexpr std::int64_t kLargest = std::int64_t { 1 } << 60; // as telemetry/scan takes them
    const auto integer = [&in] {
        const auto value = static_cast<std::int64_t>(in.number());
        in.require(value >= -kLargest && value <= kLargest);
        return value;
    };
    const auto count = in.number();
    for (std::uint64_t i = 0; i < count && in.good(); ++i) {
        Live& live = stretches_.emplace_back();
        Stretch& s = live.columns;
        s.worker = static_cast<int>(integer());
        s.rank = static_cast<int>(integer());
        s.ranks = static_cast<int>(integer());
        s.beginsProcess = integer() != 0;
        for (auto* n : { &s.attempt, &s.epoch, &s.firstStep, &s.lastStep, &s.firstOwnTokens, &s.firstGlobalStep })
            *n = integer();
        for (auto* d : { &s.wallStart, &s.tokensBase, &s.samplesBase, &live.lastParameterNorm })
            *d = in.real();
        visitColumns(in, s);
        in.require(in.good() && fits(s));
    }
    const auto workers = in.number();
    for (std::uint64_t i = 0; i < workers && in.good(); ++i) {
        const auto worker = static_cast<int>(integer());
        for (auto* n : { &totals_[worker].steps, &totals_[worker].tokens, &totals_[worker].samples })
            *n = integer();
    }
    for (auto* n : { &now_.steps, &now_.tokens, &now_.samples })
        *n = integer();
    loadPoints(in, evals_, &ScannedLine::eval);
    loadPoints(in, events_, &ScannedLine::event);
    loadPoints(in, samples_, &ScannedLine::sample);
    loadPoints(in, claimWaits_, &ScannedLine::claims);
    loadPoints(in, drifts_, &ScannedLine::drift);
    loadPoints(in, privacy_, &ScannedLine::privacy);
    in.column(gpu_);
    for (auto* n : { &counts_.lines, &counts_.steps, &counts_.bad, &counts_.duplicates, &counts_.unknown,
             &counts_.orphans, &counts_.shortened })
        *n = integer();
    counts_.problem = in.text();
    return in.good();
}

} // namespace furrow
