#pragma once

#include "core/config/schema.h"

#include <QObject>
#include <QString>
#include <map>

namespace furrow {

/// A preset of the person, a JSON file in <workspace>/presets.
struct OwnPreset {
    QString name;
    RunConfig config;
};

/// The draft of a new run: what was typed, what it means, what is wrong with it, how it differs from its preset. Text
/// that cannot be parsed is kept as typed and reported; nothing a person typed is ever thrown away. Lives on the GUI
/// thread.
class RunForm : public QObject {
    Q_OBJECT
public:
    explicit RunForm(QObject* parent = nullptr);

    /// What a run would get: what was typed, and what the model of init_from decides.
    const RunConfig& config() const { return effective_; }
    /// Without the latter.
    const RunConfig& typed() const { return config_; }
    const Preset& preset() const { return preset_; }
    /// Takes all values of the preset but keeps the data, the name and what else was changed by hand.
    void usePreset(const Preset& preset);
    /// Starts over from a configuration (clone of a run): it is compared with `preset`.
    void useConfig(const RunConfig& config, const Preset& preset);

    QString text(const Setting& setting) const; ///< as typed, else of the value
    void setText(const Setting& setting, const QString& text); ///< as core writes it
    void setTyped(const Setting& setting, const QString& typed); ///< a number in the language of the person
    /// What was typed is no value of the setting: text() is that, letter by letter.
    bool isRefused(const Setting& setting) const { return unparsed_.contains(setting.key) && !isTaken(setting); }
    /// Back to the preset's value.
    void revert(const Setting& setting);
    /// All of them but the data and the name: those a preset does not have.
    void revertAll();
    bool isChanged(const Setting& setting) const;

    /// What the model that init_from names decides, by key; {}: nothing.
    void setTaken(std::map<std::string, std::string> values);
    /// Whether it decides this setting: it is shown and not typed.
    bool isTaken(const Setting& setting) const { return taken_.contains(setting.key); }

    std::vector<ConfigProblem> problems() const; ///< in schema order
    /// What somebody who knows the data found wrong with a setting: one of problems() until it is taken back ("").
    void setFinding(const std::string& key, const Message& sentence);
    std::vector<ConfigProblem> problemsOf(const std::string& key) const;
    std::vector<ConfigChange> changesFromPreset() const;
    QString command() const; ///< the furrowctl command that does the same
    /// Whether config() has all that was typed. Else a value of before stands in for text that is no value, and what is
    /// told of config() is not of what is on the screen.
    bool hasAllThatWasTyped() const { return parseProblems_.empty(); }
    bool isReady() const { return problems().empty() && !config_.data.empty(); }

    static QString presetText(const Preset& preset, const Setting& setting);

Q_SIGNALS:
    /// One setting got another text.
    void edited(const QString& key);
    /// Everything may have changed.
    void replaced();
    /// The values are the same and what is wrong with them is not.
    void judged();
    /// The model of init_from decides other values now.
    void taken();

private:
    void combine();
    void take(const Setting& setting, const QString& text, RunConfig next, std::vector<ConfigProblem> wrong);

    RunConfig config_; ///< as typed
    RunConfig effective_; ///< with what is taken
    std::map<std::string, std::string> taken_; ///< by key
    Preset preset_;
    std::map<std::string, QString> unparsed_; // key -> text that is no value
    std::map<std::string, std::vector<ConfigProblem>> parseProblems_;
    std::map<std::string, Message> findings_; // by key
};

/// setSetting for what a person typed, numbers in the language of the console.
std::vector<ConfigProblem> setTyped(RunConfig& config, const Setting& setting, const QString& typed);

/// Presets saved in a workspace, by name; files that cannot be read are left out and named in `problems`.
std::vector<OwnPreset> readOwnPresets(const QString& workspace, QStringList& problems);
/// Saves under `name`; replaces one of the same name.
Status saveOwnPreset(const QString& workspace, const QString& name, const RunConfig& config);

} // namespace furrow
