#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

namespace furrow {

/// Marker of a worker in its colour and shape.
class WorkerMark : public QWidget {
    Q_OBJECT
public:
    explicit WorkerMark(int worker, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int worker_;
};

/// An icon beside a word, in a colour of the theme of the moment.
class IconMark : public QWidget {
    Q_OBJECT
public:
    /// @param icon  name of a file in resources/icons
    IconMark(QString icon, Token colour, QWidget* parent = nullptr);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString icon_;
    Token colour_;
};

} // namespace furrow
