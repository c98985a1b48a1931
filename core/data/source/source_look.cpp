#include "core/data/source/source_look.h"

#include "core/base/file_stamp.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/source_identity.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace furrow {

namespace {

/// The same without what lies on other servers.
DataManifest localPart(DataManifest manifest)
{
    for (auto& source : manifest.sources)
        std::erase_if(source.files, [](const DataFile& file) { return isDistantPath(file.path); });
    return manifest;
}

std::vector<std::string> pathsOnDisk(const DataManifest& manifest)
{
    std::vector<std::string> paths;
    std::set<std::string> seen; // an archive holds many
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            if (seen.insert(file.pathOnDisk()).second)
                paths.push_back(file.pathOnDisk());
    return paths;
}

/// Of a look that may outlive the one who asked: a share that is away lets nobody go.
struct Look {
    DataManifest manifest; // nobody changes it, nor the paths
    std::vector<std::string> paths;
    std::mutex mutex;
    std::condition_variable told;
    std::size_t answered = 0; // guarded by mutex: of `paths`
    bool isOver = false; // guarded by mutex
    LocalFilesLook found; // guarded by mutex
};

void look(const std::shared_ptr<Look>& all)
{
    for (const std::string& path : all->paths) {
        (void)stampOf(pathFromUtf8(path)); // what it says of the file is asked again below
        const std::lock_guard guard(all->mutex);
        ++all->answered;
        all->told.notify_all();
    }
    LocalFilesLook found;
    found.asItWas = SourceIdentity(std::chrono::seconds(0)).checkAll(all->manifest, &found.changed, &found.away);
    const std::lock_guard guard(all->mutex);
    all->found = std::move(found);
    all->isOver = true;
    all->told.notify_all();
}

LocalFilesLook unknownFor(Message why)
{
    LocalFilesLook look;
    look.unknown = std::move(why);
    return look;
}

} // namespace

LocalFilesLook lookAtLocalFiles(
    const DataManifest& manifest, std::chrono::milliseconds patience, std::chrono::milliseconds readingPatience)
{
    const auto all = std::make_shared<Look>();
    all->manifest = localPart(manifest);
    all->paths = pathsOnDisk(all->manifest);
    if (all->paths.empty())
        return {};
    std::thread([all] { look(all); }).detach();
    std::unique_lock lock(all->mutex);
    if (!all->told.wait_for(lock, patience, [&all] { return all->answered == all->paths.size(); }))
        return unknownFor(sentence(
            "%1 does not answer: is its disk or share there? The run waits for it.", { all->paths[all->answered] }));
    if (!all->told.wait_for(lock, readingPatience, [&all] { return all->isOver; }))
        return unknownFor(sentence(
            "It takes longer to see whether the files of the data are as they were when the run was made. A resume reads all of them for that, and ends or leaves out what changed (%1).",
            { optionTerm("bad_files", "leave_out") }));
    return all->found;
}

} // namespace furrow
