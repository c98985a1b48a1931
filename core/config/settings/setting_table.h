#pragma once

#include "core/config/schema.h"

#include <utility>

namespace furrow {

/// Takes the properties of a setting, one named call each.
class SettingRow {
public:
    explicit SettingRow(Setting& setting)
        : setting_(setting)
    {
    }

    SettingRow& label(std::string text) { return set(setting_.label, std::move(text)); }
    SettingRow& unit(std::string text) { return set(setting_.unit, std::move(text)); }
    /// Both inclusive.
    SettingRow& range(double least, double most)
    {
        setting_.min = least;
        return set(setting_.max, most);
    }
    SettingRow& atLeast(double least) { return range(least, least - 1); }
    /// Fits behind "0:" and into the field of the form: "no limit".
    SettingRow& zeroMeans(std::string text) { return set(setting_.zeroMeans, std::move(text)); }
    SettingRow& resume(ResumeRule rule) { return set(setting_.resume, rule); }
    SettingRow& basic() { return set(setting_.basic, true); }
    SettingRow& help(std::string text) { return set(setting_.help, std::move(text)); }

private:
    template <typename T> SettingRow& set(T& property, T value)
    {
        property = std::move(value);
        return *this;
    }

    Setting& setting_;
};

/// The settings while they are written down. The order is that of form, help and documentation.
class SettingTable {
public:
    void group(SettingGroup group) { group_ = group; }

    SettingRow text(std::string key, std::string RunConfig::* field) { return add(std::move(key), field); }
    template <ClosedSet Enum> SettingRow choice(std::string key, Enum RunConfig::* field)
    {
        SettingRow row = add(std::move(key), ChoiceField(field));
        for (const auto& one : kClosedNames<Enum>)
            settings_.back().choices.push_back({ std::string(one.name), std::string(one.label) });
        return row;
    }
    SettingRow list(std::string key, std::vector<std::string> RunConfig::* field) { return add(std::move(key), field); }
    SettingRow flag(std::string key, bool RunConfig::* field) { return add(std::move(key), field); }
    SettingRow integer(std::string key, std::int64_t RunConfig::* field) { return add(std::move(key), field); }
    SettingRow real(std::string key, double RunConfig::* field) { return add(std::move(key), field); }

    std::vector<Setting> take() && { return std::move(settings_); }

private:
    SettingRow add(std::string key, SettingField field)
    {
        Setting& setting = settings_.emplace_back();
        setting.key = std::move(key);
        setting.group = group_;
        setting.field = std::move(field);
        return SettingRow(setting);
    }

    SettingGroup group_ = SettingGroup::Run;
    std::vector<Setting> settings_;
};

void addRunSettings(SettingTable& table);
void addDataSettings(SettingTable& table);
void addModelSettings(SettingTable& table);
void addTrainingSettings(SettingTable& table);
void addDeviceSettings(SettingTable& table);
void addStopSettings(SettingTable& table);
void addOptimiserSettings(SettingTable& table);
void addPrivacySettings(SettingTable& table);
void addEvaluationSettings(SettingTable& table);
void addMergingSettings(SettingTable& table);
void addSeedSettings(SettingTable& table);

} // namespace furrow
