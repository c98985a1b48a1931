#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

/// A folder of this process that goes away with it. For targets whose parsers read files.
class ScratchFolder {
public:
    explicit ScratchFolder(const char* name)
        : path_(std::filesystem::temp_directory_path()
              / (std::string("furrow-fuzz-") + name + "-"
                  + std::to_string(reinterpret_cast<std::uintptr_t>(this)
                      ^ static_cast<std::uintptr_t>(
                          std::filesystem::file_time_type::clock::now().time_since_epoch().count()))))
    {
        std::filesystem::create_directories(path_);
    }
    ~ScratchFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }
    void write(const std::filesystem::path& name, std::string_view bytes) const
    {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name, std::ios::binary | std::ios::trunc)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }

private:
    std::filesystem::path path_;
};
