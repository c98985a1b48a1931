#pragma once

#include "core/base/result.h"
#include "core/chat/template/value.h"

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace furrow {

/// What a template is rendered with.
struct ChatInputs {
    chat::Value messages {};
    chat::Value tools = chat::None {};
    bool addGenerationPrompt = false;
    std::vector<std::pair<std::string, chat::Value>>
        variables; ///< what else it may ask for: bos_token, enable_thinking
    std::tm now {}; ///< what strftime_now tells: frozen with a run, so that a sample is the same sample tomorrow
};

/// Bytes of a rendered text.
struct ChatStretch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

struct RenderedChat {
    std::string text;
    std::vector<ChatStretch> generated; ///< what stood in {% generation %}, in order
};

/// The chat template of a model: how a conversation becomes text. Templates come with models from anywhere, so a
/// rendering is bounded in steps, memory, nesting and output. Immutable; const methods are thread-safe.
class ChatTemplate {
public:
    /// @param source  in the template language of tokenizer_config.json (Jinja2, as transformers sets it up)
    static Result<std::shared_ptr<const ChatTemplate>> parse(std::string_view source);
    ~ChatTemplate();

    /// An error says in which line it failed, or for which reason the template refuses the conversation.
    Result<RenderedChat> render(const ChatInputs& inputs) const;
    /// Whether it says by {% generation %} what the assistant writes.
    bool marksGeneration() const;
    const std::string& source() const;

private:
    struct Parsed;
    explicit ChatTemplate(std::unique_ptr<Parsed> parsed);
    std::unique_ptr<Parsed> parsed_;
};

} // namespace furrow
