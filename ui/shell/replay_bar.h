#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

class QAction;
class QComboBox;
class QLabel;
class QSlider;

namespace furrow {

class Workbench;

/// The scrubber of the toolbar: drag to any past moment, or let it play.
class ReplayBar : public QWidget {
    Q_OBJECT
public:
    /// @param live  the action that follows the run
    /// @param play  the checkable action that lets time pass
    ReplayBar(Workbench& bench, QAction* live, QAction* play, QWidget* parent = nullptr);
    QSize sizeHint() const override { return { 300, 28 }; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void scrub(int position);
    void advance();
    void setPlaying(bool on);
    void showMoment();

    Workbench& bench_;
    QAction* live_;
    QAction* play_;
    QSlider* slider_;
    QLabel* time_;
    QComboBox* speed_;
    QTimer beat_;
    QElapsedTimer sinceBeat_;
};

} // namespace furrow
