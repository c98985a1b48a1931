// How an SVG is made: Qt's generator knows no clip, so what a scroll area or a table cuts off would stand on its
// neighbours. Each widget is drawn alone and becomes an <svg> inside that of its parent, which cuts at its edges.

#include "ui/export/picture.h"

#include "ui/parts/save_file.h"
#include "ui/theme/theme.h"

#include <QBuffer>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <QWidget>

namespace furrow {

namespace {

constexpr int kDotsPerInch = 96; // what Qt lays out fonts for on a screen; the scale of the screen is on top

bool savePdf(QWidget& page, const QString& file)
{
    QPdfWriter pdf(file);
    pdf.setResolution(kDotsPerInch);
    pdf.setPageMargins({});
    pdf.setPageSize(QPageSize(QSizeF(page.size()) * 72 / kDotsPerInch, QPageSize::Point));
    QPainter painter;
    if (!painter.begin(&pdf))
        return false;
    page.render(&painter);
    return painter.end();
}

/// What a widget draws without those inside it, as the content of an <svg>.
QByteArray contentOf(QWidget& widget, QWidget::RenderFlags flags)
{
    QBuffer buffer;
    QSvgGenerator svg;
    svg.setOutputDevice(&buffer);
    svg.setResolution(kDotsPerInch);
    svg.setSize(widget.size());
    svg.setViewBox(widget.rect());
    QPainter painter(&svg);
    widget.render(&painter, {}, {}, flags);
    painter.end();
    const QByteArray& text = buffer.data();
    const auto begin = text.indexOf("<defs>"); // behind the head of the document and its title
    return text.mid(begin, text.lastIndexOf("</svg>") - begin);
}

/// The widget with those inside it. The outermost one has the ground of its window.
void addWidget(QByteArray& text, QWidget& widget, bool outermost)
{
    const QString place = outermost
        ? QStringLiteral("xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"")
        : QStringLiteral("x=\"%1\" y=\"%2\"").arg(widget.x()).arg(widget.y());
    text += QStringLiteral("<svg %1 width=\"%2\" height=\"%3\">\n")
                .arg(place)
                .arg(widget.width())
                .arg(widget.height())
                .toUtf8();
    text += contentOf(widget, outermost ? QWidget::DrawWindowBackground : QWidget::RenderFlags());
    for (QObject* child : widget.children()) { // the lowest first
        auto* inner = qobject_cast<QWidget*>(child);
        if (inner != nullptr && !inner->isWindow() && inner->isVisible() && !inner->size().isEmpty())
            addWidget(text, *inner, false);
    }
    text += "</svg>\n";
}

bool saveSvg(QWidget& page, const QString& file)
{
    QByteArray text;
    addWidget(text, page, true);
    return writeWhole(file, text);
}

bool savePng(QWidget& page, const QString& file)
{
    constexpr double kScale = 2;
    QPixmap picture(page.size() * kScale);
    picture.setDevicePixelRatio(kScale);
    picture.fill(theme().color(Token::Panel));
    QPainter painter(&picture);
    page.render(&painter);
    painter.end();
    return picture.save(file, "PNG");
}

} // namespace

bool savePagePicture(QWidget& page, const QString& file)
{
    if (file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive))
        return savePdf(page, file);
    if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive))
        return saveSvg(page, file);
    return savePng(page, file);
}

} // namespace furrow
