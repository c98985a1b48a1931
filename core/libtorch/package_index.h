#pragma once

#include "core/data/hub/http.h"
#include "core/libtorch/pip_settings.h"
#include "core/libtorch/torch_pins.h"

namespace furrow {

/// A wheel that can be had: a local file, or an address.
struct WheelSource {
    std::string name; ///< of the file
    std::filesystem::path file; ///< empty: it is at `from`
    IndexAddress from;
    std::string sha256; ///< that the page promises, or ""
    std::uint64_t sizeBytes = 0; ///< 0: not known
};

/// The links of a page of an index, in its order: HTML with <a href="...">. Bounded; what is no file is left out.
/// @param page  the address that the page has
std::vector<WheelSource> readIndexPage(std::string_view html, const IndexAddress& page);

/// Asks package indexes. Not thread-safe.
class PackageIndex {
public:
    PackageIndex(PipSettings settings, HttpTransport& transport, RetryPolicy retry);
    /// A wheel of the package for this system, of which the hash is pinned or not yet known; a local one first.
    /// NotFound says where it was looked for.
    Result<WheelSource> find(const PinnedPackage& package);

private:
    Status lookIn(const IndexAddress& page, const PinnedPackage& package, std::vector<WheelSource>& found);

    PipSettings settings_;
    HttpTransport& transport_;
    RetryPolicy retry_;
};

/// The wheels of the package for this system in a folder, by name.
std::vector<WheelSource> wheelsIn(const std::filesystem::path& folder, const PinnedPackage& package);

/// One request, over redirects. The account goes to its own host only.
/// @param resume  bytes that are there already
Result<HttpResponse> fetchFrom(HttpTransport& transport, const RetryPolicy& retry, const IndexAddress& from,
    const std::string& method, const std::function<std::uint64_t()>& resume, const BodySink& sink);

} // namespace furrow
