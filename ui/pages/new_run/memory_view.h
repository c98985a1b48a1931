#pragma once

#include "core/device/placement.h"
#include "core/model/measured_memory.h"

#include <QWidget>

class QLabel;

namespace furrow {

class EstimateBar;
class Workbench;

/// How much memory the training of a worker will take, by formula and by what earlier runs took: what for, how sure
/// that is, and what its device has.
class MemoryView : public QWidget {
    Q_OBJECT
public:
    explicit MemoryView(Workbench& bench, QWidget* parent = nullptr);
    void refresh();
    /// As they were when the form was opened.
    const std::vector<Gpu>& gpus() const { return gpus_; }

protected:
    void showEvent(QShowEvent* event) override;

private:
    /// The GPU with the least free memory; null: they are on the CPU.
    const Gpu* smallestOf(const std::vector<WorkerPlacement>& workers) const;
    void showForecast(const MemoryForecast& forecast, const Gpu* gpu);
    void showWarnings(const std::vector<Message>& warnings);

    Workbench& bench_;
    std::vector<Gpu> gpus_;
    std::vector<MeasuredMemory> history_; ///< of the workspace, then too
    QLabel* title_;
    QLabel* value_;
    EstimateBar* bar_;
    QLabel* note_;
    QLabel* warning_; ///< what all workers together want beyond what the machine has
};

} // namespace furrow
