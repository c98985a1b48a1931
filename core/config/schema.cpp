#include "core/config/schema.h"

#include "core/config/settings/setting_table.h"

#include <algorithm>

namespace furrow {

namespace {

std::vector<Setting> makeSettings()
{
    SettingTable table;
    for (const auto add :
        { addRunSettings, addDataSettings, addModelSettings, addTrainingSettings, addDeviceSettings, addStopSettings,
            addOptimiserSettings, addPrivacySettings, addEvaluationSettings, addMergingSettings, addSeedSettings })
        add(table);
    return std::move(table).take();
}

} // namespace

const std::vector<Setting>& settings()
{
    static const std::vector<Setting> all = makeSettings();
    return all;
}

const Setting* findSetting(std::string_view key)
{
    const auto found
        = std::find_if(settings().begin(), settings().end(), [key](const Setting& s) { return s.key == key; });
    return found == settings().end() ? nullptr : &*found;
}

std::string Setting::option() const
{
    std::string text = "--" + key;
    std::replace(text.begin(), text.end(), '_', '-');
    return text;
}

std::vector<std::string> Setting::choiceValues() const
{
    std::vector<std::string> values;
    for (const SettingChoice& choice : choices)
        values.push_back(choice.value);
    return values;
}

std::string Setting::fullHelp() const { return zeroMeans.empty() ? help : help + " 0: " + zeroMeans + "."; }

std::string toString(SettingGroup group)
{
    using G = SettingGroup;
    switch (group) {
    case G::Run: return "Run";
    case G::Data: return "Data";
    case G::Model: return "Model";
    case G::Training: return "Training";
    case G::Devices: return "Devices";
    case G::StopAndSave: return "Stop and save";
    case G::Optimiser: return "Optimiser";
    case G::Privacy: return "Privacy";
    case G::Evaluation: return "Evaluation and sampling";
    case G::Merging: return "Merging";
    case G::Seeds: return "Seeds and determinism";
    }
    return "";
}

} // namespace furrow
