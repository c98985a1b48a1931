#pragma once

#include <QByteArray>
#include <QObject>
#include <vector>

class QAction;
class QDockWidget;
class QFrame;
class QMainWindow;
class QMouseEvent;
class QTabBar;

namespace furrow {

inline constexpr int kLeftDockWidth = 250;
inline constexpr int kRightDockWidth = 308;
inline constexpr int kLowerDockHeight = 200;

/// Leaves the page its room in a small window: the docks at the sides lie over it instead of beside it, the lower ones
/// fold to their tabs.
class DockRoom : public QObject {
    Q_OBJECT
public:
    /// @param fold  checkable: the lower docks are folded. A press on one of their tabs unfolds them, a double click
    ///   folds them
    DockRoom(QMainWindow& window, std::vector<QDockWidget*> docks, QAction& fold);

    /// As the size of the window asks for.
    void arrange();
    /// While it is off, on pages that need no docks, the size of the window changes nothing.
    void setWatching(bool watching);
    /// Brings a dock into sight, whatever it is behind.
    void bring(QDockWidget& dock);
    /// Closes what lies over the page.
    void uncover();
    bool isNarrow() const { return narrow_; } ///< the docks at the sides lie over the page

    /// Where the docks are where there is room for them, and whether the lower ones are folded.
    QByteArray state();
    bool restore(const QByteArray& state); ///< false: it is of another version; nothing was changed

Q_SIGNALS:
    void narrowChanged(bool narrow);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// A dock that was taken from the side of the window, and what it was like there.
    struct Cover {
        QDockWidget* dock;
        Qt::DockWidgetArea area;
        int width;
        bool wasShown;
        QFrame* edge; ///< between it and the page
    };
    void takeSize();
    void setNarrow(bool narrow);
    void layOver();
    void putBack();
    void place();
    void applyFold();
    void takePress(const QTabBar& tabs, const QMouseEvent& event);
    bool isLower(const QDockWidget& dock) const;

    QMainWindow& window_;
    std::vector<QDockWidget*> docks_;
    QAction& fold_;
    std::vector<Cover> covers_;
    bool watching_ = false;
    bool narrow_ = false;
    bool low_ = false; ///< the window, when its size was last looked at
    bool foldedBySize_ = false;
    bool folded_ = false;
    bool pressed_ = false; ///< a tab of the folded docks
    bool unfoldedByPress_ = false; ///< by the press that a double click begins with
    int lowerHeight_ = kLowerDockHeight; ///< before they were folded [px]
};

} // namespace furrow
