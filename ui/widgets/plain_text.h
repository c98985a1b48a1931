#pragma once

#include <QObject>
#include <QString>

class QLabel;
class QMessageBox;
class QPoint;
class QWidget;

namespace furrow {

// Text from outside (the name of a run, a cause, a line of data) is shown letter by letter. Left to itself Qt takes
// what looks like HTML for HTML and loads the images that it names. Labels, boxes and notes over the pointer are
// therefore made here and nowhere else (tests/check_plain_text.py).

/// A label that shows its text as it is.
QLabel* plainLabel(const QString& text = {}, QWidget* parent = nullptr);
void makePlain(QLabel& label);
/// For a label whose HTML this program wrote itself and whose values are escaped.
void makeRich(QLabel& label);
bool isMadeRich(const QLabel& label);

/// A box with one question or statement, below it more of it. It closes and deletes itself; open() shows it.
QMessageBox* makeBox(QWidget* parent, const QString& title, const QString& text, const QString& more);

/// A note over the pointer, at once.
void showTip(const QPoint& globalPlace, const QString& text, QWidget* of);
/// From now on every tooltip of the program is plain: of widgets, of cells of tables and of actions. Called again it
/// does nothing.
void keepTipsPlain();

/// For notifications of the desktop, where some systems take markup and others do not: nothing in it can be markup.
QString notificationText(QString text);

} // namespace furrow
