#include "core/run/supervise/other_content.h"

#include "core/base/told.h"
#include "core/data/hub/hub_files.h"
#include "core/data/source/distant_source.h"

#include <string>

namespace furrow {

namespace {

/// @param isCompared  by this process, as a whole
bool isProven(const DataFile& file, bool isCompared, const std::filesystem::path& cacheFolder)
{
    if (isCompared || !isDistantPath(file.path))
        return isCompared || file.wholeHash; // the stamp of a local file was looked at when the block was made
    const auto whole = isComparable(file) ? downloadedHubFile(file, cacheFolder) : std::nullopt;
    return whole && HubProofs().compare(file, *whole).ok();
}

} // namespace

Error causeOfOtherContent(
    const BlockManager& blocks, const PlannedBlock& block, const std::filesystem::path& cacheFolder, const Error& error)
{
    const std::string number = std::to_string(block.block);
    const auto compared = blocks.comparedFiles().compared;
    std::string first;
    std::int32_t place = -1;
    for (const DataSource& source : blocks.manifest().sources)
        for (const DataFile& file : source.files) {
            ++place;
            if (!blocks.readsFrom(block, file.path))
                continue;
            if (first.empty())
                first = file.path;
            if (isProven(file, compared.contains(place), cacheFolder))
                continue;
            return isDistantPath(file.path) ? Error { error.code, sentence(kOneTransferWrong, { number, file.path }) }
                                            : error;
        }
    return first.empty() ? error : Error { error.code, sentence(kFirstReadWrongly, { number, first }) };
}

bool isOfFirstReading(const Message& cause)
{
    return tells(cause, { kFirstFromWrongCopy, kFirstReadWrongly, kOneTransferWrong });
}

} // namespace furrow
