#pragma once

#include "core/base/redact.h"

#include <functional>
#include <string>
#include <vector>

namespace furrow {

/// An address that may ask for an account. Only `address` may be shown.
struct IndexAddress {
    std::string address; ///< without its account; that of an index ends in '/'
    Secret account; ///< "name:password", percent-encoded
};

/// From where and how the pip of this person would fetch packages.
struct PipSettings {
    std::vector<IndexAddress> indexes; ///< the main one first; none with pip's no-index
    std::vector<std::string> folders; ///< of find-links: local ones
    std::vector<IndexAddress> pages; ///< of find-links: with links to files
    std::string certificates; ///< file of those to trust; "": the system's
    Secret proxy; ///< "": as the environment says (https_proxy, no_proxy)
};

/// As pip reads it: its files of the system, the user and the active environment, PIP_CONFIG_FILE, then PIP_*
/// variables; the later one wins. Sections global and download. Without any, pip's own default.
/// @param variable  value of an environment variable, or null
PipSettings readPipSettings(const std::function<const char*(const char*)>& variable);

} // namespace furrow
