#pragma once

#include <QWidget>

namespace furrow {

class EmptyState;
class Workbench;

/// The centre while no run is shown: what there is to do first.
class WelcomePage : public QWidget {
    Q_OBJECT
public:
    explicit WelcomePage(Workbench& bench, QWidget* parent = nullptr);

Q_SIGNALS:
    void newRunWanted();
    void openRunWanted();
    void demonstrationWanted();

private:
    EmptyState* state_;
};

} // namespace furrow
