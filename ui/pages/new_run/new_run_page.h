#pragma once

#include "core/config/schema.h"
#include "core/run/start/life_cycle.h"
#include "ui/bridge/data_prober.h"
#include "ui/bridge/model_adopter.h"

#include <QWidget>
#include <set>
#include <string>
#include <vector>

class QCheckBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QListWidgetItem;
class QScrollArea;
class QTimer;
class QVBoxLayout;

namespace furrow {

class DataPreview;
class DevicePicker;
class EstimatePanel;
class FormGroup;
class StartMap;
class Workbench;

/// Flow 1: presets, the form made from the schema, estimates, Launch. The draft itself lives in the workbench.
class NewRunPage : public QWidget {
    Q_OBJECT
public:
    explicit NewRunPage(Workbench& bench, QWidget* parent = nullptr);
    /// Puts the cursor into the search field.
    void focusSearch();
    /// Brings the field of a setting into sight and puts the cursor into it.
    void showSetting(const std::string& key);
    /// Shows the file choosers' result as if it was typed.
    void setSource(const QString& source);

Q_SIGNALS:
    void closed(); ///< the person goes back without launching

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* buildHeader();
    QWidget* buildPresets();
    QWidget* buildForm();
    void pickCheckpoint();
    void pickWeights();
    void pickGguf();
    void pickHubModel();
    void addGroups(QVBoxLayout* column);
    void connectAll();
    void fillPresets();
    void choosePreset(const QListWidgetItem* item);
    void refresh();
    void adopt();
    void applyFilter();
    void probeSoon();
    void probe();
    void takeProbe(const ProbePtr& result);
    NewRun request();
    void launch();
    void queue();
    void savePreset();
    void chooseSource();

    Workbench& bench_;
    DataProber prober_;
    ModelAdopter adopter_;
    QTimer* probeTimer_;
    bool lookAgain_ = false; ///< the data could not be used when it was looked at
    QLineEdit* name_ = nullptr;
    QLabel* folderHint_ = nullptr;
    QLineEdit* search_ = nullptr;
    QCheckBox* changedOnly_ = nullptr;
    QListWidget* presets_ = nullptr;
    QScrollArea* scroll_ = nullptr;
    std::set<std::string> wrong_; ///< keys of the settings that must be corrected, as the filter knows them
    QLabel* nothingFound_ = nullptr;
    DataPreview* preview_ = nullptr;
    StartMap* startMap_ = nullptr;
    EstimatePanel* estimate_ = nullptr;
    std::vector<FormGroup*> groups_;
    std::vector<Preset> choices_; // rows of presets_, built in ones first
};

} // namespace furrow
