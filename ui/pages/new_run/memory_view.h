#pragma once

#include "core/device/placement.h"

#include <QWidget>

class QLabel;

namespace furrow {

class EstimateBar;
class RunForm;
struct MemoryEstimate;

/// How much memory the training of a worker takes by formula: what for, how sure that is, and what its device has.
class MemoryView : public QWidget {
    Q_OBJECT
public:
    explicit MemoryView(RunForm& form, QWidget* parent = nullptr);
    void refresh();

private:
    /// The GPU with the least free memory; null: they are on the CPU.
    const Gpu* smallestOf(const std::vector<WorkerPlacement>& workers) const;
    void show(const MemoryEstimate& estimate, const Gpu* gpu);

    RunForm& form_;
    std::vector<Gpu> gpus_; ///< as they were when the form was opened
    QLabel* title_;
    QLabel* value_;
    EstimateBar* bar_;
    QLabel* note_;
};

} // namespace furrow
