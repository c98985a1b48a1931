#include "core/base/started_as.h"

namespace furrow {

std::optional<StartedAs> startedAs(const ProcessIdentity&) { return std::nullopt; }

std::vector<ProcessIdentity> processesStartedWith(const std::vector<std::string>&) { return {}; }

} // namespace furrow
