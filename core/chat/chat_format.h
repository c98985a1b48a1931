#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

/// How a model writes conversations: its template and what that may ask for. Frozen with a run.
struct ChatFormat {
    std::string source; ///< of the template
    std::vector<std::pair<std::string, std::string>> tokens; ///< bos_token and the like, as texts
    std::int64_t day = 0; ///< what strftime_now tells, in seconds since 1970; 0 where the template does not ask
    bool readsTurnWeights = true; ///< a turn with "weight": 0 or "train": false is not learnt; runs of before learn it
    bool operator==(const ChatFormat&) const = default;

    /// The text of a token, as "eos_token"; "" where there is none.
    std::string token(const std::string& name) const;
};

/// The format that many open models share: <|im_start|>role, a line, <|im_end|>. It marks what the assistant writes.
extern const char* const kChatMl;

/// Reads the chat template and the special tokens of a model.
/// @param place  its folder (chat_template.jinja, chat_template.json or tokenizer_config.json, the first that has one),
///     a GGUF, or a file: a template, or a JSON file that holds one as "chat_template"
/// @param tokens  a folder whose tokens count where those beside the template say nothing; may be empty
/// @return nothing: the folder or GGUF has none. A file without a template is an error.
Result<std::optional<ChatFormat>> readChatFormat(
    const std::filesystem::path& place, const std::filesystem::path& tokens = {});

/// Writes it into a folder as readChatFormat() reads it.
std::vector<std::pair<std::string, std::string>> chatFormatFiles(const ChatFormat& format);

} // namespace furrow
