#pragma once

#include <QString>

class QWidget;

namespace furrow {

/// A page as it is shown: .svg or .pdf, where text and lines stay sharp, else PNG of twice the size. False when it
/// could not be written.
bool savePagePicture(QWidget& page, const QString& file);

} // namespace furrow
