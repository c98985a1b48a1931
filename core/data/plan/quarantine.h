#pragma once

#include "core/base/result.h"
#include "core/config/chunk_name.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace furrow {

/// What a person left out of a data set: whole chunks, single samples, and whatever a pattern matches. Written as text,
/// one entry a line, empty lines and lines with '#' aside:
///     chunk BLOCK:COLUMN
///     sample FINGERPRINT     (16 hex digits, as `furrowctl inspect` shows it; every sample with this text)
///     pattern REGEX          (PCRE2, anywhere in the text; bytes that are not UTF-8 match nothing)
/// Const methods are thread-safe.
class Quarantine {
public:
    /// InvalidArgument names the line that is wrong.
    static Result<std::shared_ptr<const Quarantine>> parse(std::string_view text);
    ~Quarantine();
    Quarantine(const Quarantine&) = delete;
    Quarantine& operator=(const Quarantine&) = delete;

    /// An error: a pattern takes too many steps on the text, so that nobody knows whether it is meant.
    Result<bool> excludes(std::string_view text, std::uint64_t fingerprint) const;
    /// The numbers, from 0, of all entries() that mean this text. A pattern that takes too many steps on it is none.
    std::vector<std::int32_t> matching(std::string_view text, std::uint64_t fingerprint) const;
    const std::vector<ChunkName>& chunks() const { return chunks_; }
    /// The entries that decide about samples, in order, without comments: "pattern REGEX".
    const std::vector<std::string>& entries() const { return entries_; }
    /// The same as one text: equal texts exclude the same.
    std::string sampleEntries() const;

private:
    struct Pattern;
    Quarantine();
    Status add(std::string_view line);

    std::vector<ChunkName> chunks_;
    std::unordered_multimap<std::uint64_t, std::int32_t> samples_; ///< and the number of the entry
    std::vector<std::unique_ptr<Pattern>> patterns_;
    std::vector<std::string> entries_;
};

/// A quarantine list, read from a file; "" for no file. InvalidArgument names a line that is wrong, or that holds a
/// secret (whyNotKept), which it does not show.
Result<std::string> readQuarantineFile(const std::string& path);

} // namespace furrow
