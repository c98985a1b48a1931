#include "app/furrowctl/command.h"

#include "core/base/denied.h"
#include "core/base/owner.h"
#include "core/base/path.h"
#include "core/base/redact.h"
#include "core/base/secret_variables.h"
#include "core/base/sentence.h"
#include "core/base/started_as.h"
#include "core/config/message_json.h"
#include "core/run/folder/run_file.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

namespace furrow::ctl {

int exitCodeFor(const Error& error)
{
    if (error.code == ErrorCode::Cancelled)
        return kCancelled;
    return error.code == ErrorCode::InvalidArgument ? kUsage : kFailed;
}

int fail(const Error& error, bool json)
{
    for (const auto& variable : secretVariables()) // given in place of a name, it stands in what is said of that name
        rememberSecret(variable.secret);
    if (json) {
        const Message shown = messageWithoutSecrets(error.message);
        print({ { "error", shown }, { "message", toJson(shown) } });
    } else
        std::cerr << "furrowctl: " << withoutSecrets(error.message) << "\n";
    return exitCodeFor(error);
}

int failUsage(const Message& message, bool json) { return fail({ ErrorCode::InvalidArgument, message }, json); }

void print(const nlohmann::json& json)
{
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
}

Status checkRun(const std::string& folder)
{
    const auto file = readRunFile(RunPaths(pathFromUtf8(folder)));
    return file.ok() ? Status() : Status(file.error());
}

namespace {

/// Of this user, on a folder that is not there any more.
std::optional<ProcessIdentity> supervisorOf(const std::filesystem::path& folder)
{
    std::error_code unknown;
    const auto full = std::filesystem::absolute(folder, unknown).lexically_normal();
    for (const auto& process : processesStartedWith({ "supervise" })) {
        const auto started = startedAs(process);
        if (started && started->words.size() > 2 && otherOwner(process).empty()
            && (started->workingFolder / pathFromUtf8(started->words[2])).lexically_normal() == full)
            return process;
    }
    return std::nullopt;
}

} // namespace

Status checkThere(const std::string& folder)
{
    std::error_code unknown;
    const auto path = pathFromUtf8(folder);
    if (std::filesystem::exists(path, unknown) || unknown)
        return {};
    const auto supervisor = supervisorOf(path);
    return supervisor
        ? Status(Error { ErrorCode::NotFound,
              sentence(
                  "The folder %1 is not there, and process %2 still supervises a run in it: its disk was taken away meanwhile, or the folder was moved. Bring it back and the run goes on; or end that process: what no checkpoint has is trained again after a resume.",
                  { folder, std::to_string(supervisor->pid) }) })
        : checkRun(folder);
}

Status checkWorkspace(const std::string& folder)
{
    std::error_code unknown;
    if (std::filesystem::is_regular_file(pathFromUtf8(folder), unknown))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 is a file. Name the folder that keeps the runs.", { folder }) };
    const std::filesystem::directory_iterator entries(pathFromUtf8(folder), unknown);
    if (unknown && unknown != std::errc::no_such_file_or_directory)
        return Error { ErrorCode::Io,
            sentence("The folder %1 cannot be read (%2).", { folder, whyNot(pathFromUtf8(folder), unknown) }) };
    return {};
}

Status checkWorkspaceThere(const std::string& folder)
{
    std::error_code unknown;
    if (!folder.empty() && folder != defaultWorkspace() && !std::filesystem::exists(pathFromUtf8(folder), unknown)
        && !unknown)
        return Error { ErrorCode::NotFound, sentence("The folder %1 is not there.", { folder }) };
    return checkWorkspace(folder);
}

Status checkNewFile(const std::string& path)
{
    std::error_code unknown;
    if (std::filesystem::exists(std::filesystem::symlink_status(pathFromUtf8(path), unknown)))
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 exists already. Name a new file with --out, or move that one away.", { path }) };
    return {};
}

void SettingOptions::addTo(CLI::App& command, bool onlyChangeable)
{
    for (const auto& s : settings()) {
        if (onlyChangeable && s.resume == ResumeRule::Refused)
            continue;
        std::string help = s.fullHelp();
        if (!s.choices.empty()) {
            help += " One of:";
            for (const auto& choice : s.choices)
                help += " " + choice.value;
            help += ".";
        }
        if (!s.unit.empty())
            help += " [" + s.unit + "]";
        auto* option = command.add_option(s.option(), given_[s.key], help);
        option->group(toString(s.group));
        option->type_name("");
        if (std::holds_alternative<bool RunConfig::*>(s.field))
            option->expected(0, 1);
        else if (!std::holds_alternative<std::vector<std::string> RunConfig::*>(s.field))
            option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
        else
            option->expected(1, CLI::detail::expected_max_vector_size)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll); // `--data *.txt`, expanded by a shell
        options_[s.key] = option;
    }
}

std::vector<ConfigProblem> SettingOptions::apply(RunConfig& config) const
{
    std::vector<ConfigProblem> problems;
    for (const auto& s : settings()) {
        const auto option = options_.find(s.key);
        if (option == options_.end() || option->second->count() == 0)
            continue;
        const auto& values = given_.at(s.key);
        if (const auto* list = std::get_if<std::vector<std::string> RunConfig::*>(&s.field)) {
            config.*(*list) = values;
            continue;
        }
        const bool isSwitch = std::holds_alternative<bool RunConfig::*>(s.field);
        const std::string value = values.empty() ? "" : values.back();
        auto own
            = setSetting(config, s, value.empty() && isSwitch ? "true" : value); // `--iterate` alone switches it on
        problems.insert(problems.end(), own.begin(), own.end());
    }
    return problems;
}

std::set<std::string> SettingOptions::given() const
{
    std::set<std::string> keys;
    for (const auto& [key, option] : options_)
        if (option->count() > 0)
            keys.insert(key);
    return keys;
}

std::string defaultWorkspace()
{
    if (const char* named = std::getenv("FURROW_WORKSPACE"); named && *named)
        return named;
#ifdef _WIN32
    const char* home = std::getenv("USERPROFILE");
#else
    const char* home = std::getenv("HOME");
#endif
    return std::string(home ? home : ".") + "/furrow";
}

} // namespace furrow::ctl
