#pragma once

#include "core/config/schema.h"

#include <QString>

namespace furrow {

// What core/config/settings says of a setting, in the language of the person.

QString settingLabel(const Setting& setting); ///< as the form calls it
QString settingHelp(const Setting& setting); ///< with what 0 means
QString settingZero(const Setting& setting); ///< "no limit"; empty where 0 is a number as others
QString settingUnit(const Setting& setting);
/// "Own replicas" for independent of parallel. Short: a field has room for fourteen letters at 1280 points.
QString settingChoice(const Setting& setting, const std::string& value);
QString settingGroupTitle(SettingGroup group);
/// Whether what a person looks for is in the help of a setting or in what it is called: by the form, by files
/// ("data_mode") or by the command line ("data-mode").
bool isAboutSetting(const Setting& setting, const QString& words);

} // namespace furrow
