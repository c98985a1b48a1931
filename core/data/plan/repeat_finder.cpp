#include "core/data/plan/repeat_finder.h"

#include "core/base/sentence.h"

#include <algorithm>
#include <cstring>

namespace furrow {

namespace {

constexpr std::size_t kFingerprintBytes = 7; ///< the highest byte is the part
constexpr std::size_t kRowBytes = 5;
constexpr std::size_t kSpilledBytes = kFingerprintBytes + kRowBytes;
constexpr std::size_t kFewestEntries = 16; ///< of a part

} // namespace

RepeatFinder::RepeatFinder(std::shared_ptr<BlockCache> cache, std::size_t memoryBytes)
    : cache_(std::move(cache))
    , capacity_(std::max(kParts * kFewestEntries, memoryBytes / sizeof(Entry)))
{
}

Status RepeatFinder::add(std::uint64_t fingerprint, std::uint64_t row)
{
    const std::size_t part = fingerprint >> 56;
    auto& waiting = waiting_[part];
    if (waiting.empty())
        waiting.reserve(capacity_ / kParts);
    waiting.push_back({ fingerprint, row << 1 });
    mostHeld_ = std::max(mostHeld_, ++waitingEntries_);
    return waiting.size() < capacity_ / kParts ? Status {} : spill(part);
}

/// Leaves one entry a text, that of its first row here; the others are repeats whatever comes before or after.
void RepeatFinder::combine(std::vector<Entry>& entries)
{
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.fingerprint != b.fingerprint ? a.fingerprint < b.fingerprint : a.row < b.row;
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& entry = entries[i];
        if (kept == 0 || entries[kept - 1].fingerprint != entry.fingerprint) {
            entries[kept++] = entry;
            continue;
        }
        Entry& first = entries[kept - 1];
        first.row |= entry.row & 1;
        const std::uint64_t row = entry.row >> 1;
        if (row == first.row >> 1)
            continue;
        first.row |= 1;
        if (bits_.size() <= row / 64)
            bits_.resize(row / 64 + 1);
        bits_[row / 64] |= std::uint64_t { 1 } << (row % 64);
    }
    entries.resize(kept);
}

Status RepeatFinder::spill(std::size_t part)
{
    auto& waiting = waiting_[part];
    waitingEntries_ -= waiting.size();
    combine(waiting);
    if (!spill_) {
        FURROW_TRY_ASSIGN(auto file, cache_->create());
        spill_.emplace(std::move(file));
    }
    pieces_[part].push_back({ spill_->sizeBytes(), waiting.size() });
    std::string bytes(waiting.size() * kSpilledBytes, '\0');
    char* out = bytes.data();
    for (const Entry& entry : waiting) {
        std::memcpy(out, &entry.fingerprint, kFingerprintBytes);
        std::memcpy(out + kFingerprintBytes, &entry.row, kRowBytes);
        out += kSpilledBytes;
    }
    waiting.clear();
    spilledBytes_ += bytes.size();
    return spill_->append(bytes.data(), bytes.size());
}

Result<bool> RepeatFinder::load(const RandomAccessFile& file, std::uint64_t prefix, int bits)
{
    held_.clear();
    const std::uint64_t part = prefix >> (bits - 8);
    std::string bytes;
    for (const Piece& piece : pieces_[part]) {
        bytes.resize(piece.entries * kSpilledBytes);
        FURROW_TRY(file.readAt(piece.offset, std::as_writable_bytes(std::span<char>(bytes))));
        for (const char* at = bytes.data(); at < bytes.data() + bytes.size(); at += kSpilledBytes) {
            Entry entry { part << 56, 0 };
            std::memcpy(&entry.fingerprint, at, kFingerprintBytes);
            std::memcpy(&entry.row, at + kFingerprintBytes, kRowBytes);
            if (entry.fingerprint >> (64 - bits) != prefix)
                continue;
            if (held_.size() == capacity_) {
                combine(held_);
                if (held_.size() > capacity_ / 2)
                    return false;
            }
            held_.push_back(entry);
            mostHeld_ = std::max(mostHeld_, held_.size());
        }
    }
    combine(held_);
    return true;
}

Status RepeatFinder::sort(const RandomAccessFile& file, std::uint64_t prefix, int bits,
    const std::function<Status(std::uint64_t, std::uint64_t)>& onText)
{
    FURROW_TRY_ASSIGN(auto fits, load(file, prefix, bits));
    if (!fits) {
        const Status lower = sort(file, prefix << 1, bits + 1, onText);
        return lower.ok() ? sort(file, prefix << 1 | 1, bits + 1, onText) : lower;
    }
    for (const Entry& entry : held_)
        if ((entry.row & 1) != 0)
            FURROW_TRY(onText(entry.fingerprint, entry.row >> 1));
    return {};
}

Status RepeatFinder::finish(
    const std::function<Status(std::uint64_t, std::uint64_t)>& onText, const std::function<bool()>& goOn)
{
    for (std::size_t part = 0; part < kParts; ++part) {
        if (!waiting_[part].empty())
            FURROW_TRY(spill(part));
        std::vector<Entry>().swap(waiting_[part]);
    }
    if (!spill_)
        return {};
    FURROW_TRY(sortParts(onText, goOn));
    std::vector<Entry>().swap(held_);
    spill_.reset();
    return {};
}

Status RepeatFinder::sortParts(
    const std::function<Status(std::uint64_t, std::uint64_t)>& onText, const std::function<bool()>& goOn)
{
    FURROW_TRY_ASSIGN(auto file, RandomAccessFile::open(spill_->path()));
    held_.reserve(capacity_);
    for (std::size_t part = 0; part < kParts; ++part) {
        if (goOn && !goOn())
            return Error { ErrorCode::Cancelled, sentence("Looking for duplicates was cancelled.") };
        FURROW_TRY(sort(file, part, 8, onText));
    }
    return {};
}

std::vector<std::uint64_t> RepeatFinder::repeatBits(std::uint64_t rows)
{
    bits_.resize((rows + 63) / 64);
    return std::move(bits_);
}

} // namespace furrow
