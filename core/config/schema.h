#pragma once

#include "core/base/result.h"
#include "core/config/run_config.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace furrow {

/// May a resume change this setting?
enum class ResumeRule {
    Safe, ///< takes effect at the next attempt, nothing already trained changes its meaning
    Unsafe, ///< allowed, but curves before and after are not comparable; shown as such
    Refused, ///< defines the chunks or the weights: a new run is needed
};

enum class SettingGroup {
    Run,
    Data,
    Model,
    Training,
    Devices,
    StopAndSave,
    Optimiser,
    Privacy,
    Evaluation,
    Merging,
    Seeds
};
std::string toString(SettingGroup group); ///< English title: "Stop and save"

struct SettingChoice {
    std::string value; ///< in JSON and on the command line
    std::string label; ///< in the form; empty: the value is a name of its own, as bf16
};

/// A field of RunConfig that holds one value of a closed set, whichever set it is.
class ChoiceField {
public:
    template <ClosedSet Enum>
    explicit ChoiceField(Enum RunConfig::* field)
        : name_([field](const RunConfig& config) { return nameOf(config.*field); })
        , store_([field](RunConfig& config, std::string_view name) {
            const auto value = closedValue<Enum>(name);
            config.*field = value.value_or(config.*field);
            return value.has_value();
        })
    {
    }

    std::string name(const RunConfig& config) const { return std::string(name_(config)); }
    /// @return false: the set has no such name, and `config` is as it was
    [[nodiscard]] bool store(RunConfig& config, std::string_view name) const { return store_(config, name); }

private:
    std::function<std::string_view(const RunConfig&)> name_;
    std::function<bool(RunConfig&, std::string_view)> store_;
};

using SettingField = std::variant<bool RunConfig::*, std::int64_t RunConfig::*, double RunConfig::*,
    std::string RunConfig::*, std::vector<std::string> RunConfig::*, ChoiceField>;

/// One setting: the single home of its name, unit, range, help and resume rule (core/config/settings). Form, options,
/// validation, documentation and resume checks are all driven by this.
struct Setting {
    std::string key; ///< JSON key, snake_case; the option is --kebab-case
    std::string label; ///< short English label for the form
    SettingGroup group = SettingGroup::Run;
    SettingField field;
    std::string unit; ///< "" or "samples" "tokens" "steps" "minutes" ...
    double min = 0; ///< for numbers, inclusive
    double max = 0; ///< for numbers, inclusive; max < min: no limit
    std::string zeroMeans; ///< "" or what 0 stands for: "no limit"
    std::vector<SettingChoice> choices; ///< of a ChoiceField; else empty
    ResumeRule resume = ResumeRule::Refused;
    bool basic = false; ///< shown before "all settings" are unfolded
    std::string help; ///< one or two sentences

    std::vector<std::string> choiceValues() const;
    std::string fullHelp() const; ///< with what 0 means
    std::string option() const; ///< "--chunk-samples"
};

const std::vector<Setting>& settings();
const Setting* findSetting(std::string_view key);

/// One thing wrong with a configuration, ready to be shown beside its field.
struct ConfigProblem {
    std::string key; ///< "" when it concerns no single field
    Message message; ///< names field, value and what is allowed
    std::string fix; ///< value that would mend it; "" when there is no obvious one
    bool operator==(const ConfigProblem&) const = default;
};
std::string toString(const std::vector<ConfigProblem>& problems); ///< one line each

/// Value of a setting as text, in the C locale; lists are joined with commas. Inverse of setSetting.
std::string settingText(const RunConfig& config, const Setting& setting);
/// Parses and stores; a problem leaves the configuration unchanged.
std::vector<ConfigProblem> setSetting(RunConfig& config, const Setting& setting, const std::string& text);

nlohmann::json toJson(const RunConfig& config);
/// Overlays the keys of a JSON object on `base`. All wrong keys, types and ranges are reported at once; with problems
/// the result must not be used.
struct ConfigReading {
    RunConfig config;
    std::vector<ConfigProblem> problems;
};
ConfigReading configFromJson(const nlohmann::json& json, RunConfig base = {});

/// Ranges and combinations, everything wrong at once. Needs no file and no device.
std::vector<ConfigProblem> validate(const RunConfig& config);

/// What differs, in schema order.
struct ConfigChange {
    const Setting* setting = nullptr;
    std::string before;
    std::string after;
};
std::vector<ConfigChange> changes(const RunConfig& before, const RunConfig& after);
/// The changes a resume may not make, each with the reason.
std::vector<ConfigProblem> refusedOnResume(const RunConfig& frozen, const RunConfig& wanted);

/// Built-in starting points: "char", "10m", "30m", "124m", ...
struct Preset {
    std::string name; ///< as typed: --preset char
    std::string title; ///< "GPT char, 4 layers"
    std::string hint; ///< "CPU, 2 minutes to readable text"
    RunConfig config;
};
const std::vector<Preset>& presets();
/// Case-insensitive; NotFound lists the known ones.
Result<Preset> findPreset(std::string_view name);

/// The furrowctl command that makes this run from its preset: only what differs is spelled out.
std::string commandLine(const RunConfig& config, const Preset& from);

} // namespace furrow
