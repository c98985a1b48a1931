#include "core/run/audit/parent_list.h"

#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/status/ledger_view.h"
#include "core/run/status/tracker_config.h"
#include "core/tracker/inherited_list.h"
#include "core/tracker/window_ranges.h"

#include <algorithm>

namespace furrow {

namespace {

InheritedList listOf(const std::optional<ParentFile>& parent)
{
    return parent ? inheritedListOf(*parent) : InheritedList();
}

Message inWords(const InheritedList& list, std::int64_t block)
{
    const auto row = list.find(block);
    if (row == list.end())
        return sentence("none");
    return row->second.mark == Inherited::Skipped ? sentence("%1, which are left out", { row->second.columns })
                                                  : sentence("%1, which are trained again", { row->second.columns });
}

/// "" or the first block of which two lists say different things.
Message difference(const InheritedList& tracker, const InheritedList& parent)
{
    const auto [a, b] = std::ranges::mismatch(tracker, parent);
    if (a == tracker.end() && b == parent.end())
        return {};
    const std::int64_t block = a == tracker.end() ? b->first
        : b == parent.end()                       ? a->first
                                                  : std::min(a->first, b->first);
    return sentence("chunks of block %1 that the parent run trained: by the tracker %2, by parent.json %3",
        { std::to_string(block), inWords(tracker, block), inWords(parent, block) });
}

Error otherThanBegun(const RunPaths& paths, const Message& why)
{
    return { ErrorCode::Corrupt,
        sentence(
            "%1 is not the one that this run began with: %2. It says which chunks the parent run trained. Put it back from a copy of the run.",
            { utf8Text(paths.parentFile()), why }) };
}

/// What parent.json says of itself.
Status checkCount(const RunPaths& paths, const ParentFile& parent)
{
    std::int64_t count = 0;
    for (const auto& [block, columns] : parent.chunks) {
        if (!isRangesText(columns))
            return otherThanBegun(
                paths, sentence("the chunks of block %1 are written as nobody writes them", { std::to_string(block) }));
        count += countWindows(decodeRanges(columns));
    }
    if (count != parent.chunkCount)
        return otherThanBegun(paths,
            sentence("chunks in its list: %1, by its own count: %2", { Count(count), Count(parent.chunkCount) }));
    return {};
}

} // namespace

Result<std::optional<ParentFile>> provenParent(const RunPaths& paths, const RunFile& file)
{
    FURROW_TRY_ASSIGN(auto parent, readParent(paths));
    if (parent)
        FURROW_TRY(checkCount(paths, *parent));
    if (!parent && !file.parentListHash.empty())
        return otherThanBegun(paths, sentence("it is not there"));
    if (!file.parentListHash.empty() && hashOf(listOf(parent)) != file.parentListHash)
        return otherThanBegun(paths, sentence("the hash of its list is not the one that run.json keeps"));
    return parent;
}

Status checkParentFile(const RunPaths& paths, const RunFile& file)
{
    FURROW_TRY_ASSIGN(const auto parent, provenParent(paths, file));
    if (!file.parentListHash.empty())
        return {}; // the tracker is held against run.json
    const auto known = inheritedList(readableLedger(paths));
    if (!known.ok())
        return {}; // whoever reads the tracker says so
    const auto differs = difference(known.value(), listOf(parent));
    if (differs.empty())
        return {};
    return Error { ErrorCode::Corrupt,
        sentence(
            "tracker and parent.json disagree (%1), and nothing proves one of them. Chunks would be left out or trained by the wrong one. Put a copy of %2 or of %3 back from before.",
            { differs, utf8Text(paths.tracker()), utf8Text(paths.parentFile()) }) };
}

Result<Message> differenceFromParentList(
    const RunPaths& paths, const RunFile& file, const std::filesystem::path& tracker)
{
    if (file.parentListHash.empty())
        return Message();
    FURROW_TRY_ASSIGN(const auto known, inheritedList(tracker));
    if (hashOf(known) == file.parentListHash)
        return Message();
    const auto parent = provenParent(paths, file);
    if (!parent.ok())
        return sentence(
            "the list of the chunks that the parent run trained was changed, and parent.json cannot say how: %1",
            { parent.error().message });
    return difference(known, listOf(parent.value()));
}

Status restoreParentList(const RunPaths& paths, const RunFile& file, const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(const auto differs, differenceFromParentList(paths, file, tracker));
    if (differs.empty())
        return {};
    FURROW_TRY_ASSIGN(const auto parent, provenParent(paths, file));
    return storeInheritedList(tracker, listOf(parent));
}

} // namespace furrow
