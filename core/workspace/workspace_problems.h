#pragma once

#include "core/base/message.h"

#include <filesystem>
#include <vector>

namespace furrow {

/// What stands in a workspace where its folders and files should be and is none: named pipes, sockets, devices, a file
/// in place of a folder, links that lead nowhere. Nothing is opened, so that nothing can be waited for. Empty of a
/// workspace that is not there yet.
std::vector<Message> workspaceProblems(const std::filesystem::path& workspace);

} // namespace furrow
