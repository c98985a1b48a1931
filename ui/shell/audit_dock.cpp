#include "ui/shell/audit_dock.h"

#include "ui/models/core_words.h"
#include "ui/models/run_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/export/audit_report.h"
#include "ui/parts/page_parts.h"
#include "ui/parts/save_file.h"
#include "ui/widgets/lane_view.h"

#include <QCheckBox>
#include <QDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QTableView>
#include <QTime>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace furrow {

namespace {

constexpr int kCheckMs = 15'000;

} // namespace

AuditDock::AuditDock(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , model_(findingColumns())
    , sentence_(makeLabel({}, TextTone::Secondary))
    , table_(makeTable(tr("Chunks twice or missing")))
    , ofData_(makeLabel({}, TextTone::Secondary))
    , splitter_(new QSplitter(Qt::Horizontal, this))
    , cause_(makeLabel({}, TextTone::Value, TextSize::Small))
    , lanes_(new LaneView(this))
    , again_(makeButton(tr("Check now")))
    , files_(makeButton(tr("Check weights and files")))
    , source_(new QCheckBox(tr("Read the data again"), this))
    , read_(makeButton(tr("Show report")))
    , save_(makeButton(tr("Save report…")))
    , timer_(new QTimer(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 0);
    auto* row = new QHBoxLayout;
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    for (QLabel* label : { sentence_, ofData_ }) {
        label->setWordWrap(true);
        words->addWidget(label);
    }
    ofData_->hide();
    row->addLayout(words, 1);
    row->addWidget(again_);
    source_->setToolTip(tr(
        "Prepares every block from the source once more and compares the samples by their fingerprints. This takes as long as preparing did."));
    row->addWidget(source_);
    files_->setToolTip(
        tr("Reads the newest weights and the prepared blocks and compares their SHA-256 with what was recorded."));
    row->addWidget(files_);
    row->addWidget(read_);
    row->addWidget(save_);
    column->addLayout(row);
    setSortedModel(table_, &model_, 0);
    splitter_->setHandleWidth(1);
    splitter_->addWidget(table_);
    auto* side = new QWidget;
    auto* sideColumn = new QVBoxLayout(side);
    sideColumn->setContentsMargins(12, 0, 0, 4);
    cause_->setWordWrap(true);
    sideColumn->addWidget(cause_);
    sideColumn->addWidget(lanes_, 1);
    splitter_->addWidget(side);
    splitter_->setSizes({ 560, 440 });
    splitter_->hide();
    column->addWidget(splitter_, 1);
    column->addStretch();
    connect(read_, &QPushButton::clicked, this, &AuditDock::showReport);
    connect(save_, &QPushButton::clicked, this, &AuditDock::saveReport);
    timer_->setInterval(kCheckMs);
    connect(timer_, &QTimer::timeout, this, [this] {
        if (isVisible() && moved_)
            checkByItself();
    });
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &AuditDock::follow);
    timer_->start();
    connect(again_, &QPushButton::clicked, this, &AuditDock::checkByItself);
    connect(files_, &QPushButton::clicked, this, &AuditDock::stopOrCheckFiles);
    connect(&auditor_, &LedgerAuditor::progressed, this, [this](const Message& doing, double fraction) {
        if (depth_ != AuditDepth::Quick)
            sentence_->setText(auditProgressWords(doing, fraction));
    });
    connect(&auditor_, &LedgerAuditor::audited, this, &AuditDock::show);
    connect(&auditor_, &LedgerAuditor::failed, this, [this](const Message& message) {
        files_->setText(tr("Check weights and files"));
        sentence_->setText(coreWords(message));
    });
    connect(&bench_.watcher(), &RunWatcher::opened, this, &AuditDock::takeRun);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &AuditDock::choose);
    connect(table_, &QTableView::clicked, this, &AuditDock::choose); // the row that a check marked is current already
    takeRun();
}

