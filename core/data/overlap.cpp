#include "core/data/overlap.h"

#include "core/base/hash.h"
#include "core/data/held_out.h"
#include "core/data/inspect.h"

#include <string_view>
#include <unordered_map>

namespace furrow {

Result<TextOverlap> overlapWithTraining(const RunConfig& config, const std::string& manifest, const std::string& textFile, const std::function<bool()>& goOn)
{
    RunConfig own = config;
    own.data = { textFile };
    own.startSample = own.maxSamples = 0;
    auto text = inspectData(own);
    if (!text.ok())
        return text.error().in("comparing with the training data");
    std::unordered_map<std::uint64_t, std::int64_t> samples; // fingerprint to how often; erased when it was found
    TextOverlap overlap;
    auto walked = forEachText(own, text.value().manifest, [&](std::string_view sample) {
        ++samples[xxh3(sample)];
        ++overlap.samples;
        return !goOn || goOn();
    });
    if (walked.ok())
        walked = forEachText(config, manifest, [&](std::string_view sample) {
            const auto fingerprint = xxh3(sample);
            if (const auto found = samples.find(fingerprint); found != samples.end() && !isHeldOut(fingerprint, config.heldOutPercent)) {
                overlap.seen += found->second;
                samples.erase(found);
            }
            return !samples.empty() && (!goOn || goOn());
        });
    if (!walked.ok())
        return walked.error();
    if (goOn && !goOn())
        return Error { ErrorCode::Cancelled, "the comparison with the training data was interrupted" };
    return overlap;
}

} // namespace furrow
