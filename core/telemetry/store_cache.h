#pragma once

#include "core/base/result.h"
#include "core/telemetry/column_store.h"

#include <filesystem>
#include <string>
#include <type_traits>

namespace furrow {

/// Version of the cache file. Another one is not read: the cache is made anew from the telemetry.
inline constexpr std::uint32_t kStoreCacheVersion = 10;

/// Collects the bytes of a cache file. The layout follows the code and the machine: a cache is never shared.
class CacheWriter {
public:
    void bytes(const void* data, std::size_t size) { out_.append(static_cast<const char*>(data), size); }
    void number(std::uint64_t value) { bytes(&value, sizeof value); }
    void real(double value) { bytes(&value, sizeof value); }
    void text(const std::string& value)
    {
        number(value.size());
        out_ += value;
    }
    template <typename T> void column(const Column<T>& c)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        number(c.size());
        c.forEachPiece([this](const T* values, std::size_t stored, std::size_t, bool isConstant) {
            number(isConstant);
            bytes(values, stored * sizeof(T));
        });
    }
    void column(const SteadyColumn& c)
    {
        number(c.full().size());
        for (const SteadyColumn::Segment& segment : c.full()) {
            number(segment.first);
            number(segment.width);
            number(segment.slope);
            bytes(segment.off.get(), segment.width * SteadyColumn::kSegment);
        }
        column(c.tail());
    }
    template <typename T> void metric(const MetricColumn<T>& m)
    {
        column(m.values);
        column(m.nonFinite);
        pyramid(m.pyramid, m.values);
    }
    template <typename Values> void pyramid(const Pyramid& p, const Values&)
    {
        for (int i = 0; i < Pyramid::kLevels; ++i)
            column(p.level(i));
    }
    /// Adds magic, version and checksum; replaces the file in one step.
    Status writeTo(const std::filesystem::path& path) const;

private:
    std::string out_;
};

/// Reads what CacheWriter wrote. Damage never crashes: it turns good() false and everything read after is 0.
class CacheReader {
public:
    static Result<CacheReader> open(const std::filesystem::path& path);

    bool good() const { return good_; }
    /// Refuses what was read when it cannot be of ours.
    void require(bool holds) { good_ = good_ && holds; }
    std::uint64_t number() { return plain<std::uint64_t>(); }
    double real() { return plain<double>(); }
    std::string text();
    template <typename T> void column(Column<T>& into)
    {
        const auto size = number();
        std::uint64_t done = 0;
        while (good_ && done < size) {
            const auto count = std::min<std::uint64_t>(Column<T>::kSegment, size - done);
            const bool isConstant = number() != 0;
            const auto stored = isConstant ? 1 : count;
            if (!has(stored * sizeof(T)) || (isConstant && count != Column<T>::kSegment)) {
                good_ = false;
                return;
            }
            piece_.resize(stored * sizeof(T));
            std::memcpy(piece_.data(), data_.data() + at_, piece_.size());
            into.appendPiece(reinterpret_cast<const T*>(piece_.data()), count, isConstant);
            at_ += piece_.size();
            done += count;
        }
    }
    void column(SteadyColumn& into);
    template <typename T> void metric(MetricColumn<T>& into)
    {
        column(into.values);
        column(into.nonFinite);
        pyramid(into.pyramid, into.values);
    }
    /// @param values  that it is over
    template <typename Values> void pyramid(Pyramid& into, const Values& values)
    {
        for (int i = 0; i < Pyramid::kLevels; ++i)
            column(into.level(i));
        if (good_)
            into.resume(values);
    }

private:
    template <typename T> T plain()
    {
        T value {};
        if (!has(sizeof value)) {
            good_ = false;
            return value;
        }
        std::memcpy(&value, data_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    bool has(std::uint64_t size) const { return good_ && size <= data_.size() - at_; }

    std::string data_;
    std::vector<char> piece_;
    std::size_t at_ = 0;
    bool good_ = true;
};

void saveSource(CacheWriter& out, const ColumnStore::Source& source);
void loadSource(CacheReader& in, ColumnStore::Source& source);

} // namespace furrow
