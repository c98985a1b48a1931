#include "core/data/source/source_look.h"

#include "core/base/file_stamp.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/option_term.h"
#include "core/data/source/changed_file.h"
#include "core/data/source/distant_source.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

namespace furrow {

namespace {

struct LocalFile {
    std::string path;
    std::uint64_t sizeBytes = 0;
};

std::vector<LocalFile> localFiles(const DataManifest& manifest)
{
    std::vector<LocalFile> files;
    std::set<std::string> seen; // an archive holds many
    for (const auto& source : manifest.sources)
        for (const auto& file : source.files)
            if (!isDistantPath(file.path) && seen.insert(file.pathOnDisk()).second)
                files.push_back({ file.pathOnDisk(), file.bytesOnDisk() });
    return files;
}

Message problemOf(const LocalFile& file)
{
    const auto stamp = stampOf(pathFromUtf8(file.path));
    if (!stamp.ok())
        return stamp.error().message;
    if (stamp.value().sizeBytes != file.sizeBytes)
        return sentence(kFileOfOtherSize,
            { file.path, Count(static_cast<std::int64_t>(stamp.value().sizeBytes)),
                Count(static_cast<std::int64_t>(file.sizeBytes)) });
    return {};
}

/// Of a look that may outlive the one who asked: a share that is away lets nobody go.
struct Look {
    std::mutex mutex;
    std::condition_variable over;
    std::vector<LocalFile> files; // nobody changes them
    std::size_t at = 0; // guarded by mutex: the file that is looked at
    Message first; // guarded by mutex
    std::int64_t problems = 0; // guarded by mutex
};

void look(const std::shared_ptr<Look>& all)
{
    for (const LocalFile& file : all->files) {
        Message problem = problemOf(file);
        const std::lock_guard guard(all->mutex);
        ++all->at;
        if (!problem.empty() && ++all->problems == 1)
            all->first = std::move(problem);
    }
    all->over.notify_all();
}

} // namespace

Message whyDataIsNotAtHand(const DataManifest& manifest, std::chrono::milliseconds patience)
{
    const auto all = std::make_shared<Look>();
    all->files = localFiles(manifest);
    if (all->files.empty())
        return {};
    std::thread([all] { look(all); }).detach();
    std::unique_lock lock(all->mutex);
    if (!all->over.wait_for(lock, patience, [&all] { return all->at == all->files.size(); }))
        return sentence(
            "%1 does not answer: is its disk or share there? The run waits for it.", { all->files[all->at].path });
    if (all->problems == 0)
        return {};
    return all->problems == 1
        ? sentence(
              "%1 So 1 file of the data is not as it was when the run was made: a run that needs it waits for its disk, or ends. Put it back, or go on without what changed (resume with %2).",
              { withFullStop(all->first), optionTerm("bad_files", "leave_out") })
        : sentence(
              "%1 So %2 files of the data are not as they were when the run was made: a run that needs them waits for their disk, or ends. Put them back, or go on without what changed (resume with %3).",
              { withFullStop(all->first), Count(all->problems), optionTerm("bad_files", "leave_out") });
}

} // namespace furrow
