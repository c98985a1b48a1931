#include "ui/pages/save_file.h"

#include <QFileDialog>
#include <QFileInfo>

namespace furrow {

QString askSaveFile(QWidget* parent, const QString& title, const QString& name, const QString& what, const QStringList& endings)
{
    const QString filter = QStringLiteral("%1 (*.%2)").arg(what, endings.join(QStringLiteral(" *.")));
    const QString file = QFileDialog::getSaveFileName(parent, title, name, filter);
    if (file.isEmpty() || endings.contains(QFileInfo(file).suffix().toLower()))
        return file;
    return file + QLatin1Char('.') + endings.front();
}

} // namespace furrow
