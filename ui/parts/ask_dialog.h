#pragma once

#include <QString>
#include <QStringList>

class QWidget;

namespace furrow {

/// What is asked for, and the button that answers.
struct Question {
    QString title;
    QString text; ///< "Name of the preset"
    QString verb; ///< "Save preset"
};

/// Asks for one line of text, without spaces at its ends. Empty: the person changed their mind.
QString askText(QWidget* parent, const Question& question);
/// Asks for one of the choices. -1: the person changed their mind.
int askChoice(QWidget* parent, const Question& question, const QStringList& choices);

} // namespace furrow
