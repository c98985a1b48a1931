#pragma once

#include "ui/charts/series_chart.h"
#include "ui/models/run_tables.h"

#include <QWidget>
#include <optional>

class QGridLayout;
class QLabel;
class QPushButton;
class QTableView;
class QTimer;

namespace furrow {

class ChunkReader;
class ChunkSamplesView;
class Workbench;
struct KeptTrainings;

/// The right dock: what is known about the selected chunk, worker or run, with the way to see it elsewhere.
class InspectorDock : public QWidget {
    Q_OBJECT
public:
    explicit InspectorDock(Workbench& bench, QWidget* parent = nullptr);

Q_SIGNALS:
    void showInChartWanted();
    void showInMapWanted();
    void showInLogWanted();
    void quarantineWanted();
    void retryWanted(); ///< of the selected chunks that are poisoned
    void acceptWanted(); ///< the same

protected:
    void showEvent(QShowEvent* event) override;

private:
    void refresh();
    void refreshSoon();
    void showChunk(ChunkId chunk);
    /// Of an epoch that is not shown. Null: not read yet.
    const ChunkCell* cellElsewhere(ChunkId chunk);
    void readElsewhere(ChunkId chunk);
    void showWhoTrained(const ChunkCell* cell, const KeptTrainings& kept, const std::vector<ClaimRow>& history);
    void showTrained(const ChunkCell* shown, const KeptTrainings& kept, std::int64_t samples);
    void showLossInside(ChunkId chunk, const std::vector<ClaimRow>& history);
    void showHistory(std::vector<ClaimRow> history);
    void showManyChunks();
    bool isAnyPoisoned() const; ///< of the selected chunks
    QWidget* buildButtons();
    void showWorker(int worker);
    void showRunOr(std::optional<std::int64_t> attempt); ///< the attempt, when it is one of the run
    void showRun();
    void showAttempt(const AttemptRow& attempt);
    void addChanges(std::optional<std::int64_t> onlyOf); ///< the settings that attempts changed
    void sayWhetherPresent();
    QString stateText() const;
    /// As it was read last, where the run cannot be read. Nothing: no process of the newest attempt has that
    /// number.
    std::optional<WorkerStatus> statusOf(int worker) const;
    /// A name with its value; of a worker with its mark.
    struct Row {
        QString name;
        QString value;
        QString tip;
        int worker = -1;
        bool operator==(const Row&) const = default;
    };
    void addWorkerRow(int worker);
    void addRow(const QString& name, const QString& value, const QString& tip = {});
    void gather(); ///< the rows of what is selected
    void layRows(); ///< rows_ as widgets

    Workbench& bench_;
    ClaimModel claims_;
    ChunkModel chunks_;
    ChartLink link_;
    QLabel* title_;
    QLabel* mark_; // "spike"
    QLabel* present_; // while a replay shows the past beside what is of the present
    SeriesChart* inside_;
    ChunkSamplesView* samples_;
    ChunkReader* chunkReader_;
    ChunkId elsewhere_; ///< the chunk of another epoch that was asked for
    std::optional<ChunkCell> elsewhereCell_; ///< what was read of it
    QGridLayout* grid_;
    std::vector<Row> rows_;
    std::vector<Row> laid_; ///< those that have their widgets
    QLabel* historyTitle_;
    QTableView* history_;
    QTableView* chunkTable_;
    QLabel* keeps_ = nullptr; ///< what a quarantine does not change, where several chunks are chosen
    QPushButton* retry_ = nullptr; ///< with accept_: where a selected chunk is poisoned
    QPushButton* accept_ = nullptr;
    QPushButton* quarantine_ = nullptr; ///< among buttons_, which are built after it; its text says how many
    QWidget* buttons_;
    QTimer* timer_;
};

} // namespace furrow
