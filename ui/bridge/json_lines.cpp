#include "ui/bridge/json_lines.h"

#include <QJsonDocument>

namespace furrow {

QList<QJsonObject> JsonLines::take(const QByteArray& piece)
{
    unfinished_ += piece;
    QList<QJsonObject> lines;
    for (auto end = unfinished_.indexOf('\n'); end >= 0; end = unfinished_.indexOf('\n')) {
        lines += QJsonDocument::fromJson(unfinished_.left(end)).object();
        unfinished_.remove(0, end + 1);
    }
    return lines;
}

} // namespace furrow
