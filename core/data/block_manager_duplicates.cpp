#include "core/data/block_manager_state.h"

#include "core/base/sentence.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/plan/duplicate_file.h"

namespace furrow {

Status BlockManager::State::openDuplicates()
{
    if (duplicatesKey.empty() || duplicatesFile.empty())
        return {};
    auto index = furrow::openDuplicates(duplicatesFile, duplicatesKey);
    if (!index.ok())
        return index.error().code == ErrorCode::NotFound ? Status {} : Status(index.error());
    useDuplicates(std::move(index).value());
    return {};
}

void BlockManager::State::useDuplicates(DuplicateIndex index)
{
    duplicates = std::make_shared<const DuplicateIndex>(std::move(index));
    duplicatesDigest = duplicates->digest();
    const auto firstFiles = firstFilesOf(manifest);
    for (std::size_t s = 0; s < collectors.size(); ++s)
        collectors[s]->know(duplicates, firstFiles[s]);
}

bool BlockManager::needsDuplicates() const { return !state_->duplicatesKey.empty() && !state_->duplicates; }

void BlockManager::remakeDuplicates() { state_->duplicates.reset(); }

/// A file that only came wrong is missing in no list: the search ends, and the next attempt asks for it again.
Error BlockManager::State::causeInTheSearch(const Error& error)
{
    const Error cause = causeOf(error, allPaths());
    const Error* wrong = cause.code == ErrorCode::Corrupt ? cameWrong(allPaths()) : nullptr;
    return wrong == nullptr ? cause : Error { ErrorCode::InvalidArgument, wrong->message };
}

Status BlockManager::findDuplicates(const std::function<bool(std::uint64_t, std::uint64_t)>& progress)
{
    State& s = *state_;
    if (!needsDuplicates())
        return {};
    auto index = s.leftOut.empty()
        ? duplicatesFromCache(*s.cache, s.duplicatesKey, s.duplicatesFile)
        : Result<DuplicateIndex>(Error { ErrorCode::NotFound, sentence("made with files that are left out") });
    if (!index.ok() && index.error().code != ErrorCode::NotFound)
        return index.error();
    if (!index.ok()) {
        if (!s.search || s.search->isBroken())
            s.search = std::make_unique<DuplicateSearch>(
                DuplicateSearch::Data { *s.access, s.manifest, s.options, s.rules, s.leftOutPaths() }, s.cache,
                [&s](const Error& error) { return s.causeInTheSearch(error); });
        {
            const FetchAnewOnce once(s.access->pieces());
            FURROW_TRY(s.search->read(progress));
        }
        index = writeDuplicates(*s.search, s.duplicatesKey, s.duplicatesFile, *s.cache,
            [&] { return !progress || progress(s.search->allBytes(), s.search->allBytes()); });
        if (!index.ok())
            return index.error();
    }
    s.search.reset();
    s.useDuplicates(std::move(index).value());
    return {};
}

const DuplicateIndex* BlockManager::duplicates() const { return state_->duplicates.get(); }

} // namespace furrow
