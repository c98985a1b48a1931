#include "app/furrowctl/audit_progress.h"

#include "app/furrowctl/terminal_output.h"
#include "app/furrowctl/watch.h"
#include "core/base/process.h"
#include "core/base/terminal.h"

#include <chrono>
#include <iostream>
#include <thread>

namespace furrow::ctl {

namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr auto kBetweenLooks = std::chrono::milliseconds(100);

} // namespace

Result<AuditReport> auditWatched(const RunPaths& paths, AuditDepth depth)
{
    const StopRequest interrupt(false);
    std::stop_source ended;
    const std::jthread listener([&](const std::stop_token& done) {
        while (!done.stop_requested() && !interrupt.waitFor(kBetweenLooks)) { }
        if (!done.stop_requested())
            ended.request_stop();
    });
    AuditWatch watch { ended.get_token(), {} };
    const bool terminal = errorsAreOnTerminal();
    if (terminal)
        watch.say = [shown = SteadyClock::time_point()](const AuditProgress& progress) mutable {
            if (SteadyClock::now() - shown < kBetweenLooks)
                return;
            shown = SteadyClock::now();
            std::cerr << clearLine << bar(progress.fraction) << "  " << progress.doing << std::flush;
        };
    auto report = auditRun(paths, depth, watch);
    if (terminal)
        std::cerr << clearLine << std::flush;
    return report;
}

} // namespace furrow::ctl
