#include "core/base/whole_folder.h"

#include "core/base/absolute_path.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"

#include <algorithm>

namespace furrow {

namespace {

std::filesystem::path withoutSlash(const std::filesystem::path& folder)
{
    const auto place = absolutePath(folder);
    return place.has_filename() ? place : place.parent_path();
}

/// How the name of what grows for a folder begins.
std::filesystem::path beginningFor(const std::filesystem::path& folder)
{
    auto name = folder.filename();
    name += ".new-";
    return name;
}

} // namespace

WholeFolder::WholeFolder(FileSystem& files, const std::filesystem::path& out)
    : files_(files)
    , out_(withoutSlash(out))
{
    std::error_code none;
    auto name = beginningFor(out_);
    name += randomHex(8);
    growing_ = (std::filesystem::is_directory(out_, none) ? out_ : out_.parent_path()) / name;
}

WholeFolder::~WholeFolder()
{
    (void)files_.removeAll(growing_); // moved up or away: there is none, or nothing in it
}

Status WholeFolder::putInPlace(const std::filesystem::path& last)
{
    if (growing_.parent_path() == out_)
        return moveUp(last);
    FURROW_TRY(files_.rename(growing_, out_));
    return files_.syncFolder(out_.parent_path());
}

/// Two that grow in one folder do not mix: a name can be taken once.
Status WholeFolder::moveUp(const std::filesystem::path& last)
{
    if (!holdsNothing(out_)) // any more
        return Error { ErrorCode::Io,
            sentence("cannot rename %1 to %2", { utf8Text(growing_), utf8Text(out_) }) + ": "
                + sentence("the name is taken") };
    FURROW_TRY_ASSIGN(auto entries, entriesOf(growing_));
    std::ranges::stable_partition(entries, [&last](const auto& entry) { return entry.filename() != last; });
    std::vector<std::filesystem::path> moved;
    const auto move = [&](const std::filesystem::path& entry) -> Status {
        if (entry.filename() == last)
            FURROW_TRY(files_.syncFolder(out_)); // what it vouches for is there whenever it is
        FURROW_TRY(files_.rename(entry, out_ / entry.filename()));
        moved.push_back(out_ / entry.filename());
        return {};
    };
    Status done;
    for (auto entry = entries.begin(); done.ok() && entry != entries.end(); ++entry)
        done = move(*entry);
    if (done.ok())
        done = files_.syncFolder(out_);
    if (!done.ok())
        for (auto one = moved.rbegin(); one != moved.rend(); ++one)
            (void)files_.removeAll(*one);
    return done;
}

bool holdsNothing(const std::filesystem::path& folder)
{
    const auto beginning = beginningFor(withoutSlash(folder)).native();
    const auto entries = entriesOf(folder);
    return entries.ok() && std::ranges::all_of(entries.value(), [&beginning](const auto& entry) {
        return entry.filename().native().starts_with(beginning);
    });
}

Status makeWholeFolder(FileSystem& files, const std::filesystem::path& out, const std::filesystem::path& last,
    const std::function<Status(const std::filesystem::path& folder)>& fill)
{
    WholeFolder whole(files, out);
    FURROW_TRY(files.createFolders(whole.growing()));
    FURROW_TRY(fill(whole.growing()));
    return whole.putInPlace(last);
}

} // namespace furrow
