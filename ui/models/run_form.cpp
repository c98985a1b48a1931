#include "ui/models/run_form.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/config/bounded_json.h"
#include "core/config/list_text.h"
#include "core/model/model_config.h"
#include "ui/models/typed_number.h"

#include <QFileInfo>
#include <QStringList>
#include <algorithm>
#include <nlohmann/json.hpp>

namespace furrow {

namespace {

constexpr std::uint64_t kMostPresetBytes = 1 << 20;

bool isWholeNumber(const Setting& setting) { return std::holds_alternative<std::int64_t RunConfig::*>(setting.field); }

bool isNumber(const Setting& setting)
{
    return isWholeNumber(setting) || std::holds_alternative<double RunConfig::*>(setting.field);
}

} // namespace

RunForm::RunForm(QObject* parent)
    : QObject(parent)
    , preset_(presets().front())
{
    config_ = preset_.config;
    combine();
}

void RunForm::combine()
{
    effective_ = config_;
    for (const auto& [key, value] : taken_)
        if (const Setting* setting = findSetting(key))
            (void)setSetting(effective_, *setting, value); // it stood in a configuration
}

void RunForm::setTaken(std::map<std::string, std::string> values)
{
    if (values == taken_)
        return;
    taken_ = std::move(values);
    combine();
    Q_EMIT taken();
}

void RunForm::usePreset(const Preset& preset)
{
    RunConfig next = preset.config;
    // A value of the old preset that was never touched does not travel; a typed one does.
    for (const ConfigChange& change : changes(preset_.config, config_))
        (void)setSetting(next, *change.setting, change.after); // it was valid before, so it is now
    preset_ = preset;
    config_ = next;
    combine();
    Q_EMIT replaced();
}

void RunForm::useConfig(const RunConfig& config, const Preset& preset)
{
    config_ = config;
    preset_ = preset;
    unparsed_.clear();
    parseProblems_.clear();
    taken_.clear(); // of another model, until this one was read
    combine();
    Q_EMIT replaced();
}

QString RunForm::text(const Setting& setting) const
{
    const auto typed = unparsed_.find(setting.key);
    return typed != unparsed_.end() && !isTaken(setting) ? typed->second
                                                         : QString::fromStdString(settingText(effective_, setting));
}

void RunForm::setText(const Setting& setting, const QString& text)
{
    RunConfig next = config_;
    // Blanks around a number mean nothing; in free text, as a prompt that is a line end, they do.
    const bool isFreeText = std::holds_alternative<std::string RunConfig::*>(setting.field);
    std::string meant = (isFreeText ? text : text.trimmed()).toStdString();
    // A comma may belong to the name of a file.
    if (setting.key == "data" && text.contains(QLatin1Char(',')) && QFileInfo::exists(text.trimmed()))
        meant = listText({ meant });
    auto wrong = setSetting(next, setting, meant);
    take(setting, text, std::move(next), std::move(wrong));
}

void RunForm::setTyped(const Setting& setting, const QString& typed)
{
    if (!isNumber(setting))
        return setText(setting, typed);
    RunConfig next = config_;
    auto wrong = furrow::setTyped(next, setting, typed);
    take(setting, typed, std::move(next), std::move(wrong));
}

void RunForm::take(const Setting& setting, const QString& text, RunConfig next, std::vector<ConfigProblem> wrong)
{
    if (wrong.empty()) {
        config_ = std::move(next);
        unparsed_.erase(setting.key);
        parseProblems_.erase(setting.key);
    } else {
        (void)setSetting(config_, setting,
            settingText(preset_.config, setting)); // what was typed on the way to it ("0" of "0,5") was not meant
        unparsed_[setting.key] = text;
        parseProblems_[setting.key] = std::move(wrong);
    }
    if (setting.key == "init_from")
        taken_.clear(); // of another model, until this one was read
    combine();
    Q_EMIT edited(QString::fromStdString(setting.key));
}

void RunForm::revert(const Setting& setting) { setText(setting, presetText(preset_, setting)); }

void RunForm::revertAll()
{
    RunConfig next = preset_.config;
    next.data = config_.data;
    next.name = config_.name;
    std::erase_if(unparsed_, [](const auto& typed) { return typed.first != "data" && typed.first != "name"; });
    std::erase_if(
        parseProblems_, [](const auto& problem) { return problem.first != "data" && problem.first != "name"; });
    config_ = std::move(next);
    taken_.clear();
    combine();
    Q_EMIT replaced();
}

bool RunForm::isChanged(const Setting& setting) const
{
    return unparsed_.contains(setting.key) || settingText(config_, setting) != settingText(preset_.config, setting);
}

std::vector<ConfigProblem> RunForm::problems() const
{
    std::vector<ConfigProblem> all;
    for (const Setting& setting : settings()) {
        const auto found = parseProblems_.find(setting.key);
        if (found != parseProblems_.end())
            all.insert(all.end(), found->second.begin(), found->second.end());
    }
    for (const ConfigProblem& problem : validate(effective_)) {
        if (!parseProblems_.contains(problem.key))
            all.push_back(problem);
    }
    const auto shape = effective_.shape.empty() ? Result<ModelConfig>(ModelConfig {}) : parseShape(effective_.shape);
    if (!shape.ok())
        all.push_back({ "shape", sentence("%1: %2", { settingTerm("shape"), shape.error().message }), {} });
    for (const auto& [key, sentence] : findings_)
        all.push_back({ key, sentence, {} });
    return all;
}

void RunForm::setFinding(const std::string& key, const Message& sentence)
{
    const auto before = findings_.find(key);
    if (sentence == (before == findings_.end() ? Message() : before->second))
        return;
    if (sentence.empty())
        findings_.erase(key);
    else
        findings_[key] = sentence;
    Q_EMIT judged();
}

std::vector<ConfigProblem> RunForm::problemsOf(const std::string& key) const
{
    std::vector<ConfigProblem> mine = problems();
    std::erase_if(mine, [&key](const ConfigProblem& problem) { return problem.key != key; });
    return mine;
}

std::vector<ConfigChange> RunForm::changesFromPreset() const { return changes(preset_.config, config_); }

QString RunForm::command() const { return QString::fromStdString(commandLine(config_, preset_)); }

QString RunForm::presetText(const Preset& preset, const Setting& setting)
{
    return QString::fromStdString(settingText(preset.config, setting));
}

std::vector<ConfigProblem> setTyped(RunConfig& config, const Setting& setting, const QString& typed)
{
    if (!isNumber(setting))
        return setSetting(config, setting, typed.toStdString());
    const QString plain = typedNumber(typed, isWholeNumber(setting)).plain;
    if (plain.isEmpty()) // core would take the one it understands of two meanings
        return { { setting.key, setting.key + " is '" + typed.toStdString() + "', which is not surely a number.",
            {} } };
    return setSetting(config, setting, plain.toStdString());
}

std::vector<OwnPreset> readOwnPresets(const QString& workspace, QStringList& problems)
{
    std::vector<OwnPreset> found;
    std::error_code failed;
    const auto folder = pathFromUtf8(workspace.toStdString()) / "presets";
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
        if (entry.path().extension() != ".json")
            continue;
        const QString name = QString::fromStdString(utf8Text(entry.path().stem()));
        const auto bytes = readFile(entry.path(), kMostPresetBytes);
        const auto json
            = bytes.ok() ? parseBoundedJson(bytes.value()) : nlohmann::json(nlohmann::json::value_t::discarded);
        ConfigReading reading;
        if (!json.is_discarded())
            reading = configFromJson(json);
        if (json.is_discarded() || !reading.problems.empty())
            problems.append(name);
        else
            found.push_back({ name, reading.config });
    }
    std::sort(found.begin(), found.end(), [](const OwnPreset& a, const OwnPreset& b) { return a.name < b.name; });
    return found;
}

Status saveOwnPreset(const QString& workspace, const QString& name, const RunConfig& config)
{
    const bool plainName = !name.isEmpty() && !name.startsWith(QLatin1Char('.')) && !name.contains(QLatin1Char('/'))
        && !name.contains(QLatin1Char('\\'));
    if (!plainName)
        return Error { ErrorCode::InvalidArgument,
            sentence("preset \"%1\": a name must not be empty, begin with a dot or contain a slash",
                { name.toStdString() }) };
    const auto folder = pathFromUtf8(workspace.toStdString()) / "presets";
    FURROW_TRY(realFileSystem().createFolders(folder));
    return writeFileDurably(
        realFileSystem(), folder / pathFromUtf8(name.toStdString() + ".json"), toJson(config).dump(2) + "\n");
}

} // namespace furrow
