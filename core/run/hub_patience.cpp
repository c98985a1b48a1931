#include "core/run/hub_patience.h"

#include "core/data/hub/hub_client.h"
#include "core/tracker/feeder_ledger.h"

#include <algorithm>
#include <cmath>

namespace furrow {

Status waitForTheHubAloud(const RunPaths& paths, const StopRequest& stop)
{
    // Its own connection: blocks are read ahead on another thread than the feeder's. The client lets one request wait at a time.
    auto opened = FeederLedger::open(paths.tracker());
    if (!opened.ok())
        return opened.error();
    auto ledger = std::make_shared<FeederLedger>(std::move(opened).value());
    RetryPolicy retry;
    retry.wait = [ledger, &stop](double seconds, const std::string& why) {
        for (double left = seconds; left > 0 && !stop.requested(); left -= 1) {
            (void)ledger->heartbeat(thisProcess(), "waiting for the hub: " + why + "; trying again in " + std::to_string(std::lround(std::ceil(left))) + " s");
            stop.waitFor(std::chrono::milliseconds(std::lround(1000 * std::min(left, 1.0))));
        }
        return !stop.requested();
    };
    setSharedHubClient(std::make_shared<HubClient>(HubSettings::fromEnvironment(), curlTransport(), retry));
    return {};
}

} // namespace furrow
