#include "core/chat/chat_template.h"

#include "core/base/sentence.h"
#include "core/chat/template/evaluator.h"

namespace furrow {

namespace {

constexpr std::size_t kLargestSource = std::size_t(1) << 20;
constexpr std::size_t kParsedBytes = std::size_t(256) << 20; ///< a byte of source becomes at most some 200

} // namespace

struct ChatTemplate::Parsed {
    std::string source;
    chat::Arena arena { kParsedBytes };
    chat::ParsedTemplate tree;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Parsed> parsed)
    : parsed_(std::move(parsed))
{
}

ChatTemplate::~ChatTemplate() = default;

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::parse(std::string_view source)
{
    if (source.size() > kLargestSource)
        return Error { ErrorCode::InvalidArgument, sentence("the chat template is larger than 1 MiB") };
    auto parsed = std::make_unique<Parsed>();
    parsed->source = source;
    FURROW_TRY_ASSIGN(parsed->tree, chat::parseTemplate(parsed->source, parsed->arena));
    return std::shared_ptr<const ChatTemplate>(new ChatTemplate(std::move(parsed)));
}

Result<RenderedChat> ChatTemplate::render(const ChatInputs& inputs) const
{
    const chat::Limits limits;
    chat::Arena arena(limits.memoryBytes);
    chat::Evaluator evaluator(parsed_->tree, arena, limits, inputs.now);
    evaluator.define("messages", inputs.messages);
    evaluator.define("tools", inputs.tools);
    evaluator.define("documents", chat::None {});
    evaluator.define("add_generation_prompt", inputs.addGenerationPrompt);
    for (const auto& [name, value] : inputs.variables)
        evaluator.define(name, value);
    evaluator.run();
    if (evaluator.failed())
        return evaluator.error();
    RenderedChat rendered { evaluator.takeOutput(), {} };
    for (const auto& stretch : evaluator.generated())
        rendered.generated.push_back({ stretch.begin, stretch.end });
    return rendered;
}

bool ChatTemplate::marksGeneration() const { return parsed_->tree.marksGeneration; }
const std::string& ChatTemplate::source() const { return parsed_->source; }

} // namespace furrow
