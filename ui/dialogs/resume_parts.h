#pragma once

#include "core/config/schema.h"
#include "core/run/start/life_cycle.h"
#include "ui/widgets/chunk_cell.h"

#include <QWidget>
#include <map>

class QButtonGroup;
class QGridLayout;

namespace furrow {

/// A chunk as the map draws it, for the lines of the dry run.
class Swatch : public QWidget {
    Q_OBJECT
public:
    explicit Swatch(CellKind kind);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    CellKind kind_;
};

/// What a resume does with the chunks of one epoch.
struct EpochFates {
    std::int64_t kept = 0;
    std::int64_t redo = 0; ///< committed until now
    std::int64_t lost = 0;
    std::int64_t released = 0; ///< claims that nobody began
    std::int64_t partly = 0; ///< a part of them is kept, the rest trained
    std::int64_t free = 0;
    bool isWhole = false; ///< all its chunks are known; else it is an earlier one, and only `redo` is
};
/// By epoch. @param effect  of the choice @param earlier  the epochs of the run, for those that are closed now and open
/// again then
std::map<std::int64_t, EpochFates> fatesByEpoch(const ResumeEffect& effect, const std::vector<EpochRow>& earlier);

/// What a resume does with the chunks of each epoch, where there are several: kept, trained again, free.
class EpochTable : public QWidget {
    Q_OBJECT
public:
    explicit EpochTable(QWidget* parent = nullptr);
    /// @param effect  of the choice
    /// @param earlier  the epochs of the run: of those that are closed now the plan knows only what is trained again
    void show(const ResumeEffect& effect, const std::vector<EpochRow>& earlier = {});

private:
    QGridLayout* grid_;
};

/// Where a resume goes on from: the newest checkpoints, or any older one that it can go on from, as radio buttons with
/// age, chunks trained again, loss on held-out text and what became of the files. Below them stand those whose files
/// cannot be used; those that were left behind are counted.
class CheckpointChoices : public QWidget {
    Q_OBJECT
public:
    explicit CheckpointChoices(const ResumePlan& plan, QWidget* parent = nullptr);
    /// Null: the newest of each replica.
    const ResumePlan::CheckpointChoice* chosen() const;
    QWidget* chosenRow() const; ///< the button of it
    int rowCount() const; ///< with the header

Q_SIGNALS:
    void changed();

protected:
    void paintEvent(QPaintEvent* event) override; ///< the lines between the rows and the ground of the chosen one

private:
    void addHeader();
    QString beforeTheStop(std::int64_t wallNs) const;
    static QString effectText(std::int64_t again);
    void addNewest();
    void addUsable();
    void addUnusable();
    void addCount(const QString& text);
    void addRow(const ResumePlan::CheckpointChoice& choice);
    void addCells(const QString& age, std::int64_t again, const std::optional<double>& evalLoss);

    const ResumePlan& plan_;
    const ResumePlan::CheckpointChoice* best_ = nullptr; ///< by the loss on held-out text; null: none was evaluated
    QGridLayout* grid_;
    QButtonGroup* group_;
    std::vector<const ResumePlan::CheckpointChoice*> rows_; ///< by id of the button; the first is null
};

/// What is different from now on, each with whether the curves before and after can be compared.
class ChangedSettings : public QWidget {
    Q_OBJECT
public:
    explicit ChangedSettings(QWidget* parent = nullptr);
    void show(const std::vector<ConfigChange>& changes);

private:
    QGridLayout* grid_;
};

} // namespace furrow
