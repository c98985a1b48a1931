#pragma once

#include "core/device/gpu.h"

#include <QFrame>
#include <vector>

class QCheckBox;
class QGridLayout;

namespace furrow {

class RunForm;

/// The devices of this machine with a box each, bound to the setting `devices`: GPUs by name, UUID and free memory, and
/// the CPU with its cores. "auto" ticks what it stands for.
class DevicePicker : public QFrame {
    Q_OBJECT
public:
    explicit DevicePicker(RunForm& form, QWidget* parent = nullptr);
    void refresh();

private:
    void addRow(
        const QString& name, const QString& id, const QString& memory, const QString& note, const QString& value);
    void choose();

    struct Row {
        QCheckBox* box = nullptr;
        QString value; ///< UUID, or "cpu"
    };
    RunForm& form_;
    QGridLayout* grid_;
    std::vector<Row> rows_;
};

} // namespace furrow
