#include "core/base/group_share.h"

namespace furrow {

bool mayGroupWrite(const std::filesystem::path&) { return false; }

void shareBelow(const std::filesystem::path&) { }

void shareMade(std::intptr_t, const std::filesystem::path&) { }

void shareMadeFolder(const std::filesystem::path&) { }

} // namespace furrow
