#pragma once

#include "core/base/result.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <span>
#include <string>

namespace furrow::ctl {

// What a person probably meant whose command line is wrong. CLI11 only says what it did not expect.

/// What is wrong with the first word, and with the second one of `queue`, `chunks` and others, when it is no command;
/// "": nothing is.
std::string unknownCommand(const CLI::App& app, std::span<const std::string> words);

/// What is wrong with words that the chosen command did not take, or with one that it lacks, and what was meant. Of
/// other errors it is what CLI11 says.
std::string slipInWords(const CLI::App& app, const CLI::ParseError& error);

/// Of a command that was given the bare name of a run which is not in the current folder: where the run of that name
/// is, when the workspace has one.
std::optional<Error> runIsInWorkspace(const CLI::App& app);

/// Whether the chosen command is asked for JSON.
bool wantsJson(const CLI::App& app);

} // namespace furrow::ctl