void AuditDock::takeRun()
{
    const bool any = !bench_.watcher().folder().isEmpty();
    auditor_.stop();
    files_->setText(tr("Check weights and files"));
    model_.reset({});
    report_.reset();
    read_->setEnabled(false);
    save_->setEnabled(false);
    again_->setEnabled(any);
    files_->setEnabled(any);
    source_->setEnabled(any);
    splitter_->hide();
    sentence_->setText(any ? QString() : tr("No run is shown."));
    ofData_->hide();
    Q_EMIT forgotten();
    if (isVisible())
        checkByItself();
}

void AuditDock::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    if (!report_ || moved_) // a report that still holds is not replaced by one that looked at less
        checkByItself();
}

/// A run that stands still is checked once, right after it came to rest.
void AuditDock::follow(const StatusPtr& status)
{
    const bool runs = status && status->supervised;
    moved_ = moved_ || runs || ran_;
    if (ran_ && !runs && isVisible())
        checkByItself();
    ran_ = runs;
}

void AuditDock::stopOrCheckFiles()
{
    if (auditor_.isBusy() && depth_ != AuditDepth::Quick) {
        auditor_.stop();
        files_->setText(tr("Check weights and files"));
        sentence_->setText(tr("Stopped. The weights were not inspected."));
        return;
    }
    begin(source_->isChecked() ? AuditDepth::Deep : AuditDepth::Files);
}

void AuditDock::begin(AuditDepth depth)
{
    if (bench_.watcher().folder().isEmpty())
        return;
    auditor_.stop();
    sentence_->setText(tr("Checking every chunk…"));
    check(depth);
    files_->setText(depth == AuditDepth::Quick ? tr("Check weights and files") : tr("Stop checking"));
}

void AuditDock::check(AuditDepth depth)
{
    if (bench_.watcher().folder().isEmpty() || auditor_.isBusy())
        return;
    moved_ = false;
    if (sentence_->text().isEmpty())
        sentence_->setText(tr("Checking every chunk…"));
    depth_ = depth;
    auditor_.audit(bench_.watcher().folder(), depth);
}

void AuditDock::show(const AuditPtr& report)
{
    std::int64_t twice = 0;
    std::int64_t missing = 0;
    std::int64_t known = 0;
    for (const AuditEpoch& epoch : report->epochs) {
        twice += epoch.duplicated;
        missing += epoch.missing;
        known += epoch.known;
    }
    files_->setText(tr("Check weights and files"));
    const QString time = QTime::currentTime().toString(QStringLiteral("HH:mm"));
    const int checked = static_cast<int>(known); // lupdate does not read past a cast
    if (known == 0)
        sentence_->setText(tr("No chunk is known yet."));
    else if (report->isClean() && report->inspectedWeights() && report->couldInspect())
        sentence_->setText(
            tr("No chunk twice, none missing; weights and files are as recorded. %Ln chunk(s) checked at %1.", nullptr,
                checked)
                .arg(time));
    else if (report->isClean() && report->inspectedWeights())
        sentence_->setText(tr(
            "No chunk twice, none missing, but not everything could be inspected: see below. %Ln chunk(s) checked at %1.",
            nullptr, checked)
                .arg(time));
    else if (report->isClean())
        sentence_->setText(
            tr("No chunk twice, none missing. %Ln chunk(s) checked at %1; weights not inspected.", nullptr, checked)
                .arg(time));
    else if (twice == 0 && missing == 0)
        sentence_->setText(tr("Problems found: see below. %Ln chunk(s) checked at %1.", nullptr, checked).arg(time));
    else
        sentence_->setText(tr("Trained twice: %1. Missing: %2. %Ln chunk(s) checked at %3.", nullptr, checked)
                .arg(countText(twice), countText(missing), time));
    sayOfData();
    showFindings(report->findings);
    report_ = report;
    read_->setEnabled(true);
    save_->setEnabled(true);
    Q_EMIT counted(twice, missing);
    Q_EMIT audited(report);
    if (moved_ && !ran_) // it came to rest while this check was under way
        checkByItself();
}

