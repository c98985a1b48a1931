#pragma once

#include "core/base/file_stamp.h"

namespace furrow {

/// A folder that a process keeps open, to learn what became of it once its path leads nowhere. Move-only; any thread.
class KeptFolder {
public:
    /// NotFound or Io when it cannot be opened.
    static Result<KeptFolder> open(const std::filesystem::path& path);
    ~KeptFolder();
    KeptFolder(KeptFolder&& other) noexcept;
    KeptFolder& operator=(KeptFolder&& other) noexcept;

    enum class Fate {
        Unknown, ///< it may come back: its disk was unmounted, say
        Moved,
        Deleted,
    };
    struct Whereabouts {
        Fate fate = Fate::Unknown;
        std::filesystem::path path; ///< of one that was moved
    };
    Whereabouts whereabouts() const;

private:
    KeptFolder(int handle, FileIdentity identity)
        : handle_(handle)
        , identity_(identity)
    {
    }
    int handle_ = -1;
    FileIdentity identity_;
};

} // namespace furrow
