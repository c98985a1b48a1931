#pragma once

class QToolBar;

namespace furrow {

/// The button behind which a toolbar puts what does not fit, in a colour that is seen on the theme; the style's own is nearly black.
void dressOverflow(QToolBar& bar);

} // namespace furrow
