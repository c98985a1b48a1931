#include "core/base/regular_file.h"

#include "core/base/group_share.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace furrow {

Result<RegularFile> RegularFile::open(const std::filesystem::path& path, At at, Links links)
{
    const int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | (at == At::End ? O_APPEND : 0)
        | (links == Links::AsThemselves ? O_NOFOLLOW : 0);
    int handle = -1;
    do
        handle = ::open(path.c_str(), flags, 0666); // who else may write is for the umask to say
    while (handle < 0 && errno == EINTR);
    if (handle < 0 && (errno == ELOOP || errno == ENXIO || errno == EISDIR)) // ENXIO: a pipe that nobody reads
        return irregular(path, errno == EISDIR);
    if (handle < 0)
        return systemError(sentence("cannot write %1", { utf8Text(path) }), errno);
    RegularFile file(handle);
    struct stat facts {};
    if (::fstat(handle, &facts) != 0)
        return systemError(sentence("cannot write %1", { utf8Text(path) }), errno);
    if (!S_ISREG(facts.st_mode))
        return irregular(path);
    if (facts.st_size == 0) // made just now, or as good as that
        shareMade(handle, path);
    if (at == At::Nothing && ::ftruncate(handle, 0) != 0) // not before it is known what it is
        return systemError(sentence("cannot write %1", { utf8Text(path) }), errno);
    return file;
}

RegularFile::~RegularFile()
{
    if (handle_ >= 0)
        ::close(static_cast<int>(handle_));
}

std::size_t RegularFile::write(std::string_view bytes)
{
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t written = ::write(static_cast<int>(handle_), bytes.data() + done, bytes.size() - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        done += static_cast<std::size_t>(written);
    }
    return done;
}

} // namespace furrow
