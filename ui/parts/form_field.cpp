#include "ui/parts/form_field.h"

#include "ui/models/core_words.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"
#include "ui/models/run_form.h"
#include "ui/models/typed_number.h"
#include "ui/parts/marks.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/elided_combo.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLocale>
#include <QPainter>
#include <QPushButton>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kLeastEditorWidth = 110;
constexpr int kMarkWidth = 3;

/// The 3 px bar that says: differs from the preset.
class ChangeMark : public QWidget {
public:
    explicit ChangeMark(QWidget* parent)
        : QWidget(parent)
    {
        setFixedWidth(kMarkWidth);
    }
    void setOn(bool on)
    {
        on_ = on;
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        if (on_)
            QPainter(this).fillRect(QRect(0, (height() - 16) / 2, kMarkWidth, 16), palette().color(QPalette::Link));
    }

private:
    bool on_ = false;
};

bool isInteger(const Setting& setting) { return std::holds_alternative<std::int64_t RunConfig::*>(setting.field); }

bool isReal(const Setting& setting) { return std::holds_alternative<double RunConfig::*>(setting.field); }

QString inOneLine(QString text) { return text.replace(QLatin1Char('\n'), QStringLiteral("\\n")); }

} // namespace

UnitEdit::UnitEdit(const QString& unit, QWidget* parent)
    : QLineEdit(parent)
    , unitText_(unit)
    , unit_(makeLabel(unit, TextTone::Hint, TextSize::Body))
{
    unit_->setParent(this);
    unit_->setAttribute(Qt::WA_TransparentForMouseEvents);
    connect(this, &QLineEdit::textChanged, this, &UnitEdit::placeUnit);
    placeUnit();
}

void UnitEdit::setZeroMeaning(const QString& meaning)
{
    zeroMeaning_ = meaning;
    placeUnit();
}

void UnitEdit::placeUnit()
{
    constexpr int kEdge = 9;
    constexpr int kDigitRoom = 34; // the 0 and the cursor before it
    const bool saysZero = text() == QLatin1String("0") && !zeroMeaning_.isEmpty()
        && unit_->fontMetrics().horizontalAdvance(zeroMeaning_) + kDigitRoom < width();
    unit_->setText(saysZero ? zeroMeaning_ : unitText_);
    const int room = width() - fontMetrics().horizontalAdvance(text()) - kDigitRoom;
    const int wanted = unit_->text().isEmpty() ? 0 : unit_->sizeHint().width();
    const int wide = wanted <= room
        ? wanted
        : 0; // "1,000,000 samples" read "00,000 samples": the number comes first, the tool tip has both
    unit_->setVisible(wide > 0);
    unit_->setGeometry(width() - wide - kEdge, 0, wide, height());
    setTextMargins(0, 0, wide == 0 || saysZero ? 0 : wide + 8, 0);
}

void UnitEdit::resizeEvent(QResizeEvent* event)
{
    QLineEdit::resizeEvent(event);
    placeUnit();
}

FormField::FormField(const Setting& setting, RunForm& form, QWidget* parent)
    : QObject(parent)
    , setting_(setting)
    , form_(form)
{
    label_ = new QWidget(parent);
    label_->setFixedWidth(kLabelWidth);
    auto* row = new QHBoxLayout(label_);
    row->setContentsMargins(0, 0, 8, 0);
    row->setSpacing(kTextLeft - kMarkWidth);
    mark_ = new ChangeMark(label_);
    row->addWidget(mark_);
    QLabel* words = makeLabel(settingLabel(setting), TextTone::Secondary, TextSize::Small);
    words->setToolTip(QStringLiteral("%1\n%2").arg(settingHelp(setting), QString::fromStdString(setting.option())));
    words->setWordWrap(true);
    row->addWidget(words, 1);
    buildEditor(parent);
    buildProblem(parent);
    words->setBuddy(editor_);
}

bool FormField::isWide() const
{
    return std::holds_alternative<std::vector<std::string> RunConfig::*>(setting_.field) || setting_.key == "init_from";
}

void FormField::buildEditor(QWidget* parent)
{
    if (std::holds_alternative<bool RunConfig::*>(setting_.field)) {
        check_ = new QCheckBox(parent);
        connect(check_, &QCheckBox::toggled, this,
            [this](bool on) { form_.setText(setting_, on ? QStringLiteral("true") : QStringLiteral("false")); });
        editor_ = check_;
    } else if (!setting_.choices.empty()) {
        combo_ = new ElidedCombo(parent);
        for (const std::string& value : setting_.choiceValues())
            combo_->addItem(settingChoice(setting_, value), QString::fromStdString(value));
        for (int i = 0; i < combo_->count(); ++i) // as the command and the help name it
            combo_->setItemData(i,
                QStringLiteral("%1 %2").arg(QString::fromStdString(setting_.option()), combo_->itemData(i).toString()),
                Qt::ToolTipRole);
        connect(combo_, &QComboBox::activated, this,
            [this](int index) { form_.setText(setting_, combo_->itemData(index).toString()); });
        editor_ = combo_;
    } else {
        line_ = new UnitEdit(settingUnit(setting_), parent);
        line_->setZeroMeaning(settingZero(setting_));
        connect(line_, &QLineEdit::textEdited, this, &FormField::edit);
        connect(line_, &QLineEdit::editingFinished, this,
            [this] { // a valid number gets its grouping when the person leaves
                if (!hasProblem_)
                    line_->setText(shownText());
            });
        editor_ = line_;
    }
    editor_->setToolTip(helpText());
    editor_->setAccessibleName(settingLabel(setting_));
    editor_->setAccessibleDescription(helpText());
    editor_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    editor_->setMinimumWidth(kLeastEditorWidth);
    if (combo_ != nullptr)
        combo_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
}

