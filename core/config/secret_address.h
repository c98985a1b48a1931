#pragma once

#include "core/base/message.h"

#include <string>

namespace furrow {

/// Why an address is no value of a setting: settings are kept in run.json and shown everywhere, and it has a password
/// or a signature in it. "" when it has none.
/// @param key  of the setting that it was given for
Message whySecretAddress(const std::string& key, const std::string& address);

} // namespace furrow
