#pragma once

#include "core/config/schema.h"
#include "ui/bridge/run_commands.h"

#include <QDialog>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace furrow {

/// What a resume would do, chunk by chunk and checkpoint by checkpoint, before it does anything; stopping rules, devices and
/// other settings that a resume may change can be edited here.
class ResumeDialog : public QDialog {
    Q_OBJECT
public:
    ResumeDialog(const QString& folder, const QString& runName, std::int64_t attempt, PlanPtr plan, const RunConfig& config, QWidget* parent);
    /// The configuration from now on.
    const RunConfig& wanted() const { return wanted_; }

private:
    QWidget* buildHead(const QString& runName, std::int64_t attempt);
    QWidget* buildMap();
    QWidget* buildSide();
    void addCounts(QVBoxLayout* column);
    void addCheckpoints(QVBoxLayout* column);
    void addSettings(QVBoxLayout* column);
    QWidget* buildFoot(std::int64_t attempt);
    void edit(const Setting& setting, const QString& text);
    QString command() const;

    QString folder_;
    PlanPtr plan_;
    RunConfig frozen_;
    RunConfig wanted_;
    QLabel* problem_ = nullptr;
    QLabel* changed_ = nullptr;
    QPushButton* go_ = nullptr;
};

} // namespace furrow
