#pragma once

#include "core/config/run_config.h"
#include "core/data/source/source_look.h"
#include "core/run/folder/run_paths.h"
#include "core/run/start/resume_effect.h"

#include <cstdint>
#include <map>
#include <vector>

namespace furrow {

/// What an attempt would find of the local files of the data. It ends when one changed, or leaves out what is not
/// prepared of it, as the setting bad_files says.
struct DataOutlook {
    LocalFilesLook look;
    std::map<std::int64_t, std::int64_t> rowsLeftOut; ///< block that would be prepared without rows of files that
                                                      ///< changed -> how many; 0: nothing of it would be trained
    bool isAllKnown = true; ///< every row is in a block; else nobody knows without reading what else would be left out
};

/// Reads the files as far as the feeder of the attempt does when it begins. May take half a minute.
Result<DataOutlook> lookAtData(const RunPaths& paths);

/// What the attempt would end with at once: files changed, and the settings do not leave them out.
Status refuseChangedData(const DataOutlook& data, const RunConfig& wanted);

/// What an attempt would leave out by name of the epochs that are open.
struct LeftOutOfData {
    std::int64_t chunks = 0;
    std::int64_t rows = 0; ///< of blocks whose other rows are trained
    bool operator==(const LeftOutOfData&) const = default;
};
LeftOutOfData leftOutOf(const DataOutlook& data, const RunConfig& wanted, const ResumeEffect& effect);

/// What a person should know of the data before the attempt: what would be left out, waited for, or could not be seen.
std::vector<Message> dataNotes(const DataOutlook& data, const RunConfig& wanted, const ResumeEffect& effect);

} // namespace furrow
