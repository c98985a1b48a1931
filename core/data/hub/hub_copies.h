#pragma once

#include "core/data/hub/hub_client.h"
#include "core/data/hub/hub_proofs.h"

#include <filesystem>
#include <string>

namespace furrow {

/// A file of a manifest as the hub's list has it.
HubFile hubFile(const DataFile& file, const HubAddress& address);

/// What the whole file is called in the cache.
std::string downloadName(const DataFile& file, const HubAddress& address);

/// The file in the cache that Hugging Face's own programs keep, when it is there with the right size.
std::filesystem::path inHuggingFaceCache(HubKind kind, const HubAddress& address, std::uint64_t sizeBytes);

/// The same as far as it may be read. @param proofs  see openHubFile
std::filesystem::path usableInHuggingFaceCache(
    HubKind kind, const DataFile& file, const HubAddress& address, HubProofs* proofs);

} // namespace furrow
