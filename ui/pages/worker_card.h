#pragma once

#include "core/run/status/run_status.h"

#include <QFrame>
#include <QVector>

class QLabel;
class QProgressBar;

namespace furrow {

class Sparkline;

/// One worker: marker, device, what it does now, its chunk, loss and speed.
class WorkerCard : public QFrame {
    Q_OBJECT
public:
    explicit WorkerCard(int worker, QWidget* parent = nullptr);
    /// @param endWanted  the run ended in order, so the end of the process is nothing to worry about
    void setStatus(const WorkerStatus& status, bool endWanted);
    /// Losses, oldest first.
    void setLosses(const QVector<double>& losses);

Q_SIGNALS:
    void chosen(int worker);
    void opened(); ///< after chosen(): a double click or Return

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    int worker_;
    QLabel* device_;
    QLabel* phase_;
    QLabel* chunk_;
    QProgressBar* progress_;
    QLabel* loss_;
    QLabel* speed_;
    QLabel* steps_;
    Sparkline* strip_;
};

} // namespace furrow
