#pragma once

#include <QSize>

class QDialog;
class QScrollArea;
class QToolBar;
class QWidget;

namespace furrow {

/// For a filled toolbar that may not fit: the button behind which it puts the rest, in a colour that is seen on the
/// theme (the style's own is nearly black), and separators that stay lines.
void dressOverflow(QToolBar& bar);

/// Where the toolbar does not fit, its buttons with a glyph go without words (the tooltips have them): what stands
/// behind them, the slider of the replay, is not reached through the button for the rest.
void dropWordsWhereFull(QToolBar& bar);

/// Room for a page that asks for no more than a small window has: what does not fit is scrolled to.
QScrollArea* makeRoomFor(QWidget* page);

/// Height of a table below which its page scrolls instead: its header and three rows.
inline constexpr int kLeastTable = 102;

/// The largest size of a window without its frame on the screen where it is.
QSize roomOnScreen(const QWidget& window);

/// A dialog that is about to be shown becomes no larger than its screen has room for; what needs more is scrolled to.
void fitToScreen(QDialog& dialog);

} // namespace furrow