void FormField::buildProblem(QWidget* parent)
{
    problem_ = new QFrame(parent);
    problem_->setProperty("banner", QStringLiteral("error"));
    auto* row = new QHBoxLayout(problem_);
    row->setContentsMargins(10, 4, 4, 4);
    row->setSpacing(8);
    row->addWidget(new IconMark(QStringLiteral("warning"), Token::Error));
    problemText_ = makeLabel({}, TextTone::Value, TextSize::Small);
    problemText_->setWordWrap(true);
    row->addWidget(problemText_, 1);
    fix_ = new QPushButton(problem_);
    connect(fix_, &QPushButton::clicked, this, [this] { form_.setText(setting_, fixValue_); });
    row->addWidget(fix_);
    problem_->hide();
}

QString FormField::helpText() const
{
    const QString help = settingHelp(setting_);
    if (!std::holds_alternative<std::vector<std::string> RunConfig::*>(setting_.field))
        return help;
    return help + QLatin1Char('\n')
        + tr(
            "Separate several with commas. Put a name with a comma in it in double quotes: \"Goethe, Faust.txt\", b.txt");
}

QString FormField::shownText() const
{
    const QString text = form_.text(setting_);
    return form_.isRefused(setting_) ? inOneLine(text) : shownValue(setting_, text);
}

QString FormField::shownValue(const Setting& setting, const QString& text)
{
    bool ok = false;
    if (isInteger(setting)) {
        const qlonglong value = QLocale::c().toLongLong(text, &ok);
        return ok ? countText(value) : text;
    }
    if (isReal(setting)) {
        const double value = QLocale::c().toDouble(text, &ok);
        QLocale locale;
        locale.setNumberOptions(QLocale::OmitGroupSeparator | QLocale::OmitLeadingZeroInExponent);
        return ok ? locale.toString(value, 'g', 10) : text;
    }
    return setting.choices.empty() ? inOneLine(text) : settingChoice(setting, text.toStdString());
}

// What a range or an empty source refuses is said with the words of the form; rules between settings are sentences of
// core.
QString FormField::problemText(const ConfigProblem& problem, const QString& typed)
{
    const Setting* setting = findSetting(problem.key);
    if (setting == nullptr)
        return coreWords(problem.message);
    const QString label = settingLabel(*setting);
    if (setting->key == "data" && typed.isEmpty())
        return tr("%1 is empty: a file, a folder or an address (hf://, https://, s3://, gs://) is needed.").arg(label);
    const bool isWhole = isInteger(*setting);
    RunConfig asked; // what it refuses concerns this setting alone
    const auto refused = setTyped(asked, *setting, typed);
    if ((!isWhole && !isReal(*setting)) || refused.empty() || refused.front().message != problem.message)
        return coreWords(problem.message);
    return numberProblem(label, typed, { isWhole, setting->min, setting->max });
}

void FormField::edit(const QString& shown)
{
    QString text = shown;
    if (!isInteger(setting_) && !isReal(setting_))
        text.replace(QLatin1String("\\n"), QStringLiteral("\n"));
    form_.setTyped(setting_, text);
}

bool FormField::isChanged() const { return form_.isChanged(setting_); }

void FormField::setVisible(bool visible)
{
    shown_ = visible;
    label_->setVisible(visible);
    editor_->setVisible(visible);
    problem_->setVisible(visible && hasProblem_);
}

bool FormField::matches(const QString& words) const { return isAboutSetting(setting_, words); }

void FormField::refresh(const std::vector<ConfigProblem>& problems)
{
    static_cast<ChangeMark*>(mark_)->setOn(isChanged());
    if (check_ != nullptr)
        check_->setChecked(form_.text(setting_) == QLatin1String("true"));
    if (combo_ != nullptr)
        combo_->setCurrentIndex(combo_->findData(form_.text(setting_)));
    if (line_ != nullptr && !line_->hasFocus())
        line_->setText(shownText());
    editor_->setEnabled(!form_.isTaken(setting_));
    editor_->setToolTip(form_.isTaken(setting_)
            ? tr("%1\nIt comes from the model that the run starts from.").arg(helpText())
            : helpText());
    hasProblem_ = false;
    for (const ConfigProblem& problem : problems) {
        if (problem.key != setting_.key)
            continue;
        hasProblem_ = true;
        problemText_->setText(problemText(problem, form_.text(setting_)));
        fixValue_ = QString::fromStdString(problem.fix);
        fix_->setText(QCoreApplication::translate("NewRunPage", "Set to %1").arg(fixValue_));
        fix_->setVisible(!fixValue_.isEmpty());
        break;
    }
    setInvalid(editor_, hasProblem_);
    problem_->setVisible(hasProblem_ && shown_);
}

} // namespace furrow
