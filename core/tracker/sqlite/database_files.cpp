#include "core/tracker/sqlite/database_files.h"

#include "core/base/is_there.h"
#include "core/base/link_refusal.h"

namespace furrow {

std::array<std::filesystem::path, 4> databaseFiles(const std::filesystem::path& path)
{
    const auto beside = [&path](const char* ending) {
        auto file = path;
        file += ending;
        return file;
    };
    return { path, beside("-wal"), beside("-shm"), beside("-journal") };
}

bool isAnyInWal(const std::filesystem::path& path)
{
    std::error_code absent;
    const auto bytes = std::filesystem::file_size(databaseFiles(path)[1], absent);
    return !absent && bytes > 0;
}

Status moveDatabase(FileSystem& files, const std::filesystem::path& from, const std::filesystem::path& to)
{
    const auto names = databaseFiles(to);
    const auto found = databaseFiles(from);
    for (std::size_t i = 0; i < found.size(); ++i)
        if (isThere(found[i]))
            FURROW_TRY(files.rename(found[i], names[i]));
    return {};
}

Status refuseLinkedDatabase(const std::filesystem::path& path)
{
    for (const auto& file : databaseFiles(path))
        FURROW_TRY(refuseLink(file));
    return {};
}

} // namespace furrow
