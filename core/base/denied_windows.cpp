#include "core/base/denied.h"

#include "core/base/sentence.h"

namespace furrow {

Message whyDenied(const std::filesystem::path&, Access) { return sentence(kDenied); }

} // namespace furrow
