#pragma once

#include "core/config/chunk_name.h"
#include "ui/bridge/data_prober.h"
#include "ui/charts/coverage_map.h"

#include <QFrame>

class QLabel;
class QPushButton;

namespace furrow {

class RunForm;

/// The blocks and chunks that the data will be cut into, below the setting `start_at`: a click or the arrow keys choose
/// the chunk that the first epoch begins with. Where the cut is not known before the run, it says so and shows no map.
class StartMap : public QFrame {
    Q_OBJECT
public:
    explicit StartMap(RunForm& form, QWidget* parent = nullptr);
    void setWaiting();
    void setProbe(const ProbePtr& probe);
    /// There is no data to look at.
    void clear();

private:
    void buildHead();
    void showNothing(const QString& why);
    void showPlan(const DataInspection& seen);
    void choose(ChunkId chunk);
    /// Selects and says where the run will begin.
    void refresh();
    QString startWords() const;

    RunForm& form_;
    CoverageMap* map_;
    QLabel* words_;
    QPushButton* beginning_ = nullptr;
    std::int64_t blocks_ = 0; ///< of the plan that is shown; 0: none is
};

/// The chunks of a data set as they will be cut: rows and sizes decide. Empty: that is not known before the run (rows
/// are estimated, several sources).
std::vector<ChunkCell> plannedChunks(const DataInspection& seen, std::int64_t chunkSamples);

} // namespace furrow
