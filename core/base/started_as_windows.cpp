#include "core/base/started_as.h"

namespace furrow {

std::optional<StartedAs> startedAs(const ProcessIdentity&) { return std::nullopt; }

} // namespace furrow
