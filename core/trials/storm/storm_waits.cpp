#include "core/trials/storm/storm_waits.h"

#include "core/telemetry/scan.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace furrow {

double secondsWithin(std::vector<TimeSpan> spans, std::int64_t fromNs, std::int64_t toNs)
{
    std::ranges::sort(spans, {}, &TimeSpan::beganNs);
    std::int64_t sum = 0;
    std::int64_t at = fromNs;
    for (const TimeSpan& one : spans) {
        const std::int64_t end = std::min(one.endedNs, toNs);
        sum += std::max<std::int64_t>(0, end - std::max(one.beganNs, at));
        at = std::max(at, end);
    }
    return static_cast<double>(sum) / 1e9;
}

void JumpedClock::jump(std::int64_t ownNs, std::int64_t forwardNs)
{
    jumps_.push_back({ ownNs, aheadNs() + forwardNs });
}

std::int64_t JumpedClock::ownNs(std::int64_t theirsNs) const
{
    std::int64_t latest = std::numeric_limits<std::int64_t>::max(); // when the next jump came
    for (std::size_t i = jumps_.size(); i-- > 0;) {
        const std::int64_t own = theirsNs - jumps_[i].aheadNs;
        if (own >= jumps_[i].ownNs)
            return std::min(own, latest);
        latest = jumps_[i].ownNs;
    }
    return std::min(theirsNs, latest); // before the first jump they agree
}

StormWait JumpedClock::own(StormWait theirs) const
{
    StormWait wait = theirs;
    wait.beganNs = ownNs(theirs.beganNs);
    wait.endedNs = ownNs(theirs.endedNs);
    const std::int64_t jumpedNs = (theirs.endedNs - theirs.beganNs) - (wait.endedNs - wait.beganNs);
    const double jumped = static_cast<double>(jumpedNs) / 1e9;
    wait.mergeSeconds = std::max(0.0, theirs.mergeSeconds - jumped);
    wait.seconds -= jumped - (theirs.mergeSeconds - wait.mergeSeconds);
    return wait;
}

StormWaits::StormWaits(std::filesystem::path telemetryFolder)
    : folder_(std::move(telemetryFolder))
{
}

std::vector<StormWait> StormWaits::take(double leastSeconds)
{
    std::vector<StormWait> found;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, failed))
        if (entry.is_regular_file(failed))
            read(entry.path(), files_[entry.path()], leastSeconds, found);
    return found;
}

void StormWaits::read(const std::filesystem::path& path, File& file, double leastSeconds, std::vector<StormWait>& found)
{
    std::error_code failed;
    const auto size = std::filesystem::file_size(path, failed);
    if (failed || size == file.offset)
        return;
    if (size < file.offset) { // cut by the storm itself
        file = { size, 0 };
        return;
    }
    std::ifstream bytes(path, std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(file.offset));
    ScannedLine line;
    for (std::string text;
        std::getline(bytes, text) && !bytes.eof();) { // a line without its end is still being written
        file.offset += text.size() + 1;
        scanLine(text, line);
        if (line.kind == LineKind::Header)
            file.lastStepNs = 0;
        if (line.kind != LineKind::Step)
            continue;
        const auto& step = line.step;
        const double merged = step.time.checkpoint / 1e3;
        const double waited = static_cast<double>(step.monotonicNs - file.lastStepNs) / 1e9 - merged
            - (step.time.backward + step.time.optimizer) / 1e3;
        if (file.lastStepNs != 0 && waited + merged > leastSeconds)
            found.push_back({ file.lastStepNs, step.monotonicNs, waited, merged });
        file.lastStepNs = step.monotonicNs;
    }
}

} // namespace furrow
