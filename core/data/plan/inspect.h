#pragma once

#include "core/base/result.h"
#include "core/chat/chat_template.h"
#include "core/config/run_config.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

/// What a data set is, found before a run is made. `manifest`, `identity` and `samplesPerBlock` are frozen in run.json.
struct DataInspection {
    std::string identity; ///< hash of everything that defines the rows
    std::string manifest; ///< JSON: sources, files, sizes, hashes, columns
    std::int64_t files = 0;
    std::uint64_t bytes = 0; ///< on disk
    std::int64_t rows = 0;
    bool rowsExact = false; ///< otherwise `rows` is estimated from the beginning of the files
    std::vector<std::string> columns; ///< of the first file with columns
    std::string textColumn; ///< "" for plain text
    std::vector<std::string> textColumns; ///< of the first file with columns: all that can hold text, nested ones too
    std::vector<Message>
        reading; ///< how the files are read: dialect, encoding, text column and why; sentences for people
    std::vector<std::string> firstRows; ///< up to 5 as the model reads them, each cut to 2,000 bytes at a code point
    std::vector<std::vector<ChatStretch>> firstLearnt; ///< of each: what is learnt of a conversation
    std::string conversations; ///< their form, of the first source that has some: "messages"; "" for plain text
    std::int64_t samplesPerBlock = 0; ///< in force
    Message samplesPerBlockReason; ///< why it differs from the configuration, or ""
    std::optional<std::int64_t> blocks; ///< only when rowsExact
    std::optional<std::int64_t> chunks; ///< only when rowsExact
    bool chunksExact = true; ///< otherwise there are at least so many: chunk_bytes may end some earlier
    std::uint64_t expandedBytes
        = 0; ///< text of the largest file that is unpacked into the cache, of those counted whole
    std::vector<Message> warnings; ///< skipped files and the like, one sentence each
};

/// Opens every file, looks at its head, counts rows where that is quick (exact up to 256 MiB of text, always for
/// Parquet).
/// @param progress  0..1, may be empty; returning false cancels
/// Errors are sentences for the form: a missing file, a folder without text, a csv without the named column.
Result<DataInspection> inspectData(const RunConfig& config, const std::function<bool(double)>& progress = {});
/// Where `progress` said so. Internal to inspectData.
Error inspectionCancelled();

} // namespace furrow
