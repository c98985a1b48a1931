#include "app/given_values.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace furrow {

namespace {

/// A model may write on from nothing.
constexpr std::array<std::string_view, 2> kMayBeEmpty { "--prompt", "--sample-prompt" };

std::string whyEmpty(std::string& value) { return value.empty() ? "the value is empty. Is a variable not set?" : ""; }

} // namespace

void refuseEmptyValues(CLI::App& app)
{
    const CLI::Validator notEmpty(whyEmpty, "");
    for (CLI::Option* option : app.get_options()) {
        const bool hasValue = option->get_items_expected_max() > 0;
        if (hasValue && std::find(kMayBeEmpty.begin(), kMayBeEmpty.end(), option->get_name()) == kMayBeEmpty.end())
            option->transform(notEmpty); // it changes nothing, and is asked before the checks of the option itself
    }
    for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
        refuseEmptyValues(*command);
}

} // namespace furrow
