#include "core/data/hub/hub_copies.h"

#include "core/base/log.h"
#include "core/base/path.h"
#include "core/data/hub/hub_pieces.h"

#include <cstdlib>

namespace furrow {

HubFile hubFile(const DataFile& file, const HubAddress& address)
{
    HubFile hub { address.path, file.bytesOnDisk(), "", "", file.version };
    (isPromised(file) ? hub.sha256 : hub.oid) = file.hash;
    return hub;
}

std::string downloadName(const DataFile& file, const HubAddress& address)
{
    return contentName(hubFile(file, address)) + kWholeEnding;
}

std::filesystem::path inHuggingFaceCache(HubKind kind, const HubAddress& address, std::uint64_t sizeBytes)
{
    const char* home = std::getenv("HF_HOME");
    const char* user = std::getenv("HOME");
    if (address.isWeb())
        return {};
    if (home == nullptr && user == nullptr)
        return {};
    std::string folder = (kind == HubKind::Models ? "models--" : "datasets--") + address.repository;
    if (const auto slash = folder.find('/'); slash != std::string::npos)
        folder.replace(slash, 1, "--");
    const auto root = home != nullptr ? pathFromUtf8(home) : pathFromUtf8(user) / ".cache" / "huggingface";
    const auto path
        = root / "hub" / pathFromUtf8(folder) / "snapshots" / pathFromUtf8(address.commit) / pathFromUtf8(address.path);
    std::error_code error;
    return std::filesystem::file_size(path, error) == sizeBytes && !error ? path : std::filesystem::path();
}

std::filesystem::path usableInHuggingFaceCache(
    HubKind kind, const DataFile& file, const HubAddress& address, HubProofs* proofs)
{
    auto local = inHuggingFaceCache(kind, address, file.bytesOnDisk());
    if (local.empty() || proofs == nullptr)
        return local;
    const auto same = proofs->compare(file, local);
    if (same.ok())
        return local;
    logWarning(same.error().message + " It is not used; the hub is asked.");
    return {};
}

} // namespace furrow
