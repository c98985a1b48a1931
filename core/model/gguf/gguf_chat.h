#pragma once

#include "core/model/gguf/gguf_file.h"

namespace furrow {

/// The special tokens and the chat template of a GGUF, as a tokenizer_config.json says them.
nlohmann::ordered_json ggufChatConfig(const GgufFile& file);

} // namespace furrow
