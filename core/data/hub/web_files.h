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

/// Asks the servers of a source whether its files outside of the hub are still what they were: what is in a cache is
/// not asked for again, so that nobody would see it. True: one is another one. Errors: it cannot be asked now.
/// @param told  of each that is another one (HubClient::whyChanged)
Result<bool> hasOtherStates(const DataSource& source, HubClient& asked, HubClient& told);

/// Where the source comes from and by what it is known; one sentence for people.
Message whereFrom(const DataSource& source);

} // namespace furrow
