#pragma once

#include "core/config/schema.h"

#include <QLineEdit>
#include <QWidget>

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QPushButton;

namespace furrow {

class RunForm;

/// A line edit with its unit inside at the right.
class UnitEdit : public QLineEdit {
    Q_OBJECT
public:
    explicit UnitEdit(const QString& unit, QWidget* parent = nullptr);
    /// What 0 stands for ("no limit"); said instead of the unit while the field holds 0 and has the room.
    void setZeroMeaning(const QString& meaning);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void placeUnit();

    QString unitText_;
    QString zeroMeaning_;
    QLabel* unit_;
};

/// A setting of the form: label with a mark when it differs from the preset, editor, and the lines for what is wrong.
/// The parts are placed by the group that owns the field; this object only binds them to the draft.
class FormField : public QObject {
    Q_OBJECT
public:
    static constexpr int kLabelWidth = 126;
    static constexpr int kTextLeft
        = 9; ///< of the words in the label, behind the mark; what stands below begins there too

    FormField(const Setting& setting, RunForm& form, QWidget* parent);

    const Setting& setting() const { return setting_; }
    QWidget* label() const { return label_; }
    QWidget* editor() const { return editor_; }
    QWidget* problem() const { return problem_; }
    /// The editor takes the whole width of its group.
    bool isWide() const;
    bool isChanged() const;
    bool hasProblem() const { return hasProblem_; }
    void setVisible(bool visible);
    /// What is wrong with a setting, in the language of the person. @param typed  what was written for problem.key
    static QString problemText(const ConfigProblem& problem, const QString& typed);
    /// As the editor shows it: numbers grouped, in the locale.
    QString shownText() const;
    /// @param text  of a value, as core writes it
    static QString shownValue(const Setting& setting, const QString& text);
    /// isAboutSetting()
    bool matches(const QString& words) const;
    /// Takes text and marks from the draft.
    void refresh(const std::vector<ConfigProblem>& problems);

private:
    void buildEditor(QWidget* parent);
    QString helpText() const; ///< with how several values are written where there may be some
    void buildProblem(QWidget* parent);
    void edit(const QString& shown);

    const Setting& setting_;
    RunForm& form_;
    QWidget* label_ = nullptr;
    QWidget* mark_ = nullptr;
    QWidget* editor_ = nullptr;
    UnitEdit* line_ = nullptr;
    QComboBox* combo_ = nullptr;
    QCheckBox* check_ = nullptr;
    QWidget* problem_ = nullptr;
    QLabel* problemText_ = nullptr;
    QPushButton* fix_ = nullptr;
    QString fixValue_;
    bool hasProblem_ = false;
    bool shown_ = true;
};

} // namespace furrow
