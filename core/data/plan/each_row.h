#pragma once

#include "core/base/message.h"
#include "core/base/result.h"
#include "core/config/run_config.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace furrow {

struct Row;
struct RowPlace;

/// Walks the rows that pass the filters, in source order, one after the other, without a cache: for character
/// vocabularies and tokenizer training. Stops early when `onRow` returns false, or with its error.
/// @param manifest  of inspectData
Status forEachRow(
    const RunConfig& config, const std::string& manifest, const std::function<Result<bool>(const Row&)>& onRow);

/// Rows that a walk stepped over.
struct RowsLeft {
    std::int64_t unreadable = 0;
    Message firstUnreadable; ///< as rowInWords()
    std::int64_t filtered = 0; ///< or left out by name
};

/// The same, with the place of each row.
/// @param left  counts the others; may be null
Status forEachPlacedRow(const RunConfig& config, const std::string& manifest,
    const std::function<Result<bool>(const Row&, RowPlace)>& onRow, RowsLeft* left = nullptr);

/// As forEachRow, with the texts as the model reads them: conversations written by their chat template. Those that it
/// refuses are stepped over.
Status forEachText(
    const RunConfig& config, const std::string& manifest, const std::function<Result<bool>(std::string_view)>& onText);

/// As forEachPlacedRow, for those who ask doubtWhatCame() of its error themselves.
Status readEachRow(const RunConfig& config, const std::string& manifest,
    const std::function<Result<bool>(const Row&, RowPlace)>& onRow, RowsLeft* left = nullptr);

/// What came of distant files was wrong, perhaps, or what was kept of it: it is asked for anew.
/// @return whether there is any
bool doubtWhatCame(const Error& error);

} // namespace furrow
