#include "ui/models/shown_name.h"

#include "ui/models/workbench.h"

#include <QFileInfo>
#include <algorithm>

namespace furrow {

QString shownName(Workbench& bench)
{
    const QString folder = bench.watcher().folder();
    const RunLines& lines = *bench.scanner().lines();
    const auto line
        = std::find_if(lines.begin(), lines.end(), [&folder](const RunLine& one) { return one.folder == folder; });
    if (line != lines.end())
        return line->name;
    const StatusPtr& status = bench.watcher().status(); // not listed yet
    return status && !status->file.config.name.empty() ? QString::fromStdString(status->file.config.name)
                                                       : QFileInfo(folder).fileName();
}

} // namespace furrow
