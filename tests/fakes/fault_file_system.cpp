// An inode tree in memory holds each file's live and durable bytes and each folder's live and durable names; the live
// side is mirrored in real files. A power loss makes the durable side live and rewrites the real files from it.
#include "tests/fakes/fault_file_system.h"

#include "core/base/check.h"
#include "core/base/path.h"
#include "core/base/random.h"

#include <algorithm>
#include <fstream>

namespace furrow {

namespace fs = std::filesystem;

struct FaultFileSystem::Inode {
    using Names = std::map<std::string, InodePtr>;

    bool isFolder = false;
    // a file
    std::string bytes;
    std::string durableBytes;
    bool syncFailed = false; // the kernel has dropped the dirty pages: later syncs save nothing
    // a folder
    Names names;
    Names durableNames;
    std::vector<Names> unsyncedStates; // names after each change since the last sync, for partial losses
};

/// An entry and the folder that holds it.
struct FaultFileSystem::Place {
    InodePtr folder;
    std::string name;

    InodePtr inode() const
    {
        const auto found = folder->names.find(name);
        return found == folder->names.end() ? nullptr : found->second;
    }
    void set(InodePtr inode) const
    {
        if (inode)
            folder->names[name] = std::move(inode);
        else
            folder->names.erase(name);
        folder->unsyncedStates.push_back(folder->names);
    }
};

class FaultFileSystem::File final : public OutputFile {
public:
    File(FaultFileSystem& owner, InodePtr inode, fs::path path)
        : owner_(owner)
        , inode_(std::move(inode))
        , path_(std::move(path))
    {
    }
    Status append(const void* data, std::size_t sizeBytes) override
    {
        return owner_.append(*inode_, path_, { static_cast<const char*>(data), sizeBytes });
    }
    Status sync() override { return owner_.sync(*inode_, path_); }
    Status close() override
    {
        const std::lock_guard lock(owner_.mutex_);
        return owner_.step("close " + owner_.shown(path_));
    }

private:
    FaultFileSystem& owner_;
    InodePtr inode_;
    fs::path path_; // the name at creation; a later rename does not matter to an open file
};

namespace {

void writeReal(const fs::path& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    FURROW_CHECK(file.good(), "the folder of the test cannot be written");
}

} // namespace

FaultFileSystem::FaultFileSystem(fs::path root)
    : root_(fs::weakly_canonical(root))
    , tree_(import(root_))
{
    FURROW_CHECK(tree_ && tree_->isFolder, "FaultFileSystem needs an existing folder");
}

FaultFileSystem::~FaultFileSystem() = default;

/// What exists already, as durable; null when there is nothing.
FaultFileSystem::InodePtr FaultFileSystem::import(const fs::path& real)
{
    if (!fs::exists(real))
        return nullptr;
    auto inode = std::make_shared<Inode>();
    inode->isFolder = fs::is_directory(real);
    if (inode->isFolder) {
        for (const auto& entry : fs::directory_iterator(real))
            inode->names[utf8Text(entry.path().filename())] = import(entry.path());
        inode->durableNames = inode->names;
    } else {
        inode->bytes = readFile(real).value();
        inode->durableBytes = inode->bytes;
    }
    return inode;
}

std::string FaultFileSystem::shown(const fs::path& path) const
{
    return utf8Text(fs::absolute(path).lexically_normal().lexically_relative(root_));
}

/// Counts a step and fails it when it is to fail.
Status FaultFileSystem::step(const std::string& operation)
{
    history_.push_back(operation);
    const int number = static_cast<int>(history_.size());
    if (number >= powerStep_)
        return Error { ErrorCode::Io, operation + ": the power is off since step " + std::to_string(powerStep_) };
    if (number == failStep_)
        return Error { ErrorCode::Io, operation + ": fault at step " + std::to_string(number) };
    return {};
}

Result<FaultFileSystem::Place> FaultFileSystem::placeOf(const fs::path& path)
{
    const fs::path relative = fs::absolute(path).lexically_normal().lexically_relative(root_);
    if (relative.empty() || *relative.begin() == "..")
        return Error { ErrorCode::InvalidArgument, utf8Text(path) + " is outside of the test's folder" };
    Place place { nullptr, {} };
    InodePtr at = tree_;
    fs::path real = root_;
    for (const fs::path& part : relative) {
        if (part.empty() || part == ".")
            continue;
        if (!at || !at->isFolder)
            return Error { ErrorCode::NotFound, "the folder of " + utf8Text(path) + " does not exist" };
        real /= part;
        place = { at, utf8Text(part) };
        at = place.inode();
        if (!at && (at = import(real))) { // made by others meanwhile
            place.folder->names[place.name] = at;
            place.folder->durableNames[place.name] = at;
        }
    }
    return place;
}

Result<std::unique_ptr<OutputFile>> FaultFileSystem::create(const fs::path& path)
{
    const std::lock_guard lock(mutex_);
    if (auto status = step("create " + shown(path)); !status.ok())
        return status.error();
    auto place = placeOf(path);
    if (!place.ok())
        return place.error();
    InodePtr inode = place.value().inode();
    if (inode && inode->isFolder)
        return Error { ErrorCode::InvalidArgument, "cannot create " + utf8Text(path) + ": it is a folder" };
    if (inode) { // truncated: the old bytes may be gone already
        inode->bytes.clear();
        inode->durableBytes.clear();
    } else {
        inode = std::make_shared<Inode>();
        place.value().set(inode);
    }
    writeReal(path, {});
    return std::unique_ptr<OutputFile>(std::make_unique<File>(*this, inode, path));
}

Status FaultFileSystem::append(Inode& inode, const fs::path& path, std::string_view bytes)
{
    const std::lock_guard lock(mutex_);
    if (auto status = step("append " + shown(path)); !status.ok())
        return status;
    const std::string_view fits = bytes.substr(0, std::min<std::uint64_t>(bytes.size(), bytesLeft_));
    bytesLeft_ -= bytesLeft_ == UINT64_MAX ? 0 : fits.size();
    inode.bytes += fits;
    writeReal(path, inode.bytes);
    if (fits.size() < bytes.size())
        return Error { ErrorCode::Io,
            "cannot write " + utf8Text(path) + ": the disk is full; free some space and try again" };
    return {};
}

Status FaultFileSystem::sync(Inode& inode, const fs::path& path)
{
    const std::lock_guard lock(mutex_);
    if (auto status = step("sync " + shown(path)); !status.ok()) {
        inode.syncFailed = true;
        return status;
    }
    if (!inode.syncFailed)
        inode.durableBytes = inode.bytes;
    return {};
}

Result<std::string> FaultFileSystem::read(const fs::path& path) { return readFile(path); }

Status FaultFileSystem::createFolders(const fs::path& path)
{
    const std::lock_guard lock(mutex_);
    if (auto status = step("folders " + shown(path)); !status.ok())
        return status;
    fs::path real = root_;
    for (const fs::path& part : fs::absolute(path).lexically_normal().lexically_relative(root_)) {
        real /= part;
        if (part == "." || part.empty())
            continue;
        auto place = placeOf(real);
        if (!place.ok())
            return place.error();
        const InodePtr inode = place.value().inode();
        if (inode && !inode->isFolder)
            return Error { ErrorCode::Io, "cannot create the folder " + utf8Text(real) + ": the name is taken" };
        if (inode)
            continue;
        auto folder = std::make_shared<Inode>();
        folder->isFolder = true;
        place.value().set(folder);
        fs::create_directory(real);
    }
    return {};
}

Status FaultFileSystem::createFolder(const fs::path& path)
{
    {
        const std::lock_guard lock(mutex_);
        auto parent = placeOf(path.parent_path());
        if (path.parent_path() != root_ && (!parent.ok() || !parent.value().inode()))
            return Error { ErrorCode::NotFound,
                "cannot create the folder " + utf8Text(path) + ": its parent does not exist" };
    }
    return createFolders(path);
}

Status FaultFileSystem::move(const char* verb, const fs::path& from, const fs::path& to, bool replacing)
{
    const std::lock_guard lock(mutex_);
    if (auto status = step(std::string(verb) + " " + shown(from) + " " + shown(to)); !status.ok())
        return status;
    auto source = placeOf(from);
    auto target = placeOf(to);
    if (!source.ok() || !target.ok())
        return (source.ok() ? target : source).error();
    const InodePtr inode = source.value().inode();
    const InodePtr taken = target.value().inode();
    if (!inode)
        return Error { ErrorCode::NotFound, "cannot rename " + utf8Text(from) + ": it does not exist" };
    if (taken && (!replacing || taken->isFolder || inode->isFolder))
        return Error { ErrorCode::Io,
            "cannot rename " + utf8Text(from) + " to " + utf8Text(to) + ": the name is taken" };
    if (source.value().folder == target.value().folder) {
        target.value().folder->names[target.value().name] = inode;
        source.value().set(nullptr); // both names in one change, as journalling file systems do
    } else {
        target.value().set(inode);
        source.value().set(nullptr);
    }
    fs::rename(from, to);
    return {};
}

Status FaultFileSystem::rename(const fs::path& from, const fs::path& to) { return move("rename", from, to, false); }

Status FaultFileSystem::replace(const fs::path& from, const fs::path& to) { return move("replace", from, to, true); }

Status FaultFileSystem::syncFolder(const fs::path& folder)
{
    const std::lock_guard lock(mutex_);
    if (auto status = step("syncfolder " + shown(folder)); !status.ok())
        return status;
    auto place = placeOf(folder);
    if (!place.ok())
        return place.error();
    const InodePtr inode = place.value().folder ? place.value().inode() : tree_;
    if (!inode || !inode->isFolder)
        return Error { ErrorCode::NotFound, "cannot sync the folder " + utf8Text(folder) + ": it does not exist" };
    inode->durableNames = inode->names;
    inode->unsyncedStates.clear();
    return {};
}

Status FaultFileSystem::removeAll(const fs::path& path)
{
    const std::lock_guard lock(mutex_);
    if (auto status = step("remove " + shown(path)); !status.ok())
        return status;
    auto place = placeOf(path);
    if (!place.ok())
        return place.error().code == ErrorCode::NotFound ? Status() : place.error();
    FURROW_CHECK(place.value().folder, "the test's folder itself must stay");
    if (place.value().inode())
        place.value().set(nullptr);
    (void)realFileSystem().removeAll(path);
    return {};
}

int FaultFileSystem::steps() const
{
    const std::lock_guard lock(mutex_);
    return static_cast<int>(history_.size());
}

std::vector<std::string> FaultFileSystem::history() const
{
    const std::lock_guard lock(mutex_);
    return history_;
}

void FaultFileSystem::failAt(int number)
{
    const std::lock_guard lock(mutex_);
    failStep_ = number;
}

void FaultFileSystem::cutPowerAt(int number)
{
    const std::lock_guard lock(mutex_);
    powerStep_ = number;
}

void FaultFileSystem::fullAfter(std::uint64_t bytes)
{
    const std::lock_guard lock(mutex_);
    bytesLeft_ = bytes;
}

/// Makes the durable side of `folder` live, on disk too.
void FaultFileSystem::restore(const fs::path& real, Inode& folder)
{
    for (const auto& [name, inode] : folder.names) {
        const auto kept = folder.durableNames.find(name);
        if (kept == folder.durableNames.end() || kept->second != inode)
            (void)realFileSystem().removeAll(real / pathFromUtf8(name));
    }
    folder.names = folder.durableNames;
    folder.unsyncedStates.clear();
    for (const auto& [name, inode] : folder.names) {
        const fs::path path = real / pathFromUtf8(name);
        if (inode->isFolder) {
            fs::create_directory(path);
            restore(path, *inode);
            continue;
        }
        if (!fs::exists(path) || inode->bytes != inode->durableBytes)
            writeReal(path, inode->durableBytes);
        inode->bytes = inode->durableBytes;
        inode->syncFailed = false;
    }
}

void FaultFileSystem::powerLoss()
{
    const std::lock_guard lock(mutex_);
    restore(root_, *tree_);
    powerStep_ = std::numeric_limits<int>::max();
    failStep_ = 0;
}

void FaultFileSystem::powerLossKeepingSome(std::uint64_t seed)
{
    {
        const std::lock_guard lock(mutex_);
        Random random(seed);
        std::vector<InodePtr> waiting { tree_ };
        while (!waiting.empty()) {
            const InodePtr inode = waiting.back();
            waiting.pop_back();
            if (const std::uint64_t reached = random.below(inode->unsyncedStates.size() + 1); reached > 0)
                inode->durableNames = inode->unsyncedStates[reached - 1];
            if (inode->bytes.size() > inode->durableBytes.size()) {
                const auto extra = random.below(inode->bytes.size() - inode->durableBytes.size() + 1);
                inode->durableBytes = inode->bytes.substr(0, inode->durableBytes.size() + extra);
            }
            for (const auto& [name, child] : inode->durableNames)
                waiting.push_back(child);
        }
    }
    powerLoss();
}

} // namespace furrow
