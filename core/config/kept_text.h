#pragma once

#include "core/base/message.h"
#include "core/base/secret_variables.h"

#include <string_view>
#include <vector>

namespace furrow {

/// Why a text must not be kept in a run, which shows it everywhere: it holds a secret of the environment, or what looks
/// like one. "" where it may be kept.
/// @param holder  what holds it, at the beginning of a sentence: a setting, an option, a line of a file
Message whyNotKept(
    std::string_view text, const Argument& holder, const std::vector<SecretVariable>& secrets = secretVariables());

/// Only what the environment keeps secret, of a text with a rule of its own for what looks like a secret.
Message whyVariableNotKept(std::string_view text, const Argument& holder, const std::vector<SecretVariable>& secrets);

} // namespace furrow
