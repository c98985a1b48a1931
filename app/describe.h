#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace furrow {

/// Values that an option may take, by its name ("--theme"), beyond those that CLI11 checks.
using ValuesOfOption = std::function<std::vector<std::string>(const std::string& option)>;

/// Writes to stdout what a program says of itself, made from the same descriptions as --help; what has an empty
/// group is left out there too.
/// @param what  "manual" (troff), or the completion of "bash", "zsh" or "fish"
/// @return false: there is nothing of that name, and nothing was written
bool describeProgram(const CLI::App& app, const std::string& what, const ValuesOfOption& values = {});

/// `--describe WHAT`, not shown in --help: packages are made with it. Throws CLI::Success when it was given.
void addDescribeOption(CLI::App& app, const ValuesOfOption& values = {});

} // namespace furrow
