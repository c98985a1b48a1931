#include "ui/theme/themed_icon.h"

#include <QFile>
#include <QHash>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

namespace furrow {
namespace {

/// The text of an icon, read once.
const QByteArray& iconSource(const QString& name)
{
    static QHash<QString, QByteArray> sources;
    const auto known = sources.constFind(name);
    if (known != sources.constEnd())
        return *known;
    QFile file(QStringLiteral(":/furrow/icons/") + name + QStringLiteral(".svg"));
    QByteArray text;
    if (file.open(QIODevice::ReadOnly))
        text = file.readAll();
    return *sources.insert(name, text);
}

} // namespace

ThemedIconEngine::ThemedIconEngine(QString name, Token role)
    : name_(std::move(name))
    , role_(role)
{
}

void ThemedIconEngine::paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State)
{
    QByteArray source = iconSource(name_);
    const QColor color = theme().color(mode == QIcon::Disabled ? Token::Text3 : role_);
    source.replace("currentColor", color.name().toLatin1());
    QSvgRenderer renderer(source);
    if (renderer.isValid())
        renderer.render(painter, rect);
}

QPixmap ThemedIconEngine::pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state)
{
    QPixmap made(size);
    made.fill(Qt::transparent);
    QPainter painter(&made);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return made;
}

} // namespace furrow
