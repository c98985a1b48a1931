#include "ui/models/shown_name.h"

#include "ui/models/workbench.h"

#include <QFileInfo>
#include <algorithm>

namespace furrow {

QString libraryName(const RunLines& lines, const QString& folder, const QString& otherwise)
{
    const auto line
        = std::find_if(lines.begin(), lines.end(), [&folder](const RunLine& one) { return one.folder == folder; });
    return line != lines.end() ? line->name : otherwise;
}

QString shownName(Workbench& bench)
{
    const QString folder = bench.watcher().folder();
    const StatusPtr& status = bench.watcher().status(); // may be read before it is listed
    return libraryName(*bench.scanner().lines(), folder,
        status && !status->file.config.name.empty() ? QString::fromStdString(status->file.config.name)
                                                    : QFileInfo(folder).fileName());
}

} // namespace furrow
