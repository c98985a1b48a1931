#include "ui/parts/until_read.h"

#include "ui/bridge/run_watcher.h"
#include "ui/parts/page_parts.h"

namespace furrow {

UntilRead::UntilRead(const RunWatcher& watcher, QWidget* view, QWidget* parent)
    : QStackedWidget(parent)
{
    addWidget(view);
    addWidget(new EmptyState(tr("Reading…")));
    const auto follow = [this](bool reading) { setCurrentIndex(reading ? 1 : 0); };
    connect(&watcher, &RunWatcher::readingChanged, this, follow);
    follow(watcher.isReading());
}

} // namespace furrow
