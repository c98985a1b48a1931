#pragma once

#include <QObject>
#include <initializer_list>
#include <map>
#include <vector>

class QTableView;

namespace furrow {

/// Keeps the columns of a table inside its width as far as that goes: each is as wide as its contents where there is
/// room. Else long words in cells give way first, as few rows have them; then headings before other words, words before
/// names of workers (WorkerRole), and figures never. Headings of several words give way to their first one before any
/// other word is cut. What is cut is in the tip. A column does not become narrower while its figures change, and a
/// person who drags one has the say until the table is empty.
class FittedColumns : public QObject {
public:
    /// @param table  has its model already
    /// @param hiddenWhenEmpty  columns that take no room while no row says anything but "–" or 0 in them
    explicit FittedColumns(QTableView& table, std::initializer_list<int> hiddenWhenEmpty = {});

    /// Room for a text that no row has yet.
    void keepRoomFor(int column, const QString& text);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void fit();
    void hideEmpty();
    /// In pixels: what a column would have, and to what it gives way, one after the other.
    struct Width {
        int column = 0;
        int wanted = 0; ///< for contents, as wide as they were so far, and heading
        int forLongWords = 0; ///< for heading, and for contents of words as far as they are not long
        int forFirstWord = 0; ///< for contents, and for the first word of the heading
        int forContents = 0; ///< and for a piece of the heading
        int forLetters = 0; ///< for some letters of words, and whole names of workers
        int forFigures = 0; ///< for nothing but the figures that are there
    };
    Width widthOf(int column);
    int firstWordOf(int column, int heading) const;
    bool isNumber(int column) const;
    bool namesWorkers(int column) const;
    bool isEmpty(int column) const;
    bool showCut(QObject* watched, const QEvent& event);

    QTableView& table_;
    std::vector<int> hiddenWhenEmpty_;
    std::map<int, int> kept_; ///< room that was asked for [px]
    std::map<int, int> widest_; ///< so far [px]
    bool isPressed_ = false; ///< a mouse button, on the head
    bool isDragged_ = false;
};

} // namespace furrow
