#include "ui/shell/run_view.h"

#include "ui/models/workbench.h"
#include "ui/pages/charts_page.h"
#include "ui/pages/config_page.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/data_page.h"
#include "ui/pages/log_page.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/page_parts.h"
#include "ui/pages/run_banner.h"
#include "ui/pages/sampling_page.h"
#include "ui/pages/workers_page.h"

#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

namespace furrow {

RunView::RunView(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , tabs_(new QTabBar(this))
    , stack_(new QStackedWidget(this))
    , pages_(kPageCount, nullptr)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* banner = new RunBanner(bench_, this);
    connect(banner, &RunBanner::resumeWanted, this, &RunView::resumeWanted);
    connect(banner, &RunBanner::whyWanted, this, &RunView::whyWanted);
    connect(banner, &RunBanner::markFinishedWanted, this, &RunView::markFinishedWanted);
    connect(banner, &RunBanner::inspectWanted, this, [this] { showPage(Coverage); });
    column->addWidget(banner);
    for (const QString& title : { tr("Overview"), tr("Charts"), tr("Coverage"), tr("Workers"), tr("Config"), tr("Log"), tr("Data"), tr("Sampling") })
        tabs_->addTab(title);
    tabs_->setDrawBase(false);
    tabs_->setExpanding(false);
    tabs_->setFixedHeight(34);
    tabs_->setAccessibleName(tr("Pages of the run"));
    column->addWidget(tabs_);
    column->addWidget(makeLine());
    column->addWidget(stack_, 1);
    connect(tabs_, &QTabBar::currentChanged, this, &RunView::showPage);
    showPage(Overview);
}

int RunView::currentPage() const
{
    return tabs_->currentIndex();
}

void RunView::showPage(int page)
{
    QWidget*& widget = pages_[static_cast<std::size_t>(page)];
    if (widget == nullptr) {
        widget = make(page);
        stack_->addWidget(widget);
    }
    const QSignalBlocker block(tabs_);
    tabs_->setCurrentIndex(page);
    stack_->setCurrentWidget(widget);
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
        connect(charts, &ChartsPage::logLossChanged, this, &RunView::logLossChanged);
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
    default: return new SamplingPage(bench_);
    }
}

} // namespace furrow
