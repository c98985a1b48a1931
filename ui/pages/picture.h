#pragma once

#include <QString>

class QWidget;

namespace furrow {

/// A page as it is shown, as .png (twice the size) or .pdf (text and lines stay sharp).
bool savePagePicture(QWidget& page, const QString& file);

} // namespace furrow
