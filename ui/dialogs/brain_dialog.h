#pragma once

#include "ui/bridge/brain_reader.h"
#include "ui/bridge/run_feed.h"
#include "ui/models/table_model.h"

#include <QDialog>

class QLabel;
class QPushButton;
class QTableView;

namespace furrow {

/// One run of a lineage: this one, or one that its weights came through.
struct BrainLine {
    QString folder;
    QString from; ///< checkpoint that the next younger run started from; of this run its newest weights
    std::int64_t steps = 0; ///< of that checkpoint's line of weights
    std::int64_t tokens = 0;
    QString chunks; ///< what of the data it has seen, in words
    bool there = false; ///< the folder still holds a run
};
/// This run first, then its ancestors, nearest first.
std::vector<BrainLine> brainLines(const Brain& brain);

/// The brain of a run: its weights, its tokenizer and the runs that they grew from, with what each had seen of the
/// data.
class BrainDialog : public QDialog {
    Q_OBJECT
public:
    /// @param lines  of the library, which calls the runs so
    BrainDialog(const QString& folder, const RunLinesPtr& lines, QWidget* parent);

Q_SIGNALS:
    void openRunWanted(const QString& folder);

private:
    QWidget* buildFoot();
    void show(const BrainPtr& brain);
    void followChoice();
    const BrainLine* chosen() const;

    QString folder_;
    BrainReader reader_;
    TableModel<BrainLine> lines_;
    QLabel* weights_;
    QLabel* tokenizer_;
    QTableView* table_;
    QPushButton* open_ = nullptr;
};

} // namespace furrow
