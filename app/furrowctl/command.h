#pragma once

#include "app/number_range.h"
#include "core/base/result.h"
#include "core/config/schema.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace furrow::ctl {

/// Exit codes of furrowctl.
enum ExitCode { kDone = 0, kFailed = 1, kUsage = 2, kCancelled = 130 };

/// What main runs after parsing: set by the subcommand that was chosen.
struct Chosen {
    std::function<int()> action;
};

/// Each adds its subcommands to `app` and sets `chosen.action` when one is given.
void addRunCommands(CLI::App& app, Chosen& chosen);
void addControlCommands(CLI::App& app, Chosen& chosen);
void addInspectCommands(CLI::App& app, Chosen& chosen);
void addDataCommands(CLI::App& app, Chosen& chosen);
void addBrainCommands(CLI::App& app, Chosen& chosen);
void addChunkCommands(CLI::App& app, Chosen& chosen);
void addModelCommands(CLI::App& app, Chosen& chosen);
void addTokenizerCommands(CLI::App& app, Chosen& chosen);
void addTaskCommands(CLI::App& app, Chosen& chosen);
void addBenchCommands(CLI::App& app, Chosen& chosen);
void addDoctorCommand(CLI::App& app, Chosen& chosen);
void addStormCommand(CLI::App& app, Chosen& chosen);
void addEstimateCommand(CLI::App& app, Chosen& chosen);
void addTorchCommands(CLI::App& app, Chosen& chosen);
void addWorkspaceCommands(CLI::App& app, Chosen& chosen);
void addInternalCommands(CLI::App& app, Chosen& chosen);
void addDescribeCommands(CLI::App& app, Chosen& chosen); ///< adds last: it describes the others

int exitCodeFor(const Error& error);
/// Prints the error as a sentence on stderr (as JSON {"error":...} on stdout with `json`) and returns the exit code for
/// it.
int fail(const Error& error, bool json = false);
int failUsage(const Message& message, bool json = false);
void print(const nlohmann::json& json);

/// Whole numbers from 0 and from 1 on.
inline const CLI::Validator kFromZero = numberFrom(std::int64_t(0), std::int64_t(1) << 53);
inline const CLI::Validator kFromOne = numberFrom(std::int64_t(1), std::int64_t(1) << 53);

/// Refuses what is no run folder, before anything looks for its parts.
Status checkRun(const std::string& folder);
/// Refuses a run folder that is not there; one that is may be as broken as it likes.
Status checkThere(const std::string& folder);

/// Refuses a workspace that is a file or cannot be read. One that is not there is made when it is needed.
Status checkWorkspace(const std::string& folder);
/// The same for who makes none: a person who names one that is not there has mistyped it. The default one may be yet to
/// come.
Status checkWorkspaceThere(const std::string& folder);

/// Refuses a file to write that is there already: what a person has is never replaced.
Status checkNewFile(const std::string& path);

/// The options that the schema describes, on one subcommand. Values are checked together, not one by one.
class SettingOptions {
public:
    /// @param onlyChangeable  leave out what a resume refuses
    void addTo(CLI::App& command, bool onlyChangeable);
    /// Overlays what was given on `config`; everything wrong at once.
    std::vector<ConfigProblem> apply(RunConfig& config) const;
    std::set<std::string> given() const; ///< keys

private:
    std::map<std::string, std::vector<std::string>> given_; // by key
    std::map<std::string, CLI::Option*> options_;
};

/// Where runs go when no folder is named: $FURROW_WORKSPACE, else ~/furrow.
std::string defaultWorkspace();

} // namespace furrow::ctl
