#include "core/data/overlap.h"

#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/sentence.h"
#include "core/data/plan/held_out.h"
#include "core/data/plan/each_row.h"
#include "core/data/source/row_reader.h"

#include <string_view>
#include <unordered_map>

namespace furrow {

Result<TextOverlap> overlapWithTraining(const RunConfig& config, const std::string& manifest,
    std::span<const std::uint64_t> fingerprints, std::uint64_t mostBytes, const std::function<bool()>& goOn,
    const std::function<bool(RowPlace)>& isTrained)
{
    std::unordered_map<std::uint64_t, std::int64_t> samples; // fingerprint to how often; erased when it was found
    for (const std::uint64_t fingerprint : fingerprints)
        ++samples[fingerprint];
    TextOverlap overlap;
    overlap.samples = static_cast<std::int64_t>(fingerprints.size());
    std::uint64_t read = 0;
    const auto walked = forEachPlacedRow(config, manifest, [&](const Row& row, RowPlace place) {
        overlap.complete = read < mostBytes;
        read += row.text.size();
        const auto fingerprint = xxh3(row.text);
        if (const auto found = samples.find(fingerprint); found != samples.end()
            && !isHeldOut(fingerprint, config.heldOutPercent) && (!isTrained || isTrained(place))) {
            overlap.seen += found->second;
            samples.erase(found);
        }
        return overlap.complete && !samples.empty() && (!goOn || goOn());
    });
    if (!walked.ok())
        return walked.error();
    if (goOn && !goOn())
        return Error { ErrorCode::Cancelled, sentence("the comparison with the training data was interrupted") };
    return overlap;
}

Message describe(const TextOverlap& overlap)
{
    const std::string all = formatCount(overlap.samples) + (overlap.samples == 1 ? " sample" : " samples");
    const std::string text = overlap.seen == 0 ? "none of " + all + " is trained as well"
                                               : formatCount(overlap.seen) + " of " + all + " ("
            + formatNumber(100 * overlap.share(), 1) + " %) are trained as well, which flatters the loss";
    return overlap.complete ? text : text + ", as far as the beginning of the training data was compared";
}

} // namespace furrow
