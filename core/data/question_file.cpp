#include "core/data/question_file.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/config/bounded_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace furrow {

namespace {

constexpr std::size_t kMostChoices = 256;

using Json = nlohmann::json;

/// The first of these keys that the row has with a value; null: none.
const Json* firstOf(const Json& row, std::initializer_list<const char*> keys)
{
    for (const char* key : keys)
        if (const auto found = row.find(key); found != row.end() && !found->is_null())
            return &*found;
    return nullptr;
}

/// Nothing: these are no texts.
std::optional<std::vector<std::string>> textsOf(const Json& list)
{
    std::vector<std::string> texts;
    if (!list.is_array() || list.empty() || list.size() > kMostChoices)
        return {};
    for (const auto& one : list) {
        if (!one.is_string() && !one.is_number())
            return {};
        texts.push_back(one.is_string() ? one.get<std::string>() : one.dump());
    }
    return texts;
}

struct Choices {
    std::vector<std::string> texts;
    std::vector<std::string> labels; ///< "A", "B", ...; empty: none are given
};

std::optional<Choices> choicesOf(const Json& value)
{
    Choices choices;
    const bool isTable = value.is_object() && value.contains("text");
    auto texts = textsOf(isTable ? value["text"] : value);
    if (!texts || texts->size() < 2)
        return {};
    choices.texts = std::move(*texts);
    if (isTable && value.contains("label"))
        if (auto labels = textsOf(value["label"]); labels && labels->size() == choices.texts.size())
            choices.labels = std::move(*labels);
    return choices;
}

/// Where the right choice stands. A number counts from 0; a text is a label, a choice, or such a number.
std::optional<std::size_t> placeOf(const Json& right, const Choices& choices)
{
    const auto within = [&](std::int64_t place) {
        return place >= 0 && place < static_cast<std::int64_t>(choices.texts.size())
            ? std::optional(static_cast<std::size_t>(place))
            : std::nullopt;
    };
    if (right.is_number_integer())
        return within(right.get<std::int64_t>());
    if (!right.is_string())
        return {};
    const auto text = right.get<std::string>();
    for (const auto* names : { &choices.labels, &choices.texts })
        if (const auto found = std::find(names->begin(), names->end(), text); found != names->end())
            return static_cast<std::size_t>(found - names->begin());
    const bool isLetter = text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z';
    if (choices.labels.empty() && isLetter)
        return within(text[0] - 'A');
    const bool isNumber = !text.empty() && text.size() < 4 && text.find_first_not_of("0123456789") == std::string::npos;
    return isNumber ? within(std::stoi(text)) : std::nullopt;
}

/// @return why the row is no question; "" when it is
Message read(const Json& row, KnownQuestion& question)
{
    if (!row.is_object())
        return sentence("it is not a JSON object");
    const Json* prompt = firstOf(row, { "question", "query", "prompt", "context", "ctx", "input" });
    if (prompt == nullptr || !prompt->is_string())
        return sentence("it has no text under 'question', 'query', 'prompt', 'context', 'ctx' or 'input'");
    question.prompt = prompt->get<std::string>();
    if (const Json* listed = firstOf(row, { "choices", "options", "endings" })) {
        auto choices = choicesOf(*listed);
        if (!choices)
            return sentence("its choices are not a list of two or more texts");
        const Json* right = firstOf(row, { "gold", "answer", "label", "answerKey", "target" });
        const auto place = right != nullptr ? placeOf(*right, *choices) : std::nullopt;
        if (!place)
            return sentence("no choice is named by its 'gold', 'answer', 'label', 'answerKey' or 'target'");
        question.choices = std::move(choices->texts);
        question.right = *place;
        question.answer = question.choices[*place];
        return {};
    }
    const Json* answer = firstOf(row, { "answer", "target", "output" });
    if (answer == nullptr || !(answer->is_string() || answer->is_number()))
        return sentence("it has neither choices nor a text under 'answer', 'target' or 'output'");
    question.answer = answer->is_string() ? answer->get<std::string>() : answer->dump();
    return {};
}

Message readLine(std::string_view line, KnownQuestion& question)
{
    if (!isValidUtf8(line))
        return sentence("it is not UTF-8");
    const auto row = parseBoundedJson(line);
    return row.is_discarded() ? sentence("it is broken JSON") : read(row, question);
}

} // namespace

Result<QuestionFile> readQuestions(const std::filesystem::path& path)
{
    FURROW_TRY_ASSIGN(const auto text, readFile(path, kMostQuestionBytes));
    const std::string name = utf8Text(path);
    QuestionFile file;
    std::string_view rest = text;
    if (rest.starts_with("\xEF\xBB\xBF"))
        rest.remove_prefix(3);
    for (std::int64_t number = 1; !rest.empty(); ++number) {
        const auto end = std::min(rest.find('\n'), rest.size());
        const auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos)
            continue;
        KnownQuestion question { .line = number };
        if (const auto problem = readLine(line, question); !problem.empty()) {
            if (file.unusable++ == 0)
                file.firstUnusable = sentence("line %1 of %2: %3", { std::to_string(number), name, problem });
            continue;
        }
        if (!file.questions.empty() && question.isMultipleChoice() != file.isMultipleChoice())
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "Line %1 of %2 is of another kind than line %3: some questions have choices, others an answer to be written. Put them into two files.",
                    { std::to_string(number), name, std::to_string(file.questions.front().line) }) };
        file.questions.push_back(std::move(question));
    }
    if (file.questions.empty())
        return Error { ErrorCode::InvalidArgument,
            file.unusable == 0
                ? sentence("%1 holds no questions.", { name })
                : sentence("No line of %1 is a question. The first: %2.", { name, file.firstUnusable }) };
    return file;
}

} // namespace furrow
