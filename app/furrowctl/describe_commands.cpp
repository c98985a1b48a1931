// The manual page and the completion of shells (app/describe.h).

#include "app/describe.h"

#include "app/furrowctl/command.h"
#include "core/base/sentence.h"

namespace furrow::ctl {

namespace {

/// The choices of a setting are checked by the schema, not by CLI11.
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

} // namespace

void addDescribeCommands(CLI::App& app, Chosen& chosen)
{
    auto shell = std::make_shared<std::string>();
    auto* completion = app.add_subcommand(
        "completion", "Completion of commands and options for a shell, e.g. `source <(furrowctl completion bash)`.");
    completion->add_option("shell", *shell, "bash, zsh or fish.")->required();
    completion->callback([&app, &chosen, shell] {
        chosen.action = [&app, shell] {
            if (*shell == "manual" || !describeProgram(app, *shell, valuesOf))
                return failUsage(sentence("There is no completion for '%1'. Choose bash, zsh or fish.", { *shell }));
            return int(kDone);
        };
    });
    auto* manual = app.add_subcommand("manual", "This program's manual page, e.g. `furrowctl manual | man -l -`.");
    manual->callback([&app, &chosen] {
        chosen.action = [&app] {
            describeProgram(app, "manual", valuesOf);
            return int(kDone);
        };
    });
    addDescribeOption(app, valuesOf);
}

} // namespace furrow::ctl
