#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <string_view>

namespace furrow {

struct ChatBench {
    int turns = 0;
    std::size_t textBytes = 0; ///< of the rendered conversation
    double microsecondsATurn = 0; ///< of one thread, the conversation already being read
};

/// A template of the kind that models with tools bring: white space cut everywhere, two walks through the messages.
extern const std::string_view kBenchTemplate;

/// Renders one conversation of `turns` messages with tools again and again for a second.
Result<ChatBench> benchChat(std::string_view source, int turns);

} // namespace furrow
