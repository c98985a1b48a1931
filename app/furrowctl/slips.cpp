#include "app/furrowctl/slips.h"

#include "app/furrowctl/command.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/run/folder/run_paths.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <vector>

namespace furrow::ctl {

namespace {

constexpr std::size_t kMostMeant = 3;

/// The one that the words of the person belong to: the innermost that was named.
const CLI::App& chosenCommand(const CLI::App& app)
{
    const auto named = app.get_subcommands();
    return named.empty() ? app : chosenCommand(*named.back());
}

std::string fullName(const CLI::App& command)
{
    const CLI::App* parent = command.get_parent();
    return parent == nullptr ? command.get_name() : fullName(*parent) + " " + command.get_name();
}

/// Letters to add, drop, change or swap with their neighbour, so that one word becomes the other.
std::size_t slipsBetween(std::string_view a, std::string_view b)
{
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i)
        cost[i][0] = i;
    std::iota(cost[0].begin(), cost[0].end(), std::size_t(0));
    for (std::size_t i = 1; i <= a.size(); ++i)
        for (std::size_t j = 1; j <= b.size(); ++j) {
            cost[i][j] = std::min(
                { cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1) });
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a.size()][b.size()];
}

/// The known words that are nearest to a mistyped one: some letters away, or the same with something behind it.
std::vector<std::string> nearestTo(const std::string& word, const std::vector<std::string>& known)
{
    constexpr std::size_t kTail = 1; // "--epoch" is nearer to "--epochs" than any other slip
    const std::size_t most = std::max<std::size_t>(1, word.size() / 4);
    std::vector<std::string> nearest;
    std::size_t least = most + 1;
    for (const std::string& one : known) {
        const bool isTail = one.starts_with(word) || (word.starts_with(one) && one.size() > 4);
        const std::size_t slips = isTail ? kTail : slipsBetween(word, one);
        if (slips > most || slips > least)
            continue;
        if (slips < least)
            nearest.clear();
        least = slips;
        nearest.push_back(one);
    }
    if (nearest.size() > kMostMeant)
        nearest.resize(kMostMeant);
    return nearest;
}

/// " Did you mean --a or --b?"; "" where nothing is near.
std::string meant(const std::vector<std::string>& nearest)
{
    std::string names;
    for (const std::string& one : nearest)
        names += (names.empty() ? "" : " or ") + one;
    return names.empty() ? names : " Did you mean " + names + "?";
}

std::vector<std::string> optionsOf(const CLI::App& command)
{
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames())
            names.push_back("--" + name);
    return names;
}

bool hasOption(const CLI::App& command, const std::string& name)
{
    return command.get_option_no_throw(name) != nullptr;
}

/// It names files in some way, or is one.
bool looksLikeData(const std::string& word)
{
    std::error_code unknown;
    return word.find_first_of("/\\*?.") != std::string::npos || std::filesystem::exists(pathFromUtf8(word), unknown);
}

std::string help(const CLI::App& command) { return " `" + fullName(command) + " --help` lists what it takes."; }

std::string unknownOption(const CLI::App& command, const std::string& word)
{
    const std::string option = word.substr(0, word.find('='));
    const std::string said = fullName(command) + " has no option " + option + ".";
    const auto nearest = nearestTo(option, optionsOf(command));
    if (!nearest.empty())
        return said + meant(nearest);
    const auto& all = settings();
    const bool isSetting
        = std::any_of(all.begin(), all.end(), [&](const Setting& setting) { return setting.option() == option; });
    if (isSetting && command.get_name() == "resume")
        return said + " It is set when a run is made, and holds for all of it.";
    return said + help(command);
}

/// Words that no option and no place of the command takes, each kind in a sentence.
std::string notTaken(const CLI::App& command, const std::vector<std::string>& words)
{
    std::string said;
    for (const std::string& word : words)
        if (word.starts_with("-") && word.size() > 1)
            said += (said.empty() ? "" : " ") + unknownOption(command, word);
    if (!said.empty()) // what stands behind such an option is probably its value
        return said;
    if (hasOption(command, "--data") && looksLikeData(words.front())) {
        std::string data;
        for (const std::string& word : words)
            data += " " + word;
        return "'" + words.front() + "' stands alone. Data is named by an option: " + fullName(command) + " --data"
            + data;
    }
    std::string names;
    for (const std::string& word : words)
        names += (names.empty() ? "'" : ", '") + word + "'";
    return fullName(command) + " does not take " + names + "." + help(command);
}

/// The first place without an option's name that must be filled and is not.
const CLI::Option* missingPlace(const CLI::App& command)
{
    for (const CLI::Option* option : command.get_options())
        if (option->get_positional() && option->get_required() && option->count() == 0)
            return option;
    return nullptr;
}

std::string lacks(const CLI::App& command, const CLI::Option& place)
{
    const std::string name = place.get_name();
    std::string said = fullName(command) + " needs " + name + ": " + place.get_description();
    if (name == "run" || name == "runs")
        said += " `furrowctl list` shows the runs.";
    return said;
}

/// What the places "run" and "runs" of a command were given.
std::vector<std::string> runsGiven(const CLI::App& command)
{
    std::vector<std::string> found;
    for (const CLI::Option* option : command.get_options())
        if (option->get_positional() && (option->get_name() == "run" || option->get_name() == "runs"))
            found.insert(found.end(), option->results().begin(), option->results().end());
    return found;
}

} // namespace

std::string unknownCommand(const CLI::App& app, std::span<const std::string> words)
{
    const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
    if (commands.empty() || words.empty() || words.front().starts_with("-"))
        return {};
    std::vector<std::string> names;
    for (const CLI::App* command : commands) {
        if (command->get_name() == words.front())
            return unknownCommand(*command, words.subspan(1));
        names.push_back(command->get_name());
    }
    return "'" + words.front() + "' is no command of " + fullName(app) + "." + meant(nearestTo(words.front(), names))
        + " `" + fullName(app) + " --help` lists them.";
}

std::string slipInWords(const CLI::App& app, const CLI::ParseError& error)
{
    const CLI::App& command = chosenCommand(app);
    if (const auto words = command.remaining(); dynamic_cast<const CLI::ExtrasError*>(&error) && !words.empty())
        return notTaken(command, words);
    if (const auto* place = missingPlace(command); dynamic_cast<const CLI::RequiredError*>(&error) && place)
        return lacks(command, *place);
    return error.what();
}

std::optional<Error> runIsInWorkspace(const CLI::App& app)
{
    const CLI::App& command = chosenCommand(app);
    const auto* option = command.get_option_no_throw("--workspace");
    const std::string workspace = option && option->count() > 0 ? option->results().back() : defaultWorkspace();
    std::error_code unknown;
    for (const std::string& name : runsGiven(command)) {
        if (name.empty() || pathFromUtf8(name).filename() != pathFromUtf8(name)
            || std::filesystem::exists(pathFromUtf8(name), unknown))
            continue;
        const RunPaths there(pathFromUtf8(workspace) / pathFromUtf8(name));
        if (std::filesystem::exists(there.configFile(), unknown))
            return Error { ErrorCode::NotFound,
                sentence("There is no %1 in the current folder. The run of that name is %2.",
                    { name, utf8Text(there.folder()) }) };
    }
    return std::nullopt;
}

bool wantsJson(const CLI::App& app)
{
    const auto* json = chosenCommand(app).get_option_no_throw("--json");
    return json != nullptr && json->count() > 0;
}

} // namespace furrow::ctl
