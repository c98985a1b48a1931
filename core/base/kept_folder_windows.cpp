#include "core/base/kept_folder.h"

namespace furrow {

// A folder in which files are open, as those of a run that is trained, can be neither moved nor deleted here.

Result<KeptFolder> KeptFolder::open(const std::filesystem::path&) { return KeptFolder(-1, {}); }

KeptFolder::~KeptFolder() = default;
KeptFolder::KeptFolder(KeptFolder&& other) noexcept = default;
KeptFolder& KeptFolder::operator=(KeptFolder&& other) noexcept = default;

KeptFolder::Whereabouts KeptFolder::whereabouts() const { return {}; }

} // namespace furrow
