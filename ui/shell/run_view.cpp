#include "ui/shell/run_view.h"

#include "ui/models/workbench.h"
#include "ui/pages/charts_page.h"
#include "ui/pages/chat_page.h"
#include "ui/pages/config_page.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/data_page.h"
#include "ui/pages/log_page.h"
#include "ui/pages/overview_page.h"
#include "ui/parts/overflow.h"
#include "ui/parts/page_parts.h"
#include "ui/parts/until_read.h"
#include "ui/pages/run_banner.h"
#include "ui/pages/sampling_page.h"
#include "ui/pages/workers_page.h"

#include <QScrollArea>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kLeastWidth = 360; // before that the docks become narrower

} // namespace

RunView::RunView(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , tabs_(new QTabBar(this))
    , stack_(new QStackedWidget(this))
    , rooms_(kPageCount, nullptr)
{
    setMinimumWidth(kLeastWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* banner = new RunBanner(bench_, this);
    connect(banner, &RunBanner::resumeWanted, this, &RunView::resumeWanted);
    connect(banner, &RunBanner::whyWanted, this, &RunView::whyWanted);
    connect(banner, &RunBanner::markFinishedWanted, this, &RunView::markFinishedWanted);
    connect(banner, &RunBanner::inspectWanted, this, [this] { showPage(Coverage); });
    column->addWidget(banner);
    for (const QString& title : { tr("Overview"), tr("Charts"), tr("Coverage"), tr("Workers"), tr("Config"), tr("Log"),
             tr("Data"), tr("Sampling"), tr("Chat") })
        tabs_->addTab(title);
    tabs_->setDrawBase(false);
    tabs_->setExpanding(false);
    tabs_->setFixedHeight(34);
    tabs_->setAccessibleName(tr("Pages of the run"));
    column->addWidget(tabs_);
    column->addWidget(makeLine());
    column->addWidget(new UntilRead(bench_.watcher(), stack_), 1);
    connect(tabs_, &QTabBar::currentChanged, this, &RunView::showPage);
    showPage(Overview);
}

int RunView::currentPage() const { return tabs_->currentIndex(); }

QWidget* RunView::page(int page) const
{
    const QScrollArea* room = rooms_[static_cast<std::size_t>(page)];
    return room == nullptr ? nullptr : room->widget();
}

void RunView::showPage(int page)
{
    QScrollArea*& room = rooms_[static_cast<std::size_t>(page)];
    if (room == nullptr) {
        room = makeRoomFor(make(page));
        stack_->addWidget(room);
    }
    const QSignalBlocker block(tabs_);
    tabs_->setCurrentIndex(page);
    stack_->setCurrentWidget(room);
    Q_EMIT pageShown(page);
}

QWidget* RunView::make(int page)
{
    switch (page) {
    case Overview: {
        auto* overview = new OverviewPage(bench_);
        connect(overview, &OverviewPage::whyWanted, this, &RunView::whyWanted);
        connect(overview, &OverviewPage::workerOpened, this, [this] { showPage(Workers); });
        return overview;
    }
    case Charts: {
        auto* charts = new ChartsPage(bench_);
        connect(charts, &ChartsPage::whyWanted, this, &RunView::whyWanted);
        connect(charts, &ChartsPage::logLossChanged, this, &RunView::logLossChanged);
        connect(charts, &ChartsPage::densityChanged, this, &RunView::densityChanged);
        return charts;
    }
    case Coverage: return new CoveragePage(bench_);
    case Workers: {
        auto* workers = new WorkersPage(bench_);
        connect(workers, &WorkersPage::newRunWanted, this, &RunView::newRunFromWanted);
        connect(workers, &WorkersPage::sampleWanted, this, [this](const QString& checkpoint) {
            showPage(Sampling);
            qobject_cast<SamplingPage*>(this->page(Sampling))->setCheckpoint(checkpoint);
        });
        return workers;
    }
    case Config: {
        auto* config = new ConfigPage(bench_);
        connect(config, &ConfigPage::cloneWanted, this, &RunView::cloneWanted);
        return config;
    }
    case Log: return new LogPage(bench_);
    case Data: return new DataPage(bench_);
    case Sampling: return new SamplingPage(bench_);
    default: return new ChatPage(bench_);
    }
}

} // namespace furrow
