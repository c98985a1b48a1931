#include "core/tracker/sample_losses.h"

#include "core/base/format.h"

#include <charconv>

namespace furrow {

std::string encodeSampleLosses(const std::vector<SampleLoss>& losses)
{
    std::string text;
    for (const SampleLoss& one : losses) {
        if (!text.empty())
            text += ' ';
        text += std::to_string(one.sample) + ':' + formatNumber(one.loss, 3);
    }
    return text;
}

std::vector<SampleLoss> decodeSampleLosses(std::string_view text)
{
    std::vector<SampleLoss> losses;
    const char* at = text.data();
    const char* end = at + text.size();
    while (at < end) {
        SampleLoss one;
        const auto sample = std::from_chars(at, end, one.sample);
        if (sample.ec != std::errc() || sample.ptr == end || *sample.ptr != ':')
            break;
        const auto loss = std::from_chars(sample.ptr + 1, end, one.loss);
        if (loss.ec != std::errc())
            break;
        losses.push_back(one);
        at = loss.ptr;
        while (at < end && *at == ' ')
            ++at;
    }
    return losses;
}

} // namespace furrow
