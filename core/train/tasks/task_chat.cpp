// chat: a talk with a model, line by line on a terminal, or as JSON lines for a program.
//
// JSON lines, in: {"say": TEXT}, with "tokens", "temperature", "top_k", "top_p" and "seed" where they differ from those
// of the command; {"stop": true} ends the answer under way; {"forget": true} ends what was said so far. Out:
// {"weights": {...}} at first and whenever newer ones are taken, {"token": {...}} for each token, {"answer": {...}} at
// the end of an answer, {"error": TEXT, "message": {...}} for what cannot be answered. The end of the input ends it
// all.

#include "core/base/sentence.h"
#include "core/config/message_json.h"
#include "core/train/tasks/talk_torch.h"

#include <condition_variable>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>

namespace furrow {

namespace {

constexpr std::size_t kMostInput = 1 << 20; // of a line
constexpr int kLikeliest = 5;
constexpr auto kPatience = std::chrono::milliseconds(100);

/// The lines of standard input. A thread of its own reads them, so that one can arrive while an answer is written.
class Input {
public:
    Input()
        : shared_(std::make_shared<Shared>())
    {
        std::thread([shared = shared_] { // it may wait for a line when all else is over, so nobody joins it
            for (std::string line; std::getline(std::cin, line);)
                shared->add(line.size() > kMostInput ? std::string() : line);
            shared->close();
        })
            .detach();
    }
    /// The next line; nothing when there is none any more.
    std::optional<std::string> next(const std::function<bool()>& stopRequested)
    {
        std::unique_lock lock(shared_->mutex);
        while (shared_->lines.empty() && !shared_->isOver && !stopRequested())
            shared_->came.wait_for(lock, kPatience);
        if (shared_->lines.empty())
            return std::nullopt;
        auto line = std::move(shared_->lines.front());
        shared_->lines.pop_front();
        return line;
    }
    /// Whether the input is over or its next line asks for the end of an answer, which is taken then.
    bool asksToStop()
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->lines.empty())
            return shared_->isOver;
        const auto request = nlohmann::json::parse(shared_->lines.front(), nullptr, false);
        if (!request.is_object() || !request.contains("stop"))
            return false;
        shared_->lines.pop_front();
        return true;
    }

private:
    struct Shared {
        std::mutex mutex;
        std::condition_variable came;
        std::deque<std::string> lines;
        bool isOver = false;

        void add(std::string line)
        {
            const std::lock_guard lock(mutex);
            lines.push_back(std::move(line));
            came.notify_one();
        }
        void close()
        {
            const std::lock_guard lock(mutex);
            isOver = true;
            came.notify_one();
        }
    };
    std::shared_ptr<Shared> shared_;
};

/// Takes a number of a request where it is one.
template <typename T> void take(const nlohmann::json& request, const char* key, T& into)
{
    if (const auto found = request.find(key); found != request.end() && found->is_number())
        into = found->get<T>();
}

SampleOptions asAsked(SampleOptions sample, const nlohmann::json& request)
{
    take(request, "tokens", sample.maxTokens);
    take(request, "temperature", sample.temperature);
    take(request, "top_k", sample.topK);
    take(request, "top_p", sample.topP);
    take(request, "seed", sample.seed);
    sample.likeliest = kLikeliest;
    return sample;
}

nlohmann::json weightsLine(const Talk& talk)
{
    const LoadedRun& run = talk.run();
    return { { "weights",
        { { "checkpoint", run.checkpoint }, { "step", run.state.step }, { "whose", weightsJson(run) },
            { "chat_format", talk.hasFormat() }, { "context", run.learner->model()->config().contextLength } } } };
}

nlohmann::json tokenLine(const std::string& piece, const DrawnToken& token, const Tokenizer& tokenizer)
{
    auto others = nlohmann::json::array();
    for (const auto& chance : token.likeliest) {
        const TokenId id = static_cast<TokenId>(chance.token);
        others.push_back({ tokenizer.decode({ &id, 1 }), chance.probability });
    }
    return { { "token", { { "text", piece }, { "probability", token.probability }, { "likeliest", others } } } };
}

