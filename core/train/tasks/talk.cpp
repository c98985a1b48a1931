#include "core/train/tasks/talk_torch.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/sentence.h"
#include "core/data/source/data_manifest.h"
#include "core/run/folder/adopted_model.h"
#include "core/train/tasks/text_stream.h"

#include <algorithm>
#include <utility>

namespace furrow {

using Tokens = std::vector<std::int64_t>;

SampleOptions sampleOptionsOf(const TaskOptions& options)
{
    SampleOptions sample;
    sample.maxTokens = options.tokens;
    sample.temperature = options.temperature;
    sample.topK = options.topK;
    sample.topP = options.topP;
    sample.seed = static_cast<std::uint64_t>(options.seed);
    return sample;
}

Result<Tokens> promptTokens(const LoadedRun& run, const TaskOptions& options, const std::string& prompt)
{
    std::vector<TokenId> ids;
    const bool readsSpecial = options.special || !run.isRun();
    FURROW_TRY(readsSpecial ? run.tokenizer->encodeMatchingSpecial(prompt, ids) : run.tokenizer->encode(prompt, ids));
    Tokens tokens(ids.begin(), ids.end());
    if (tokens.empty())
        tokens.push_back(run.tokenizer->endOfText());
    return tokens;
}

Result<std::optional<ChatTurns>> turnsOf(const LoadedRun& run)
{
    FURROW_TRY_ASSIGN(const auto format, chatFormatOfRun(run.setup.paths, run.setup.file));
    if (!format)
        return std::optional<ChatTurns>();
    FURROW_TRY_ASSIGN(const auto origin, originFiles(run.setup.paths, run.setup.file));
    const auto generation = origin.find("generation_config.json");
    FURROW_TRY_ASSIGN(auto turns,
        ChatTurns::open(*format, *run.tokenizer, generation == origin.end() ? std::string() : generation->second));
    return std::optional(std::move(turns));
}

Result<Tokens> promptTokens(const ChatTurns& turns, const std::vector<ChatMessage>& messages)
{
    FURROW_TRY_ASSIGN(const auto ids, turns.prompt(messages));
    return Tokens(ids.begin(), ids.end());
}

std::string unknownIn(const std::string& text, const Tokenizer& tokenizer)
{
    std::string all;
    for (const auto& character : unknownCharacters(text, tokenizer))
        all += (all.empty() ? "" : " ") + character;
    return all;
}

Result<WrittenText> writeText(const LoadedRun& run, const Tokens& prompt, const SampleOptions& sample,
    const std::string& endText, const ShowPiece& show)
{
    std::string piece;
    TextStream text(*run.tokenizer, [&piece](const std::string& more) { piece += more; }, endText);
    bool isOver = false;
    bool isStopped = false;
    const std::int64_t began = systemClock().monotonicNs();
    FURROW_TRY_ASSIGN(
        const auto tokens, sampleText(*run.learner->model(), prompt, sample, [&](const DrawnToken& token) {
            isOver = !text.add(token.token);
            isStopped = !show(std::exchange(piece, {}), token);
            return !isOver && !isStopped;
        }));
    text.finish();
    if (!piece.empty() && !tokens.empty())
        show(piece, { .token = tokens.back() });
    const double seconds = static_cast<double>(systemClock().monotonicNs() - began) / 1e9;
    const auto count = static_cast<std::int64_t>(tokens.size());
    return WrittenText { text.text(), count, static_cast<double>(count) / std::max(seconds, 1e-9),
        isOver || (!isStopped && count < sample.maxTokens) };
}

namespace {

/// Whether each text that a run trains is one line of a file: no line break is a part of any.
Result<bool> isTrainedOnLines(const LoadedRun& run)
{
    const DataMode mode = run.setup.file.config.dataMode;
    if (!run.isRun() || (mode != DataMode::Auto && mode != DataMode::Lines))
        return false;
    FURROW_TRY_ASSIGN(const auto manifest, readManifest(std::string_view(run.setup.file.dataManifest)));
    return std::all_of(manifest.sources.begin(), manifest.sources.end(), [](const DataSource& source) {
        return std::all_of(source.files.begin(), source.files.end(),
            [](const DataFile& file) { return file.format.format == TextFormat::Text; });
    });
}

} // namespace

Result<Talk> Talk::open(const TaskOptions& options)
{
    FURROW_TRY_ASSIGN(auto run, loadRun(options));
    if (!run.learner->model())
        return Error { ErrorCode::InvalidArgument, sentence("the counting model writes no text") };
    Talk talk(std::move(run), options);
    FURROW_TRY_ASSIGN(auto turns, turnsOf(talk.run_));
    if (turns)
        talk.turns_ = std::make_unique<const ChatTurns>(std::move(*turns));
    FURROW_TRY_ASSIGN(const bool isOfLines, isTrainedOnLines(talk.run_));
    talk.knowsLineBreaks_ = !isOfLines && unknownIn("\n", *talk.run_.tokenizer).empty();
    talk.forget();
    return talk;
}

bool Talk::follow()
{
    if (!options_.checkpoint.empty() || !run_.isRun())
        return false;
    const auto newest = newestCheckpoint(run_.setup.paths);
    if (!newest.ok() || newest.value() == run_.checkpoint)
        return false;
    auto fresh = loadRun(options_);
    if (!fresh.ok()) {
        logWarning(fresh.error().message);
        return false;
    }
    run_.learner = std::move(fresh.value().learner);
    run_.checkpoint = std::move(fresh.value().checkpoint);
    run_.newest = std::move(fresh.value().newest);
    run_.state = std::move(fresh.value().state);
    run_.place = std::move(fresh.value().place);
    return true;
}

void Talk::forget()
{
    messages_.clear();
    lines_.clear();
    text_ = options_.prompt;
}

/// Of a model of lines the answer goes on with the line that was said; those of before are texts of their own.
Result<Tokens> Talk::promptWith(const std::string& said) const
{
    if (!turns_) {
        Tokens tokens;
        for (const std::string& line : lines_) {
            FURROW_TRY_ASSIGN(const auto before, promptTokens(run_, options_, line));
            tokens.insert(tokens.end(), before.begin(), before.end());
            tokens.push_back(run_.tokenizer->endOfText());
        }
        FURROW_TRY_ASSIGN(const auto now, promptTokens(run_, options_, text_ + said + (knowsLineBreaks_ ? "\n" : "")));
        tokens.insert(tokens.end(), now.begin(), now.end());
        return tokens;
    }
    auto messages = messages_;
    messages.push_back({ "user", said });
    return promptTokens(*turns_, messages);
}

void Talk::keep(const std::string& said, const std::string& answer)
{
    if (turns_) {
        messages_.push_back({ "user", said });
        messages_.push_back({ "assistant", answer });
    } else if (knowsLineBreaks_) {
        text_ += said + "\n" + answer + "\n";
    } else {
        lines_.push_back(std::exchange(text_, {}) + said + answer);
    }
}

Result<WrittenText> Talk::answer(const std::string& said, SampleOptions sample, const ShowPiece& show)
{
    FURROW_TRY_ASSIGN(const auto prompt, promptWith(said));
    sample.seed += ++asked_;
    sample.stopTokens = { run_.tokenizer->endOfText() };
    if (turns_)
        sample.stopTokens.assign(turns_->endTokens().begin(), turns_->endTokens().end());
    FURROW_TRY_ASSIGN(auto written, writeText(run_, prompt, sample, turns_ ? turns_->endText() : "\n\n", show));
    keep(said, written.text);
    return written;
}

} // namespace furrow
