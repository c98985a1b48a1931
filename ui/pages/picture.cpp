#include "ui/pages/picture.h"

#include "ui/theme/theme.h"

#include <QPainter>
#include <QPdfWriter>
#include <QWidget>

namespace furrow {

bool savePagePicture(QWidget& page, const QString& file)
{
    constexpr double kScale = 2;
    if (file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) {
        QPdfWriter pdf(file);
        pdf.setResolution(96);
        pdf.setPageMargins({});
        pdf.setPageSize(QPageSize(QSizeF(page.size()) * 72 / 96, QPageSize::Point));
        QPainter painter;
        if (!painter.begin(&pdf))
            return false;
        page.render(&painter);
        return painter.end();
    }
    QPixmap picture(page.size() * kScale);
    picture.setDevicePixelRatio(kScale);
    picture.fill(theme().color(Token::Panel));
    QPainter painter(&picture);
    page.render(&painter);
    painter.end();
    return picture.save(file.endsWith(QLatin1String(".png"), Qt::CaseInsensitive) ? file : file + QStringLiteral(".png"));
}

} // namespace furrow
