#include "app/describe.h"

#include <algorithm>
#include <cctype>
#include <iostream>

namespace furrow {

namespace {

struct Word {
    std::string name;
    std::string help;
    std::vector<std::string> values; ///< what may follow an option; empty: anything
};

/// What can stand behind a command: `path` is "" for the program itself, "tokenizer train" for a command inside one.
struct Level {
    std::string path;
    const CLI::App* command = nullptr;
    std::vector<Word> commands;
    std::vector<Word> options;
};

/// A program with all its commands; the first level is itself.
struct Program {
    std::string name;
    std::vector<Level> levels;
};

/// What a person is meant to type; an empty group hides it in --help too.
template <typename Described> bool isShown(const Described* described) { return !described->get_group().empty(); }

std::vector<const CLI::App*> shownCommands(const CLI::App& app)
{
    return app.get_subcommands([](const CLI::App* command) { return isShown(command); });
}

/// CLI::IsMember puts what it allows into the name of the type: "TEXT:{dark,light}".
std::vector<std::string> checkedValues(const CLI::Option& option)
{
    const std::string type = option.get_type_name();
    const auto open = type.find('{');
    const auto close = type.find('}');
    if (open == std::string::npos || close == std::string::npos)
        return {};
    return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

void addLevel(
    const CLI::App& command, const std::string& path, const ValuesOfOption& values, std::vector<Level>& levels)
{
    Level level { path, &command, {}, {} };
    for (const auto* option : command.get_options()) {
        for (const auto& name : option->get_lnames()) {
            if (!isShown(option))
                continue;
            auto allowed = values ? values("--" + name) : std::vector<std::string>();
            if (allowed.empty())
                allowed = checkedValues(*option);
            level.options.push_back({ "--" + name, option->get_description(), std::move(allowed) });
        }
    }
    const auto inner = shownCommands(command);
    for (const auto* one : inner)
        level.commands.push_back({ one->get_name(), one->get_description(), {} });
    levels.push_back(std::move(level));
    for (const auto* one : inner)
        addLevel(*one, path.empty() ? one->get_name() : path + " " + one->get_name(), values, levels);
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
void writeShellBody(const Program& program)
{
    std::cout << "    local word place= names=\n"
                 "    for word in \"${words[@]:1:$((cword-1))}\"; do\n"
                 "        case \"$place $word\" in\n"
                 "            ";
    for (std::size_t i = 1; i < program.levels.size(); ++i) {
        const auto& path = program.levels[i].path;
        std::cout << (i == 1 ? "" : "|") << '"' << (path.find(' ') == std::string::npos ? " " : "") << path << '"';
    }
    std::cout << (program.levels.size() == 1 ? "\"\"" : "") // a pattern that no word is
              << ") place=\"${place:+$place }$word\" ;;\n"
                 "        esac\n"
                 "    done\n"
                 "    case \"$place $previous\" in\n";
    for (const auto& level : program.levels)
        for (const auto& option : level.options)
            if (!option.values.empty())
                std::cout << "        \"" << level.path << ' ' << option.name << "\") names=\"" << joined(option.values)
                          << "\" ;;\n";
    std::cout << "        *) case \"$place\" in\n";
    for (const auto& level : program.levels)
        std::cout << "            \"" << level.path << "\") names=\"" << namesOf(level) << "\" ;;\n";
    std::cout << "        esac ;;\n"
                 "    esac\n";
}

/// The name of the shell function: a hyphen in it is not understood everywhere.
std::string functionOf(const Program& program)
{
    std::string name = "_" + program.name;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

void writeBash(const Program& program)
{
    std::cout
        << "# bash completion for " << program.name << "; made from its --help.\n"
        << functionOf(program)
        << "() {\n"
           "    local words=(\"${COMP_WORDS[@]}\") cword=$COMP_CWORD current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n";
    writeShellBody(program);
    std::cout << "    COMPREPLY=($(compgen -W \"$names\" -- \"$current\"))\n"
                 "}\n"
                 "complete -o default -F "
              << functionOf(program) << ' ' << program.name << "\n";
}

void writeZsh(const Program& program)
{
    std::cout << "#compdef " << program.name << "\n# zsh completion for " << program.name << "; made from its --help.\n"
              << functionOf(program)
              << "() {\n"
                 "    setopt localoptions ksharrays\n" // arrays begin at 0, as in bash
                 "    local cword=$((CURRENT-1)) previous=${words[$((CURRENT-2))]}\n";
    writeShellBody(program);
    std::cout << "    compadd -- ${=names}\n"
                 "    _files\n"
                 "}\n"
                 "compdef "
              << functionOf(program) << ' ' << program.name << "\n";
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

void writeFish(const Program& program)
{
    const std::string complete = "complete -c " + program.name;
    std::cout << "# fish completion for " << program.name << "; made from its --help.\n";
    for (const auto& level : program.levels) {
        const auto condition = fishCondition(level);
        const std::string where = condition == "''" ? std::string() : " -n " + condition;
        for (const auto& command : level.commands)
            std::cout << complete << where << " -a " << command.name << " -d " << quotedForFish(command.help) << "\n";
        for (const auto& option : level.options)
            std::cout << complete << where << " -l " << option.name.substr(2)
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
        if (!isShown(option))
            continue;
        const bool positional = option->get_lnames().empty() && option->get_snames().empty();
        std::cout << ".TP\n.B " << troff(positional ? option->get_name(true) : option->get_name(false, true)) << "\n"
                  << troff(option->get_description()) << "\n";
    }
}

std::string inCapitals(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

void writeManual(const Program& program)
{
    const auto& app = *program.levels.front().command;
    const bool commands = program.levels.size() > 1;
    std::cout << ".TH " << troff(inCapitals(program.name)) << " 1 \"\" \"Furrow " FURROW_VERSION
              << "\" \"User commands\"\n.SH NAME\n"
              << troff(program.name) << " \\- " << troff(app.get_description()) << "\n.SH SYNOPSIS\n.B "
              << troff(program.name) << "\n"
              << (commands ? ".I COMMAND\n" : "") << "[\\fIOPTION\\fR ...]\n.SH OPTIONS\n";
    writeOptions(app);
    for (std::size_t i = 1; i < program.levels.size(); ++i) {
        std::cout << (i == 1 ? ".SH COMMANDS\n" : "") << ".SS " << troff(program.levels[i].path) << "\n"
                  << troff(program.levels[i].command->get_description()) << "\n";
        writeOptions(*program.levels[i].command);
    }
    if (!app.get_footer().empty())
        std::cout << ".SH NOTES\n" << troff(app.get_footer()) << "\n";
}

} // namespace

bool describeProgram(const CLI::App& app, const std::string& what, const ValuesOfOption& values)
{
    const std::map<std::string, void (*)(const Program&)> writers { { "manual", writeManual }, { "bash", writeBash },
        { "zsh", writeZsh }, { "fish", writeFish } };
    const auto writer = writers.find(what);
    if (writer == writers.end())
        return false;
    Program program { app.get_name(), {} };
    addLevel(app, "", values, program.levels);
    writer->second(program);
    return true;
}

void addDescribeOption(CLI::App& app, const ValuesOfOption& values)
{
    app.add_option_function<std::string>("--describe",
           [&app, values](const std::string& what) {
               if (!describeProgram(app, what, values))
                   throw CLI::ValidationError("--describe", "choose manual, bash, zsh or fish, not '" + what + "'");
               throw CLI::Success();
           })
        ->group("");
}

} // namespace furrow
