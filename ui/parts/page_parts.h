#pragma once

#include <QFont>
#include <QFrame>
#include <QLabel>
#include <QString>

class QBoxLayout;
class QLineEdit;
class QPushButton;
class QTableView;
class QAbstractItemModel;

namespace furrow {

// Small pieces that every page is made of. Sizes follow the system font: 1, 0.92, 0.85, 1.15 times.

enum class TextTone { Value, Secondary, Hint, Error };
enum class TextSize { Body, Small, Tiny, Title };

/// A label in the wanted tone, for plain text; its colour follows the palette. `bold`: weight 600.
QLabel* makeLabel(
    const QString& text, TextTone tone = TextTone::Value, TextSize size = TextSize::Body, bool bold = false);
QFont scaledFont(TextSize size, int weight = QFont::Normal);
/// Fixed-pitch font for text as trained, commands and ids.
QFont codeFont(TextSize size = TextSize::Small);
void setTone(QLabel* label, TextTone tone);
/// Marks a field whose content cannot be used; the style draws its frame.
void setInvalid(QWidget* field, bool invalid);
/// A sentence in a line of its own: what was done, or what went wrong.
void saySentence(QLabel* line, const QString& sentence, bool bad);
/// A label that takes the room there is and shows the whole text as tooltip when it is cut.
class ElidedLabel : public QLabel {
public:
    explicit ElidedLabel(TextTone tone, TextSize size);
    QSize minimumSizeHint() const override { return { 20, QLabel::minimumSizeHint().height() }; }

protected:
    void paintEvent(QPaintEvent* event) override;
};
/// A 1 px line.
QFrame* makeLine(Qt::Orientation orientation = Qt::Horizontal);
/// One sentence in the upper third, and at most one button.
class EmptyState : public QWidget {
    Q_OBJECT
public:
    explicit EmptyState(const QString& sentence, QWidget* parent = nullptr);
    void setSentence(const QString& sentence);
    /// A second or third one only where the specification says so.
    QPushButton* addButton(const QString& text, bool primary = false);

private:
    QLabel* sentence_;
    QBoxLayout* buttons_;
};

/// A table as all pages have it: rows of 26, header of 24, no grid, sortable by raw values.
QTableView* makeTable(const QString& accessibleName);
/// A field that filters or finds as one types: says what for, has a glyph and can be emptied.
QLineEdit* makeSearch(const QString& what);
/// Sorts by SortRole through a proxy that it makes.
void setSortedModel(
    QTableView* table, QAbstractItemModel* model, int sortColumn = -1, Qt::SortOrder order = Qt::AscendingOrder);
/// @param icon  name of a file in resources/icons; empty: none
QPushButton* makeButton(const QString& text, const QString& icon = {}, bool primary = false);

} // namespace furrow
