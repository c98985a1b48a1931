#pragma once

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

} // namespace furrow
