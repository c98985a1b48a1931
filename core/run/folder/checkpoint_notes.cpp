#include "core/run/folder/checkpoint_notes.h"

#include "core/base/path.h"
#include "core/base/sentence.h"

namespace furrow {

namespace {
constexpr std::uint64_t kMostBytes = 256;
}

Status prepareNotes(const RunPaths& paths, FileSystem& files) { return files.createFolder(paths.writingNotesFolder()); }

Status noteWriting(const RunPaths& paths, const std::string& runId, const std::string& checkpoint, FileSystem& files)
{
    auto noted = writeFileDurably(files, paths.writingNotesFolder() / checkpoint, runId);
    if (!noted.ok())
        forgetWriting(paths, checkpoint, files);
    if (!noted.ok() && noted.error().code == ErrorCode::NotFound)
        return Error { ErrorCode::NotFound,
            sentence("%1 is gone. Is its disk still there?", { utf8Text(paths.writingNotesFolder()) }) };
    return noted;
}

void forgetWriting(const RunPaths& paths, const std::string& checkpoint, FileSystem& files)
{
    (void)files.removeAll(paths.writingNotesFolder() / checkpoint);
}

Result<std::vector<std::string>> writingNotes(const RunPaths& paths, const std::string& runId)
{
    std::vector<std::string> names;
    auto entries = entriesOf(paths.writingNotesFolder());
    if (!entries.ok())
        return entries.error().code == ErrorCode::NotFound ? Result<std::vector<std::string>>(std::move(names))
                                                           : entries.error();
    for (const auto& entry : entries.value()) {
        const auto writer = isLink(entry) ? Result<std::string>(std::string()) : readFile(entry, kMostBytes);
        if (!writer.ok() && writer.error().code == ErrorCode::Io)
            return writer.error();
        if (writer.ok() && writer.value() == runId)
            names.push_back(utf8Text(entry.filename()));
    }
    return names;
}

} // namespace furrow
