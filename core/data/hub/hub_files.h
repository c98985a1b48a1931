#pragma once

#include "core/data/block_cache.h"
#include "core/data/data_manifest.h"
#include "core/data/hub/hub_client.h"
#include "core/data/hub/hub_pieces.h"

namespace furrow {

inline bool isHubPath(std::string_view path)
{
    return path.starts_with("hf://");
}

/// Pins the revision, lists the repository, chooses the files of the config and split and finds their format from the
/// first of each kind. No file is downloaded.
Result<DataSource> describeHubSource(const std::string& spec, const RunConfig& config, const std::shared_ptr<HubClient>& client);

/// The bytes of a file that a manifest names: from an existing Hugging Face cache of this machine, else by ranges.
/// @param pieces  asked before the hub; may be null
Result<std::shared_ptr<const ByteSource>> openHubFile(const DataFile& file, const std::shared_ptr<HubClient>& client, std::shared_ptr<HubPieces> pieces);

/// Downloads the whole file into the cache, once, without what was kept of its beginning and end; its SHA-256 is checked where the hub tells one.
Result<std::shared_ptr<const ByteSource>> downloadHubFile(const DataFile& file, const std::shared_ptr<HubClient>& client, BlockCache& cache);

} // namespace furrow
