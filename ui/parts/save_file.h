#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

class QWidget;

namespace furrow {

/// Asks where to save something. Empty when the person changed their mind.
/// @param name     what is proposed, with the first ending
/// @param what     "Pictures", in the language of the person
/// @param endings  without dot; a name with none of them gets the first
QString askSaveFile(
    QWidget* parent, const QString& title, const QString& name, const QString& what, const QStringList& endings);

/// Whether `file` may be written: at once where nothing is there, else a person is asked and No is what Enter says. A
/// folder is refused.
bool mayReplace(QWidget* parent, const QString& file);
/// Writes the whole file or leaves what was there.
/// @param why  gets the reason of a failure, as the system says it
bool writeWhole(const QString& file, const QByteArray& bytes, QString* why = nullptr);

} // namespace furrow
