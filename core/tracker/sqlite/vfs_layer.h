#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

struct sqlite3_file;
struct sqlite3_vfs;

namespace furrow {

/// One open file as a layer sees it. What is not overridden goes to the real file. Codes are SQLite's.
class VfsFile {
public:
    explicit VfsFile(sqlite3_file* real)
        : real_(real)
    {
    }
    virtual ~VfsFile() = default;
    virtual int read(void* into, int bytes, std::int64_t offset);
    virtual int write(const void* from, int bytes, std::int64_t offset);
    virtual int truncate(std::int64_t size);
    virtual int sync(int flags);
    virtual int mapShared(int page, int bytes, int extend, void volatile** memory);
    virtual int characteristics();

protected:
    sqlite3_file* real_; ///< open
};

/// A layer between SQLite and the operating system, for faults. It is SQLite's default while it lives; one at a time.
class VfsLayer {
public:
    /// @param isDatabase  the file is a database, its WAL or its journal, not a temporary one
    using Open = std::function<std::unique_ptr<VfsFile>(const std::string& path, bool isDatabase, sqlite3_file* real)>;
    using Erased = std::function<void(const std::string& path)>;
    /// @param name  of the layer, a literal
    explicit VfsLayer(const char* name, Open open, Erased erased = {});
    ~VfsLayer();
    VfsLayer(const VfsLayer&) = delete;
    VfsLayer& operator=(const VfsLayer&) = delete;

private:
    struct Calls;
    std::unique_ptr<sqlite3_vfs> vfs_;
    sqlite3_vfs* under_;
    Open open_;
    Erased erased_;
};

} // namespace furrow
