#pragma once

#include "core/base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// hf://owner/name[:config][:split][@revision]
struct HubSpec {
    std::string repository; ///< "owner/name"
    std::string config; ///< "" : the default one
    std::string split; ///< "" : train, else all
    std::string revision = "main";
    bool operator==(const HubSpec&) const = default;
};

/// Aliases (wikitext, c4) are replaced. A wrong address is InvalidArgument with the right form.
Result<HubSpec> parseHubSpec(std::string_view text);

/// A file of a repository as the tree lists it.
struct HubFile {
    std::string path; ///< below the root, '/' between parts
    std::uint64_t sizeBytes = 0;
    std::string sha256; ///< of large files; "" for small ones
    std::string oid; ///< git's name of the content; of a file outside of the hub its address and version
    std::string version {}; ///< of a file outside of the hub: what its server called it (WebState)
};

/// The files of one config and split, in natural order.
struct HubChoice {
    std::vector<HubFile> files;
    std::string config;
    std::string split;
    std::vector<std::string> skipped; ///< files that were left out, with the reason, one sentence each
};

/// Chooses by the repository's README metadata (`configs:` with data_files) when it has some, else by folder and file
/// names. What does not exist is answered with a list of what does.
/// @param readme  text of README.md, may be empty
Result<HubChoice> chooseHubFiles(const HubSpec& spec, const std::vector<HubFile>& tree, std::string_view readme);

/// A path against a pattern with * ? [..] in its parts: '*' stays inside a folder, "**" does not.
bool pathMatches(std::string_view pattern, std::string_view path);

} // namespace furrow
