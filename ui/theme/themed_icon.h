#pragma once

#include "ui/theme/theme.h"

#include <QIconEngine>

namespace furrow {

/// Draws an SVG of resources/icons in a colour of the theme of the moment, anew for each size and pixel ratio.
class ThemedIconEngine : public QIconEngine {
public:
    ThemedIconEngine(QString name, Token role);
    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override;
    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override;
    QIconEngine* clone() const override { return new ThemedIconEngine(name_, role_); }

private:
    QString name_;
    Token role_;
};

} // namespace furrow
