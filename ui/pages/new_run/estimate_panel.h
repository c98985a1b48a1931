#pragma once

#include "core/config/schema.h"
#include "ui/bridge/run_feed.h"

#include <QWidget>

class QGridLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QTableWidget;
class QVBoxLayout;

namespace furrow {

class MemoryView;
class Workbench;

/// What the preview of the data found that estimates need.
struct DataExtent {
    std::int64_t blocks = 0;
    std::int64_t chunks = 0;
    std::int64_t tokens = 0; ///< 0: not known
    bool isCountedLater = false; ///< the data was looked at, but its blocks are cut when the run is made
};

/// The right column of the New run page: estimates from what is really known, changes to the preset, the command, and
/// the buttons that act.
class EstimatePanel : public QWidget {
    Q_OBJECT
public:
    explicit EstimatePanel(Workbench& bench, QWidget* parent = nullptr);
    void setExtent(const DataExtent& extent);
    /// Why the data cannot be trained, as the look at it found; "": it can, or nobody knows yet. While there is one,
    /// nothing can be launched.
    void setDataProblem(const QString& sentence);
    /// Why nothing can be trained on this machine; "": it can, or nobody knows yet. A run can be made and queued all
    /// the same.
    void setMachineProblem(const QString& sentence);
    void refresh();
    /// A sentence about what is being done, while launching; "" ends it.
    void setBusy(const QString& sentence);
    void setFailure(const QString& sentence);

Q_SIGNALS:
    void launchWanted();
    void queueWanted();
    void savePresetWanted();
    void settingWanted(const std::string& key); ///< the person wants to see it
    void torchWanted(); ///< libtorch is missing, and the person wants it

private:
    void buildEstimates(QVBoxLayout* column);
    void buildChanges(QVBoxLayout* column);
    void buildCommand(QVBoxLayout* column);
    void buildFoot(QVBoxLayout* column);
    void refreshEstimates();
    void refreshTime();
    void refreshChanges();
    void addChange(const Setting& setting, bool isWrong, int row);
    void showCommand(); ///< as high as it is long
    /// Above the buttons: what is being done, or what is in the way; "" takes it away.
    void say(const QString& sentence, bool bad);

    Workbench& bench_;
    DataExtent extent_;
    QString dataProblem_;
    QString machineProblem_;
    bool busy_ = false;
    MemoryView* memory_ = nullptr;
    QLabel* timeValue_ = nullptr;
    QLabel* timeNote_ = nullptr;
    QLabel* chunksValue_ = nullptr;
    QLabel* chunksNote_ = nullptr;
    QLabel* diskValue_ = nullptr;
    QLabel* diskNote_ = nullptr;
    QLabel* changesTitle_ = nullptr;
    QPushButton* revertAll_ = nullptr;
    QGridLayout* changes_ = nullptr;
    QPlainTextEdit* command_ = nullptr;
    QPushButton* copy_ = nullptr;
    QWidget* problemMark_ = nullptr;
    QLabel* problemLine_ = nullptr;
    QPushButton* showSetting_ = nullptr; ///< the first one that must be corrected
    QPushButton* torch_ = nullptr;
    QPushButton* launch_ = nullptr;
    QPushButton* queue_ = nullptr;
    QPushButton* save_ = nullptr;
};

} // namespace furrow