/// Rows that repeat others are no chunks that are trained twice, and rows that cannot be read no chunks that are
/// missing: where there are some, both are said.
void AuditDock::sayOfData()
{
    const StatusPtr& status = bench_.watcher().status();
    const QString said = status ? dataText(*status) : QString();
    ofData_->setText(said);
    ofData_->setVisible(!said.isEmpty());
}

/// The finding that was selected stays so wherever it is now, and what stands beside the table is told anew.
void AuditDock::showFindings(const std::vector<AuditFinding>& findings)
{
    const QScopedValueRollback<bool> nobodyChose(isRefilling_, true);
    const bool first = model_.rowCount() == 0;
    const AuditFinding* const selected = current();
    const std::optional<AuditFinding> before = selected == nullptr ? std::nullopt : std::optional(*selected);
    model_.reset(findings);
    splitter_->setVisible(!findings.empty());
    if (findings.empty())
        return;
    if (first)
        table_->resizeColumnsToContents();
    const auto same = std::find_if(findings.begin(), findings.end(), [&before](const AuditFinding& finding) {
        return before && finding.kind == before->kind && finding.chunk == before->chunk;
    });
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(table_->model());
    const int row = same == findings.end()
        ? 0
        : proxy->mapFromSource(model_.index(static_cast<int>(same - findings.begin()), 0)).row();
    if (row != table_->currentIndex().row())
        table_->selectRow(row);
    choose();
}

const AuditFinding* AuditDock::current() const
{
    const auto* proxy = static_cast<const QSortFilterProxyModel*>(table_->model());
    return model_.rowAt(proxy->mapToSource(table_->currentIndex()));
}

void AuditDock::choose()
{
    const AuditFinding* finding = current();
    if (finding == nullptr)
        return;
    showTimeLines(*finding);
    if (isRefilling_ || !table_->hasFocus())
        return; // a check that comes by itself takes nothing out of the hands of a person
    if (finding->chunk.value != 0) // of whatever epoch
        bench_.selection().setChunks(
            { { finding->chunk, placeOf(finding->chunk).block, placeOf(finding->chunk).column } });
}

// Every training of the chunk in the lane of its worker, on one scale of time.
void AuditDock::showTimeLines(const AuditFinding& finding)
{
    cause_->setText(coreWords(finding.text));
    std::map<int, Lane> byWorker;
    double begin = std::numeric_limits<double>::infinity();
    double end = 0;
    for (const ClaimRow& claim : finding.claims) {
        Lane& lane = byWorker[claim.worker];
        lane.worker = claim.worker;
        lane.name = tr("Worker %1").arg(claim.worker);
        lane.detail = tr("attempt %1").arg(claim.attempt.value);
        const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
        lane.claims.push_back({ claim.chunk.value, chunkShort(claim.block, claim.column), seconds(claim.claimedWallNs),
            seconds(claim.startedWallNs), seconds(claim.endedWallNs), claim.outcome == ClaimEnd::Lost });
        begin = std::min(begin, seconds(claim.claimedWallNs));
        end = std::max(end, seconds(std::max(claim.endedWallNs, claim.claimedWallNs)));
    }
    auto lanes = std::make_shared<std::vector<Lane>>();
    for (auto& [worker, lane] : byWorker)
        lanes->push_back(std::move(lane));
    lanes_->setVisible(!lanes->empty());
    if (lanes->empty())
        return;
    lanes_->setLanes(lanes);
    const double room = std::max(1.0, (end - begin) * 0.05);
    lanes_->setRange(begin - room, end + room, false);
}

void AuditDock::showReport()
{
    if (report_)
        auditReportDialog(*report_, QFileInfo(bench_.watcher().folder()).fileName(), this)->open();
}

void AuditDock::saveReport()
{
    if (!report_)
        return;
    const QString file = askSaveFile(this, tr("Save report"), QStringLiteral("audit.html"), tr("Reports"),
        { QStringLiteral("html"), QStringLiteral("pdf"), QStringLiteral("csv"), QStringLiteral("json") });
    if (file.isEmpty())
        return;
    Q_EMIT reportSaved(saveAuditReport(*report_, bench_.watcher().folder(), file), file);
}

} // namespace furrow
