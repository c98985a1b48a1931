#include "core/data/hub/fetch_alone.h"

#include "core/base/sentence.h"
#include "core/data/hub/hub_pieces.h"

namespace furrow {

Result<FileLock> fetchAlone(BlockCache& cache, const HubFile& file, const std::string& what, const HubClient& client)
{
    constexpr double kQuickSeconds = 0.02;
    constexpr double kSlowSeconds = 1;
    double waited = 0;
    for (;;) {
        auto claim = cache.claim(contentName(file) + "." + what);
        if (claim.ok() || claim.error().code != ErrorCode::Busy)
            return claim;
        const double seconds = waited < kSlowSeconds ? kQuickSeconds : kSlowSeconds / 2;
        waited += seconds;
        if (!client.wait(seconds, sentence("another run fetches %1", { file.path })))
            return Error { ErrorCode::Cancelled, sentence("Reading %1 was cancelled.", { file.path }) };
    }
}

} // namespace furrow
