#pragma once

#include "core/base/result.h"

#include <filesystem>

namespace furrow {

/// A folder of its own that nobody else can look into; it goes with everything in it when this goes.
class ScratchFolder {
public:
    using Held = void;
    /// Makes "furrow-<random>" below `parent`, and `parent` too where it is missing.
    static Result<ScratchFolder> make(const std::filesystem::path& parent);
    ScratchFolder(ScratchFolder&& other) noexcept;
    ScratchFolder& operator=(ScratchFolder&&) = delete;
    ~ScratchFolder();
    const std::filesystem::path& path() const { return path_; } ///< absolute
    std::filesystem::path operator/(const char* name) const { return path_ / name; }

private:
    explicit ScratchFolder(std::filesystem::path path);
    std::filesystem::path path_; ///< empty once moved from
};

} // namespace furrow
