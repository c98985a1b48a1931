#pragma once

#include "core/base/told.h"

namespace furrow {

/// What a task says of a prompt, of which the model reads only the rest.
inline constexpr SentenceText kNoTokenFor("The tokenizer has no token for these characters of the prompt: %1");

} // namespace furrow
