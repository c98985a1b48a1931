#include "core/chat/pair_text.h"

#include "core/base/sentence.h"
#include "core/chat/row_problems.h"

#include <algorithm>

namespace furrow {

namespace {

Error refused(const Error& why) { return { ErrorCode::InvalidArgument, sentence(kRowRefused, { why.message }) }; }

} // namespace

Result<PairText> writePair(const AnswerPair& pair, const ConversationRenderer* renderer)
{
    if (pair.isText)
        return PairText { pair.prompt, pair.prompt + pair.chosen, pair.prompt + pair.rejected };
    if (renderer == nullptr)
        return Error { ErrorCode::InvalidArgument, sentence(kRowNoTemplate) };
    auto prompt = renderer->prompt(pair.chosen, pair.promptMessages);
    if (!prompt.ok())
        return refused(prompt.error());
    auto chosen = renderer->whole(pair.chosen);
    if (!chosen.ok())
        return refused(chosen.error());
    auto rejected = renderer->whole(pair.rejected);
    if (!rejected.ok())
        return refused(rejected.error());
    return PairText { std::move(prompt).value(), std::move(chosen).value(), std::move(rejected).value() };
}

ConversationText shownPair(const PairText& pair)
{
    ConversationText shown;
    for (const std::string* side : { &pair.chosen, &pair.rejected }) {
        const auto same = std::mismatch(pair.prompt.begin(), pair.prompt.end(), side->begin(), side->end()).first;
        const auto begin = shown.text.size() + static_cast<std::size_t>(same - pair.prompt.begin());
        shown.text += *side;
        if (begin < shown.text.size())
            shown.learnt.push_back({ begin, shown.text.size() });
        if (side == &pair.chosen)
            shown.text += "\n\n";
    }
    return shown;
}

} // namespace furrow
