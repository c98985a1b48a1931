#pragma once

#include <cstdint>
#include <string>

namespace furrow {

// English, C locale: for the command line, logs and messages. The console formats with QLocale.

/// "512 B", "4.0 KiB", "17.1 GiB": binary units, one decimal.
std::string formatBytes(std::uint64_t bytes);
/// "1,412", "-12,000".
std::string formatCount(std::int64_t count);
/// The two largest units: "320 ms", "45 s", "1 min 5 s", "11 h 50 min", "3 d 4 h". Negative counts as 0.
std::string formatDuration(double seconds);
/// Fixed point with `decimals` digits: "1.8857". "nan", "inf", "-inf" for those.
std::string formatNumber(double value, int decimals);

/// 16 lower-case hex digits, as fingerprints and digests are written.
std::string formatHex(std::uint64_t value);
std::string hexOf(std::string_view bytes); ///< two digits each, in lower case

} // namespace furrow
