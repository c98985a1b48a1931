// The manual page and the completion of shells, made from the same descriptions as --help, so that they cannot disagree
// with it.

#include "app/furrowctl/command.h"

#include <iostream>

namespace furrow::ctl {

namespace {

struct Word {
    std::string name;
    std::string help;
    std::vector<std::string> values; ///< what may follow an option; empty: anything
};

/// What can stand behind a command: `path` is "" for furrowctl itself, "tokenizer train" for a command inside one.
struct Level {
    std::string path;
    const CLI::App* command = nullptr;
    std::vector<Word> commands;
    std::vector<Word> options;
};

/// What a person is meant to type; an empty group hides a command in --help too.
bool isShown(const CLI::App* command) { return !command->get_group().empty(); }

std::vector<const CLI::App*> shownCommands(const CLI::App& app)
{
    return app.get_subcommands([](const CLI::App* command) { return isShown(command); });
}

std::vector<std::string> valuesOf(const std::string& option)
{
    for (const auto& setting : settings()) {
        if (setting.option() != option)
            continue;
        return std::holds_alternative<bool RunConfig::*>(setting.field) ? std::vector<std::string> { "true", "false" }
                                                                        : setting.choiceValues();
    }
    return {};
}

void addLevel(const CLI::App& command, const std::string& path, std::vector<Level>& levels)
{
    Level level { path, &command, {}, {} };
    for (const auto* option : command.get_options())
        for (const auto& name : option->get_lnames())
            level.options.push_back({ "--" + name, option->get_description(), valuesOf("--" + name) });
    const auto inner = shownCommands(command);
    for (const auto* one : inner)
        level.commands.push_back({ one->get_name(), one->get_description(), {} });
    levels.push_back(std::move(level));
    for (const auto* one : inner)
        addLevel(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), levels);
}

std::string joined(const std::vector<std::string>& words)
{
    std::string text;
    for (const auto& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

std::string namesOf(const Level& level)
{
    std::vector<std::string> names;
    for (const auto* words : { &level.commands, &level.options })
        for (const auto& word : *words)
            names.push_back(word.name);
    return joined(names);
}

/// The body that bash and zsh share (to zsh `path` is $PATH): `place` grows by each word that is a command, then names
/// what may follow.
void writeShellBody(const std::vector<Level>& levels)
{
    std::cout << "    local word place= names=\n"
                 "    for word in \"${words[@]:1:$((cword-1))}\"; do\n"
                 "        case \"$place $word\" in\n"
                 "            ";
    for (std::size_t i = 1; i < levels.size(); ++i)
        std::cout << (i == 1 ? "" : "|") << '"' << (levels[i].path.find(' ') == std::string::npos ? " " : "")
                  << levels[i].path << '"';
    std::cout << ") place=\"${place:+$place }$word\" ;;\n"
                 "        esac\n"
                 "    done\n"
                 "    case \"$previous\" in\n";
    for (const auto& setting : settings())
        if (const auto values = valuesOf(setting.option()); !values.empty())
            std::cout << "        " << setting.option() << ") names=\"" << joined(values) << "\" ;;\n";
    std::cout << "        *) case \"$place\" in\n";
    for (const auto& level : levels)
        std::cout << "            \"" << level.path << "\") names=\"" << namesOf(level) << "\" ;;\n";
    std::cout << "        esac ;;\n"
                 "    esac\n";
}

void writeBash(const std::vector<Level>& levels)
{
    std::cout
        << "# bash completion for furrowctl; made by `furrowctl completion bash`.\n"
           "_furrowctl() {\n"
           "    local words=(\"${COMP_WORDS[@]}\") cword=$COMP_CWORD current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n";
    writeShellBody(levels);
    std::cout << "    COMPREPLY=($(compgen -W \"$names\" -- \"$current\"))\n"
                 "}\n"
                 "complete -o default -F _furrowctl furrowctl\n";
}

void writeZsh(const std::vector<Level>& levels)
{
    std::cout << "#compdef furrowctl\n"
                 "# zsh completion for furrowctl; made by `furrowctl completion zsh`.\n"
                 "_furrowctl() {\n"
                 "    setopt localoptions ksharrays\n" // arrays begin at 0, as in bash
                 "    local cword=$((CURRENT-1)) previous=${words[$((CURRENT-2))]}\n";
    writeShellBody(levels);
    std::cout << "    compadd -- ${=names}\n"
                 "    _files\n"
                 "}\n"
                 "compdef _furrowctl furrowctl\n";
}

std::string quotedForFish(const std::string& text)
{
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return quoted + "'";
}

/// True in fish when all words of a path were typed, and none of the commands that may follow it.
std::string fishCondition(const Level& level)
{
    std::string condition;
    for (std::size_t at = 0; at < level.path.size();) {
        const auto end = std::min(level.path.find(' ', at), level.path.size());
        condition
            += (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + level.path.substr(at, end - at));
        at = end + 1;
    }
    std::vector<std::string> inner;
    for (const auto& command : level.commands)
        inner.push_back(command.name);
    if (!inner.empty())
        condition += (condition.empty() ? "" : "; and ") + ("not __fish_seen_subcommand_from " + joined(inner));
    return quotedForFish(condition);
}

void writeFish(const std::vector<Level>& levels)
{
    std::cout << "# fish completion for furrowctl; made by `furrowctl completion fish`.\n";
    for (const auto& level : levels) {
        const auto condition = fishCondition(level);
        for (const auto& command : level.commands)
            std::cout << "complete -c furrowctl -n " << condition << " -a " << command.name << " -d "
                      << quotedForFish(command.help) << "\n";
        for (const auto& option : level.options)
            std::cout << "complete -c furrowctl -n " << condition << " -l " << option.name.substr(2)
                      << (option.values.empty() ? "" : " -x -a " + quotedForFish(joined(option.values))) << " -d "
                      << quotedForFish(option.help) << "\n";
    }
}

/// Text for troff: a hyphen is a minus there, and a line may not begin with a dot or an apostrophe.
std::string troff(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
            out += std::string("\\&") + c;
        else
            out += c;
    }
    return out;
}

void writeOptions(const CLI::App& command)
{
    for (const auto* option : command.get_options()) {
        const bool positional = option->get_lnames().empty() && option->get_snames().empty();
        std::cout << ".TP\n.B " << troff(positional ? option->get_name(true) : option->get_name(false, true)) << "\n"
                  << troff(option->get_description()) << "\n";
    }
}

void writeManual(const std::vector<Level>& levels)
{
    std::cout << ".TH FURROWCTL 1 \"\" \"Furrow " FURROW_VERSION "\" \"User commands\"\n"
                 ".SH NAME\nfurrowctl \\- train language models, watch, resume and audit runs\n"
                 ".SH SYNOPSIS\n.B furrowctl\n.I COMMAND\n[\\fIOPTION\\fR ...]\n"
                 ".SH DESCRIPTION\n"
              << troff(levels.front().command->get_description()) << "\n.SH COMMANDS\n";
    for (std::size_t i = 1; i < levels.size(); ++i) {
        std::cout << ".SS " << troff(levels[i].path) << "\n" << troff(levels[i].command->get_description()) << "\n";
        writeOptions(*levels[i].command);
    }
    std::cout
        << ".SH ENVIRONMENT\n.TP\n.B FURROW_WORKSPACE\nFolder of runs when a command names none; otherwise ~/furrow.\n"
           ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 130 stopped by you.\n";
}

std::vector<Level> levelsOf(const CLI::App& app)
{
    std::vector<Level> levels;
    addLevel(app, "", levels);
    return levels;
}

} // namespace

void addDescribeCommands(CLI::App& app, Chosen& chosen)
{
    auto shell = std::make_shared<std::string>();
    auto* completion = app.add_subcommand(
        "completion", "Completion of commands and options for a shell, e.g. `source <(furrowctl completion bash)`.");
    completion->add_option("shell", *shell, "bash, zsh or fish.")->required();
    completion->callback([&app, &chosen, shell] {
        chosen.action = [&app, shell] {
            const std::map<std::string, void (*)(const std::vector<Level>&)> writers { { "bash", writeBash },
                { "zsh", writeZsh }, { "fish", writeFish } };
            const auto writer = writers.find(*shell);
            if (writer == writers.end())
                return failUsage("There is no completion for '" + *shell + "'. Choose bash, zsh or fish.");
            writer->second(levelsOf(app));
            return int(kDone);
        };
    });
    auto* manual = app.add_subcommand("manual", "This program's manual page, e.g. `furrowctl manual | man -l -`.");
    manual->callback([&app, &chosen] {
        chosen.action = [&app] {
            writeManual(levelsOf(app));
            return int(kDone);
        };
    });
}

} // namespace furrow::ctl
