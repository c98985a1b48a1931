#pragma once

#include <cstdint>

namespace furrow {

/// Rules by which bytes become rows (FileFormat::rules) of csv, tsv and WARC that are looked at now; other formats have
/// kRowRules. 4: bytes of csv that are no UTF-8 become U+FFFD, as in JSON; texts of WARC are read in the encoding that
/// their heads name, or their bytes tell, and bodies in chunks are joined.
inline constexpr std::int32_t kRulesOfBytes = 4;

} // namespace furrow
