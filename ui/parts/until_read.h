#pragma once

#include <QStackedWidget>

namespace furrow {

class RunWatcher;

/// A view of the open run, and "Reading…" in its place until all of the first snapshot is there: nothing of the run
/// before stands under the name of the next one, and nothing is said of a run that was not read.
class UntilRead : public QStackedWidget {
    Q_OBJECT
public:
    /// Takes the view.
    UntilRead(const RunWatcher& watcher, QWidget* view, QWidget* parent = nullptr);
};

} // namespace furrow
