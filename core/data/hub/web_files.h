#pragma once

#include "core/base/message.h"
#include "core/data/source/data_manifest.h"
#include "core/data/hub/hub_client.h"

namespace furrow {

/// A file outside of the hub as its server has it now. What can be read by parts, and whose state has a name (ETag,
/// Last-Modified), is not downloaded; all else is, into the cache that KeepHubPieces names, and is known by its
/// SHA-256.
Result<DataSource> describeWebSource(
    const std::string& spec, const RunConfig& config, const std::shared_ptr<HubClient>& client);

/// Where the source comes from and by what it is known; one sentence for people.
Message whereFrom(const DataSource& source);

} // namespace furrow
