#pragma once

#include "core/config/schema.h"
#include "core/run/status/run_status.h"
#include "ui/bridge/epoch_reader.h"
#include "ui/bridge/run_commands.h"

#include <QDialog>
#include <map>
#include <set>
#include <vector>

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace furrow {

class ChangedSettings;
class CheckpointChoices;
class EpochTable;
class CoverageMap;
class RatePreview;

/// What a resume would do, chunk by chunk and checkpoint by checkpoint, before it does anything; where it goes on from,
/// and stopping rules, devices and other settings that a resume may change, can be chosen here.
class ResumeDialog : public QDialog {
    Q_OBJECT
public:
    ResumeDialog(const QString& folder, const QString& runName, std::int64_t attempt, PlanPtr plan,
        const RunConfig& config, QWidget* parent);
    /// How far the run is: an attempt that a limit would end at once is not begun.
    void setStatus(const RunStatus& status);
    static constexpr int kLookAgain = 2; ///< result(): a person wants the files looked at once more, a disk may be back
    /// The configuration from now on.
    const RunConfig& wanted() const { return wanted_; }
    /// The checkpoint that was chosen; nothing: the newest of each replica.
    std::optional<CheckpointId> goBackTo() const;
    /// A person has said yes to leaving weights behind that are damaged or cannot be read. Asked for only where the
    /// choice needs it.
    bool acceptsLoss() const;
    /// How a person wants the learning rate to go on; nothing: as usual.
    std::optional<RateChoice> rate() const;
    void setAutoResume(bool wanted);
    bool isAutoResume() const;

private:
    QWidget* buildHead();
    QWidget* buildMap();
    QWidget* buildSide();
    void addCounts(QVBoxLayout* column);
    void addTruth(QVBoxLayout* column);
    const ResumeEffect& effect() const { return older_ ? *older_ : plan_->effect; }
    static QString partlyKeptWords(std::int64_t chunks);
    void showCounts(std::int64_t kept);
    void addCheckpoints(QVBoxLayout* column);
    QWidget* scrolledChoices();
    void addSettings(QVBoxLayout* column);
    QWidget* buildField(const Setting& setting);
    void addRate(QVBoxLayout* column);
    void showReplicas();
    void showRate();
    void addLoss(QVBoxLayout* column);
    bool needsYes() const;
    QString limitReached() const;
    QString endsAtOnce() const;
    void showData();
    bool isAnyOutOfReach() const;
    void enableGo();
    QWidget* buildFoot();
    void edit(const Setting& setting, const QString& text);
    void showChoice();
    void offerEpochs();
    void showMap();
    const std::vector<ChunkCell>& cellsOfMap(std::int64_t epoch);
    void sayWhatIsNotOnMap(std::int64_t shown);
    std::set<std::int64_t> epochsCounted() const;
    QString epochsInTitle() const;
    QString command() const;

    QString folder_;
    std::int64_t attempt_;
    PlanPtr plan_;
    std::optional<RunStatus> status_;
    RunConfig frozen_;
    RunConfig wanted_;
    QLabel* title_ = nullptr;
    QLabel* sentence_ = nullptr;
    CoverageMap* map_ = nullptr; ///< null: no chunk is known
    QLabel* notOnMap_ = nullptr; ///< below it, which chunks to be redone it has not; null as it
    QComboBox* epoch_ = nullptr; ///< of the map, hidden where it is the only one; null as it
    QLabel* ofOne_ = nullptr; ///< that the counts are of all of them; hidden and null as it
    EpochReader reopenedReader_;
    std::map<std::int64_t, std::vector<ChunkCell>>
        reopened_; ///< by epoch, of those that only an older checkpoint opens again
    std::optional<ResumeEffect> older_; ///< of the older checkpoint that is chosen; nothing: the plan's own holds
    std::vector<QLabel*> counts_; ///< as the lines of the dry run
    QLabel* keptMeaning_ = nullptr;
    QLabel* redoMeaning_ = nullptr;
    QLabel* lostMeaning_ = nullptr;
    QLabel* freeMeaning_ = nullptr;
    QLabel* sum_ = nullptr;
    QLabel* data_ = nullptr; ///< what would be left out of the data, or waited for
    EpochTable* epochs_ = nullptr;
    CheckpointChoices* choices_ = nullptr; ///< null: there is no checkpoint
    QLabel* replicas_ = nullptr; ///< what becomes of them; hidden where each goes on as it is
    QPushButton* more_ = nullptr; ///< shows the settings
    QLabel* ended_ = nullptr; ///< why the attempt before failed, where settings are the way out
    QLabel* problem_ = nullptr;
    QLabel* why_ = nullptr; ///< the button is closed: a setting that cannot be, a limit that is reached, changed data
    ChangedSettings* changed_ = nullptr;
    RatePreview* rate_ = nullptr; ///< null: nothing was trained yet
    QLabel* loss_ = nullptr;
    QCheckBox* acceptLoss_ = nullptr;
    std::map<const Setting*, QString> typed_; ///< what the edited fields hold, right or wrong
    bool settingsAreRight_ = true;
    QCheckBox* autoResume_ = nullptr;
    QPushButton* go_ = nullptr;
};

} // namespace furrow
