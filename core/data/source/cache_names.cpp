#include "core/data/source/cache_names.h"

#include "core/data/source/block_cache.h"
#include "core/data/source/cache_magic.h"

#include <fstream>

namespace furrow {

namespace {

constexpr std::size_t kKeyDigits = 32; // of names of files; those of whole downloads have twice as many

constexpr bool isHex(std::string_view text)
{
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace

bool isCacheFile(std::string_view sub, std::string_view name)
{
    if (const auto bad = name.rfind(kBad); bad != std::string_view::npos) {
        if (const auto digits = name.substr(bad + std::string_view(kBad).size());
            digits.size() != kBadDigits || !isHex(digits))
            return false;
        name = name.substr(0, bad);
    }
    const auto key = name.substr(0, name.find('.'));
    if ((key.size() != kKeyDigits && key.size() != 2 * kKeyDigits) || !isHex(key))
        return false;
    const auto ending = name.substr(key.size());
    if (sub == kExpanded)
        return ending == kExpandedEnding || ending == kOutdatedEnding;
    if (sub != kDownloads)
        return ending == (sub == kBlocks ? ".block" : ".duplicates");
    return ending.ends_with(".download") || ending.ends_with(".part") || ending.ends_with(".part.sums")
        || ending.ends_with(".range") || ending.ends_with(".download.sha256");
}

std::string memberOf(std::string temporaryName)
{
    if (temporaryName.ends_with(kGoing))
        temporaryName.resize(temporaryName.size() - std::string_view(kGoing).size());
    const auto digits = temporaryName.find('-');
    const bool isMembers = digits == kMemberDigits && isHex(std::string_view(temporaryName).substr(0, digits))
        && digits + 1 < temporaryName.size()
        && temporaryName.find_first_not_of("0123456789", digits + 1) == std::string::npos;
    return isMembers ? temporaryName.substr(0, digits) : std::string();
}

bool isMemberMark(std::string_view stem)
{
    const auto key = stem.substr(0, stem.find('.'));
    return isHex(key)
        && (stem.size() == kMemberDigits
            || (key.size() < stem.size() && (key.size() == kKeyDigits || key.size() == 2 * kKeyDigits)));
}

bool isBlock(const std::filesystem::path& path)
{
    std::string start(kBlockMagic.size(), '\0');
    std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
    return start == kBlockMagic;
}

} // namespace furrow
