#include "ui/parts/save_file.h"

#include "ui/parts/long_names.h"
#include "ui/widgets/plain_text.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>

namespace furrow {

namespace {

QString said(const char* text) { return QCoreApplication::translate("SaveFile", text); }

} // namespace

QString askSaveFile(
    QWidget* parent, const QString& title, const QString& name, const QString& what, const QStringList& endings)
{
    const QString filter = QStringLiteral("%1 (*.%2)").arg(what, endings.join(QStringLiteral(" *.")));
    QString file = QFileDialog::getSaveFileName(parent, title, name, filter);
    if (file.isEmpty() || endings.contains(QFileInfo(file).suffix().toLower()))
        return file;
    file += QLatin1Char('.') + endings.front(); // the dialog asked about the name without it
    return mayReplace(parent, file) ? file : QString();
}

bool mayReplace(QWidget* parent, const QString& file)
{
    const QFileInfo there(file);
    if (!there.exists() && !there.isSymLink())
        return true;
    const QString shown = QDir::toNativeSeparators(file);
    auto* box = there.isDir()
        ? makeBox(parent, said(QT_TRANSLATE_NOOP("SaveFile", "Replace file")),
              said(QT_TRANSLATE_NOOP("SaveFile", "%1 is a folder. Write the name of a file.")).arg(breakable(shown)),
              {})
        : makeBox(parent, said(QT_TRANSLATE_NOOP("SaveFile", "Replace file")),
              said(QT_TRANSLATE_NOOP("SaveFile", "%1 exists already. Replace it?")).arg(breakable(shown)),
              said(QT_TRANSLATE_NOOP("SaveFile", "What it holds now is lost.")));
    const QPushButton* replace = there.isDir()
        ? nullptr
        : box->addButton(said(QT_TRANSLATE_NOOP("SaveFile", "Replace")), QMessageBox::DestructiveRole);
    QPushButton* keep = box->addButton(there.isDir() ? said(QT_TRANSLATE_NOOP("SaveFile", "Close"))
                                                     : said(QT_TRANSLATE_NOOP("SaveFile", "No, keep it")),
        QMessageBox::RejectRole);
    box->setDefaultButton(keep);
    box->setEscapeButton(keep);
    box->setAttribute(Qt::WA_DeleteOnClose, false); // its answer is read below
    box->exec();
    const bool yes = replace != nullptr && box->clickedButton() == replace;
    box->deleteLater();
    return yes;
}

bool writeWhole(const QString& file, const QByteArray& bytes, QString* why)
{
    QSaveFile out(file);
    const bool isWritten = out.open(QIODevice::WriteOnly) && out.write(bytes) == bytes.size() && out.commit();
    if (!isWritten && why != nullptr)
        *why = out.errorString();
    return isWritten;
}

} // namespace furrow
