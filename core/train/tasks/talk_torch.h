#pragma once

#include "core/data/chat_turns.h"
#include "core/train/sample/sampler_torch.h"
#include "core/train/tasks/tasks_torch.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furrow {

SampleOptions sampleOptionsOf(const TaskOptions& options);

/// The tokens that a prompt stands for; end-of-text for one without any. Special tokens that are written in it are
/// taken as such with --special, and for a model without a run, as transformers does.
Result<std::vector<std::int64_t>> promptTokens(
    const LoadedRun& run, const TaskOptions& options, const std::string& prompt);

/// How the model of a run is talked to; nothing where it has no chat template.
Result<std::optional<ChatTurns>> turnsOf(const LoadedRun& run);
/// Up to where the assistant goes on.
Result<std::vector<std::int64_t>> promptTokens(const ChatTurns& turns, const std::vector<ChatMessage>& messages);

/// The characters of a text that the tokenizer has nothing for, with blanks between them; "" for none.
std::string unknownIn(const std::string& text, const Tokenizer& tokenizer);

struct WrittenText {
    std::string text;
    std::int64_t tokens = 0;
    double tokensPerSecond = 0;
    bool ended = false; ///< by the model itself, neither by a limit nor by a person
};
/// @param piece  text that can be shown, "" while a character needs more tokens; false ends the text
using ShowPiece = std::function<bool(const std::string& piece, const DrawnToken& token)>;

/// Lets the model go on from a prompt.
/// @param endText  ends the text too and does not belong to it; "": nothing does
Result<WrittenText> writeText(const LoadedRun& run, const std::vector<std::int64_t>& prompt,
    const SampleOptions& sample, const std::string& endText, const ShowPiece& show);

/// A model that is talked to, and what was said so far. In its chat format where it has one; without it both go on
/// with one text, and an answer ends with an empty line. A model that was trained on lines knows no line break: it goes
/// on with what was said, up to the end of the line. One thread.
class Talk {
public:
    /// Loads the weights, which takes as long as it takes.
    static Result<Talk> open(const TaskOptions& options);

    const LoadedRun& run() const { return run_; }
    bool hasFormat() const { return turns_ != nullptr; }
    /// Takes the newest weights of a run that has trained on, when no checkpoint was named; what was said stays. Ones
    /// that cannot be read are left alone: the talk goes on with those that it has. @return whether it took any
    bool follow();
    void forget();
    /// What was answered until then is part of what was said, however it ended. The seed of each answer is another one.
    Result<WrittenText> answer(const std::string& said, SampleOptions sample, const ShowPiece& show);

private:
    explicit Talk(LoadedRun run, const TaskOptions& options)
        : run_(std::move(run))
        , options_(options)
    {
    }
    Result<std::vector<std::int64_t>> promptWith(const std::string& said) const;
    void keep(const std::string& said, const std::string& answer);

    LoadedRun run_;
    TaskOptions options_;
    std::unique_ptr<const ChatTurns> turns_; ///< of run_.tokenizer, which stays
    std::vector<ChatMessage> messages_; ///< with turns_
    std::string text_; ///< without
    std::vector<std::string> lines_; ///< of a model that knows no line break: each turn with its answer
    bool knowsLineBreaks_ = true;
    std::uint64_t asked_ = 0;
};

} // namespace furrow
