#include "core/base/owner.h"
#include "core/base/sentence.h"

namespace furrow {

Message otherOwner(const std::filesystem::path&) { return {}; }

Message otherOwner(const ProcessIdentity& process) { return mayKill(process) ? Message() : sentence("another user"); }

Message ownerOfAnother(std::int64_t) { return {}; }

bool mayItsUserWrite(std::int64_t, const std::filesystem::path&) { return true; }

Status refuseRootInFolderOf(const std::filesystem::path&) { return {}; }

void shareWithGroupOf(const std::filesystem::path&) { }

} // namespace furrow
