#pragma once

#include "core/base/message.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace furrow {

/// What a message is made of, as it is kept beside its English text: `{"id": "%1 of %2", "args": [...]}`. An argument
/// is a string (a name), such an object again, or one of `{"count": 7}`, `{"real": 1.5, "digits": 2}`, `{"bytes": 7}`,
/// `{"time": ns}`, `{"setting": "lr"}`, `{"run_state": ..}`, `{"chunk_state": ..}`, `{"stop_reason": ..}`.
nlohmann::json toJson(const Message& message);

/// The same as text; "" where the English text says all: of a plain text, and of a sentence without values.
std::string messageParts(const Message& message);

/// The message whose English text is `english`, of the parts that were kept beside it. They may come from anywhere:
/// parts that are none, are too many or too deep, or that say something else in English, leave the plain text.
Message messageOf(std::string english, std::string_view parts);

/// Why a program of ours did not do what it was started for with --json: its {"error": text, "message": parts}. Nothing
/// of any other answer.
std::optional<Message> answeredError(const nlohmann::json& answer);

} // namespace furrow
