#include "ui/models/setting_words.h"

#include <QCoreApplication>
#include <algorithm>

namespace furrow {

namespace {

QString translated(const char* context, const std::string& english)
{
    return english.empty() ? QString() : QCoreApplication::translate(context, english.c_str());
}

} // namespace

QString settingLabel(const Setting& setting) { return translated("Schema", setting.label); }

QString settingHelp(const Setting& setting)
{
    const QString help = translated("Schema", setting.help);
    return setting.zeroMeans.empty()
        ? help
        : QCoreApplication::translate("Schema", "%1 0: %2.").arg(help, settingZero(setting));
}

QString settingZero(const Setting& setting) { return translated("Schema", setting.zeroMeans); }

QString settingUnit(const Setting& setting) { return translated("Schema", setting.unit); }

QString settingChoice(const Setting& setting, const std::string& value)
{
    const auto found = std::ranges::find(setting.choices, value, &SettingChoice::value);
    return found == setting.choices.end() || found->label.empty() ? QString::fromStdString(value)
                                                                  : translated("Choices", found->label);
}

QString settingGroupTitle(SettingGroup group) { return translated("Schema", toString(group)); }

bool isAboutSetting(const Setting& setting, const QString& words)
{
    const QString all = QStringList { settingLabel(setting), settingHelp(setting), QString::fromStdString(setting.key),
        QString::fromStdString(setting.option()) }
                            .join(QLatin1Char('\n'));
    return all.contains(words, Qt::CaseInsensitive);
}

} // namespace furrow
