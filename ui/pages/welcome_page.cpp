#include "ui/pages/welcome_page.h"

#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"

#include <QPushButton>
#include <QVBoxLayout>

namespace furrow {

WelcomePage::WelcomePage(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , state_(new EmptyState({}))
{
    auto* column = new QVBoxLayout(this);
    column->addWidget(state_);
    connect(state_->addButton(tr("New run"), true), &QPushButton::clicked, this, &WelcomePage::newRunWanted);
    connect(state_->addButton(tr("Start demonstration run")), &QPushButton::clicked, this,
        &WelcomePage::demonstrationWanted);
    connect(state_->addButton(tr("Open run folder…")), &QPushButton::clicked, this, &WelcomePage::openRunWanted);
    const auto say = [this, &bench](const RunLinesPtr& lines) {
        state_->setSentence(lines->empty()
                ? tr("No runs in this workspace yet. The demonstration trains a small text that comes with Furrow on the CPU; the loss falls within seconds.")
                : tr("Select a run in the library, or start a new one in %1.").arg(bench.workspace()));
    };
    connect(&bench.scanner(), &WorkspaceScanner::scanned, this, say);
    say(bench.scanner().lines());
}

} // namespace furrow
