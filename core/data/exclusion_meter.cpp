#include "core/data/exclusion_meter.h"

#include "core/data/tokenizer/tokenizer.h"

#include <span>

namespace furrow {

ExclusionMeter::ExclusionMeter(
    std::shared_ptr<const Quarantine> list, const Tokenizer& tokenizer, ExclusionCount before)
    : list_(std::move(list))
    , tokenizer_(&tokenizer)
    , count_(std::move(before))
{
}

void ExclusionMeter::add(const ChunkText& chunk)
{
    for (std::size_t i = 0; i < chunk.flags.size(); ++i) {
        if ((chunk.flags[i] & SampleExcluded) == 0)
            continue;
        ++count_.rows;
        const auto ids = std::span(chunk.tokens).subspan(chunk.offsets[i], chunk.offsets[i + 1] - chunk.offsets[i]);
        const auto entries = list_->matching(tokenizer_->decode(ids), chunk.fingerprints[i]);
        count_.untold += entries.empty() ? 1 : 0;
        count_.met.insert(entries.begin(), entries.end());
    }
}

std::vector<std::string> ExclusionMeter::unmet(std::int64_t allBlocks) const
{
    std::vector<std::string> entries;
    if (count_.blocks < allBlocks)
        return entries;
    for (std::int32_t number = 0; number < std::ssize(list_->entries()); ++number) {
        const std::string& entry = list_->entries()[static_cast<std::size_t>(number)];
        const bool isKnown
            = count_.untold == 0 || !entry.starts_with("pattern"); // a sample is known by its fingerprint
        if (isKnown && !count_.met.contains(number))
            entries.push_back(entry);
    }
    return entries;
}

} // namespace furrow
