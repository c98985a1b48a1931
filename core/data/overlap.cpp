#include "core/data/overlap.h"

#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/data/held_out.h"
#include "core/data/inspect.h"

#include <string_view>
#include <unordered_map>

namespace furrow {

Result<TextOverlap> overlapWithTraining(const RunConfig& config, const std::string& manifest, const std::string& source, std::uint64_t mostBytes,
    const std::function<bool()>& goOn)
{
    const RunConfig own = evaluationConfig(config, source);
    auto text = inspectData(own);
    if (!text.ok())
        return text.error().in("comparing with the training data");
    std::unordered_map<std::uint64_t, std::int64_t> samples; // fingerprint to how often; erased when it was found
    TextOverlap overlap;
    std::uint64_t read = 0;
    auto walked = forEachText(own, text.value().manifest, [&](std::string_view sample) {
        ++samples[xxh3(sample)];
        ++overlap.samples;
        read += sample.size();
        return read < mostBytes && (!goOn || goOn());
    });
    read = 0;
    if (walked.ok())
        walked = forEachText(config, manifest, [&](std::string_view sample) {
            overlap.complete = read < mostBytes;
            read += sample.size();
            const auto fingerprint = xxh3(sample);
            if (const auto found = samples.find(fingerprint); found != samples.end() && !isHeldOut(fingerprint, config.heldOutPercent)) {
                overlap.seen += found->second;
                samples.erase(found);
            }
            return overlap.complete && !samples.empty() && (!goOn || goOn());
        });
    if (!walked.ok())
        return walked.error();
    if (goOn && !goOn())
        return Error { ErrorCode::Cancelled, "the comparison with the training data was interrupted" };
    return overlap;
}

std::string describe(const TextOverlap& overlap)
{
    const std::string all = formatCount(overlap.samples) + (overlap.samples == 1 ? " sample" : " samples");
    const std::string text = overlap.seen == 0 ? "none of " + all + " is trained as well"
                                               : formatCount(overlap.seen) + " of " + all + " (" + formatNumber(100 * overlap.share(), 1) + " %) are trained as well, which flatters the loss";
    return overlap.complete ? text : text + ", as far as the beginning of the training data was compared";
}

} // namespace furrow