nlohmann::json answerLine(const WrittenText& answer, const std::string& unknown)
{
    return { { "answer",
        { { "text", answer.text }, { "tokens", answer.tokens }, { "tokens_per_s", answer.tokensPerSecond },
            { "ended", answer.ended }, { "unknown_characters", unknown } } } };
}

void talkInLines(Talk& talk, const TaskOptions& options, const TaskOutput& output,
    const std::function<bool()>& stopRequested, std::int64_t& asked)
{
    const auto tell = [&output](const nlohmann::json& line) {
        output(line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
    };
    const auto refuse = [&tell](const Message& why) { tell({ { "error", why.text() }, { "message", toJson(why) } }); };
    const Tokenizer& tokenizer = *talk.run().tokenizer;
    Input input;
    tell(weightsLine(talk));
    while (const auto line = input.next(stopRequested)) {
        const auto request = nlohmann::json::parse(*line, nullptr, false);
        if (!request.is_object()) {
            refuse(sentence("a line of the input is not a JSON object"));
            continue;
        }
        if (request.contains("forget"))
            talk.forget();
        const auto said = request.find("say");
        if (said == request.end())
            continue;
        if (!said->is_string()) {
            refuse(sentence("a line of the input has no text under '%1'", { "say" }));
            continue;
        }
        if (talk.follow())
            tell(weightsLine(talk));
        ++asked;
        const auto text = said->get<std::string>();
        const auto answer = talk.answer(
            text, asAsked(sampleOptionsOf(options), request), [&](const std::string& piece, const DrawnToken& token) {
                tell(tokenLine(piece, token, tokenizer));
                return !input.asksToStop() && !stopRequested();
            });
        if (answer.ok())
            tell(answerLine(answer.value(), unknownIn(text, tokenizer)));
        else
            refuse(answer.error().message);
    }
}

void talkOnTerminal(Talk& talk, const TaskOptions& options, const TaskOutput& output,
    const std::function<bool()>& stopRequested, std::int64_t& asked)
{
    const auto whose = [&talk]() -> std::string {
        const auto& run = talk.run();
        return run.newest ? run.checkpoint + " (" + whoseWeights(*run.newest).text() + ")" : run.checkpoint;
    };
    output(whose()
        + (talk.hasFormat() ? ". Write a line and the model answers in its chat format; /reset forgets, /quit ends.\n> "
                            : ". Write a line and the model goes on; /reset forgets, /quit ends.\n> "));
    for (std::string line; !stopRequested() && std::getline(std::cin, line) && line != "/quit"; output("\n> ")) {
        if (line == "/reset") {
            talk.forget();
            continue;
        }
        if (const auto unknown = unknownIn(line, *talk.run().tokenizer); !unknown.empty())
            output(sentence("(The tokenizer has nothing for: %1)", { unknown }) + "\n");
        if (talk.follow())
            output(sentence("(From here on: %1)", { whose() }) + "\n");
        ++asked;
        const auto answer
            = talk.answer(line, sampleOptionsOf(options), [&](const std::string& piece, const DrawnToken&) {
                  output(piece);
                  return !stopRequested();
              });
        if (!answer.ok())
            output(answer.error().message);
    }
    output("\n");
}

} // namespace

Result<nlohmann::json> chatTask(
    const TaskOptions& options, const TaskOutput& output, const std::function<bool()>& stopRequested)
{
    FURROW_TRY_ASSIGN(auto talk, Talk::open(options));
    std::int64_t asked = 0;
    (options.jsonLines ? talkInLines : talkOnTerminal)(talk, options, output, stopRequested, asked);
    return nlohmann::json { { "checkpoint", talk.run().checkpoint }, { "weights", weightsJson(talk.run()) },
        { "turns", asked } };
}

} // namespace furrow
