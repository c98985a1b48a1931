#pragma once

#include "core/data/source/block_cache.h"
#include "core/data/source/data_manifest.h"
#include "core/data/hub/hub_client.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/hub/hub_proofs.h"

namespace furrow {

/// Pins the revision, lists the repository, chooses the files of the config and split and finds the format of each. No
/// file is downloaded.
Result<DataSource> describeHubSource(
    const std::string& spec, const RunConfig& config, const std::shared_ptr<HubClient>& client);

/// Looks at the beginning of each file, for one may have another encoding or dialect than the rest, and into every
/// archive: its files take its place. Parquet says all that is asked here by its name. What is no text is left out,
/// with the reason, unless nothing else is there. Of very many files the last ones are taken to be as those before
/// them, which `chosen` says.
Status findFormats(DataSource& source, const RunConfig& config, const std::shared_ptr<HubClient>& client);

/// The bytes of a file that a manifest names: from an existing Hugging Face cache of this machine, else by ranges.
/// @param pieces  asked before the hub; may be null
/// @param proofs  the other cache is believed only after its bytes were compared with the hub's SHA-256; null: they are
/// only looked at
Result<std::shared_ptr<const ByteSource>> openHubFile(const DataFile& file, const std::shared_ptr<HubClient>& client,
    std::shared_ptr<HubPieces> pieces, HubProofs* proofs = nullptr, HubReading reading = HubReading::Rows);
/// What was kept of the beginning of a distant file, by its name in the cache; "" of a file that is here.
std::string beginningName(const DataFile& file);

/// Downloads the whole file into the cache, once, without what was kept of its beginning and end. Its SHA-256 is
/// checked where the hub tells one, on the way and once more when a process opens it first: one that is wrong is put
/// aside and comes again.
Result<std::shared_ptr<const ByteSource>> downloadHubFile(
    const DataFile& file, const std::shared_ptr<HubClient>& client, BlockCache& cache, HubProofs& proofs);

/// Downloads a file outside of the hub of which the server says too little to read it by parts: what is known of it is
/// then its SHA-256.
Result<DataFile> fetchUnknown(const std::string& address, HubClient& client, BlockCache& cache);

/// Where the whole file lies in the cache; nothing when it is not there.
std::optional<std::filesystem::path> downloadedHubFile(const DataFile& file, const std::filesystem::path& cacheFolder);

/// A whole copy of the file on this disk could not be read as what it should be: compares it once more, and puts a
/// wrong one in the cache aside. True: it was wrong, and the next reading finds another.
bool doubtHubFile(const DataFile& file, BlockCache& cache, HubProofs& proofs);

} // namespace furrow
