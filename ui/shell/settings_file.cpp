#include "ui/shell/settings_file.h"

#include "core/base/path.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"

#include <QSettings>
#include <QStandardPaths>

namespace furrow {

Message keepSettingsReadable(const QString& instead)
{
#ifndef _WIN32 // which has no such files, and keeps settings elsewhere
    const auto folder
        = pathFromUtf8(QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation).toStdString());
    for (const auto& file : { folder / "furrow" / "furrow.conf", folder / "furrow.conf" }) {
        std::error_code unknown;
        const bool isFolder = std::filesystem::is_directory(file, unknown); // which Qt takes for no file
        const auto usable = isFolder ? Status() : refuseIrregular(file);
        if (usable.ok())
            continue;
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, instead);
        return sentence("%1 Until then the settings of the console are the built-in ones, and changes are not kept.",
            { withFullStop(usable.error().message) });
    }
#endif
    return {};
}

} // namespace furrow
