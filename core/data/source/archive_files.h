#pragma once

#include "core/data/source/data_manifest.h"

#include <optional>

namespace furrow {

/// The name says that this is an archive: .zip .tar .tar.gz .tgz .tar.zst ...
bool hasArchiveExtension(std::string_view name);

/// The files with text inside a local zip or tar archive, in natural order; in that of the archive when it is
/// compressed as a whole. Those without the name of a data file, links and sparse files are left out by name, hidden
/// ones without a word; what is damaged, encrypted or packed in an unknown way, or stands there twice, is an error that
/// names it.
struct ArchiveFiles {
    std::vector<DataFile> files;
    std::vector<std::string> skipped; ///< one sentence each
};
/// A WebDataset is one file: the archive itself.
/// @param archive  path, size and hash of it
/// @return nothing when it is no archive
Result<std::optional<ArchiveFiles>> describeArchive(
    const DataFile& archive, const std::shared_ptr<const ByteSource>& source, const RunConfig& config);

} // namespace furrow
