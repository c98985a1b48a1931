#include "ui/pages/new_run/form_group.h"

#include "ui/models/setting_words.h"
#include "ui/models/run_form.h"
#include "ui/parts/page_parts.h"
#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <QResizeEvent>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kTitleWidth = 112;
constexpr int kNarrow = 640; // below it the fields stand in one column, below the title of their group
constexpr std::size_t kSummarySettings = 4;
constexpr int kFoldTitleWidth = 190; // so that the summaries stand below each other

/// "Cosine" within a line is "cosine"; "LayerNorm" and "GELU" are names.
QString insideSentence(const QString& words)
{
    const bool isName = std::any_of(
        words.begin() + std::min<qsizetype>(1, words.size()), words.end(), [](QChar c) { return c.isUpper(); });
    return isName ? words : words.left(1).toLower() + words.mid(1);
}

} // namespace

FormGroup::FormGroup(const QString& title, bool folded, RunForm& form, QWidget* parent)
    : QFrame(parent)
    , form_(form)
    , title_(title)
    , folds_(folded)
    , open_(!folded)
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(makeLine());
    if (folds_)
        buildFoldLine(title);
    body_ = new QWidget(this);
    grid_ = new QGridLayout(body_);
    grid_->setContentsMargins(0, 12, 0, 12);
    grid_->setHorizontalSpacing(8);
    grid_->setVerticalSpacing(8);
    titleLabel_ = makeLabel(folds_ ? QString() : title, TextTone::Value, TextSize::Body, true);
    titleLabel_->setAlignment(Qt::AlignTop);
    column->addWidget(body_);
    body_->setVisible(open_);
}

void FormGroup::buildFoldLine(const QString& title)
{
    foldLine_ = new QWidget(this);
    auto* row = new QHBoxLayout(foldLine_);
    row->setContentsMargins(0, 2, 0, 2);
    foldButton_ = new QToolButton(foldLine_);
    foldButton_->setText(title);
    foldButton_->setFont(scaledFont(TextSize::Body, QFont::DemiBold));
    foldButton_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    foldButton_->setIcon(theme().icon(QStringLiteral("chevron-right"), Token::Text2));
    foldButton_->setMinimumWidth(kFoldTitleWidth);
    foldButton_->setAutoRaise(true);
    foldButton_->setAccessibleName(title);
    connect(foldButton_, &QToolButton::clicked, this, [this] { setOpen(!open_); });
    row->addWidget(foldButton_);
    summaryLabel_ = new ElidedLabel(TextTone::Secondary, TextSize::Small);
    summaryLabel_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    row->addWidget(summaryLabel_, 1);
    countLabel_ = makeLabel({}, TextTone::Hint, TextSize::Small);
    row->addWidget(countLabel_);
    layout()->addWidget(foldLine_);
}

void FormGroup::setOpen(bool open)
{
    open_ = open;
    body_->setVisible(open);
    if (foldButton_ != nullptr)
        foldButton_->setIcon(
            theme().icon(open ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"), Token::Text2));
}

void FormGroup::add(const Setting& setting)
{
    auto* field = new FormField(setting, form_, body_);
    fields_.push_back(field);
    shown_.push_back(field);
    if (countLabel_ != nullptr)
        countLabel_->setText(tr("%n setting(s)", nullptr, static_cast<int>(fields_.size())));
}

void FormGroup::addExtra(QWidget* widget)
{
    widget->setParent(body_);
    extras_.push_back(widget);
}

void FormGroup::addBeside(const std::string& key, QWidget* widget)
{
    widget->setParent(body_);
    beside_[key] = widget;
    for (const FormField* field : fields_)
        if (field->setting().key == key)
            setTabOrder(field->editor(), widget); // it was made later, and stands beside it
}

void FormGroup::addBelow(const std::string& key, QWidget* widget)
{
    widget->setParent(body_);
    below_[key] = widget;
}

// Fields go two in a row; a wide one and a line about a problem have a row of their own.
void FormGroup::layOut()
{
    while (grid_->count() > 0)
        delete grid_->takeAt(0);
    grid_->addWidget(titleLabel_, 0, narrow_ ? 1 : 0, 1, narrow_ ? 4 : 1);
    titleLabel_->setContentsMargins(narrow_ ? FormField::kTextLeft : 0, 5, 0, 0);
    titleLabel_->setVisible(!narrow_ || !titleLabel_->text().isEmpty());
    grid_->setColumnMinimumWidth(0, narrow_ ? 0 : kTitleWidth);
    grid_->setColumnStretch(2, 1);
    grid_->setColumnStretch(4, narrow_ ? 0 : 1);
    grid_->setColumnMinimumWidth(
        3, narrow_ ? 0 : FormField::kLabelWidth); // a row with one field is as wide as the others
    int row = narrow_ ? 1 : 0; // the title stands above the fields
    int side = 0; // 0 left, 1 right
    std::vector<QWidget*> problems; // of the row that is being filled
    std::vector<QWidget*> below; // it, and wider than its editors
    const auto endRow = [&] {
        ++row;
        side = 0;
        for (QWidget* problem : problems)
            grid_->addWidget(problem, row++, 2, 1, 3);
        for (QWidget* one : below)
            addWide(*one, row++);
        problems.clear();
        below.clear();
    };
    for (FormField* field : shown_) {
        if (field->isWide() && side == 1)
            endRow();
        grid_->addWidget(field->label(), row, side * 2 + 1);
        const auto beside = beside_.find(field->setting().key);
        if (field->isWide()) {
            auto* cell = new QHBoxLayout;
            cell->addWidget(field->editor(), 1);
            if (beside != beside_.end())
                cell->addWidget(beside->second);
            grid_->addLayout(cell, row, 2, 1, 3);
        } else {
            grid_->addWidget(field->editor(), row, side * 2 + 2);
        }
        problems.push_back(field->problem());
        if (const auto found = below_.find(field->setting().key); found != below_.end())
            below.push_back(found->second);
        if (field->isWide() || side == 1 || narrow_)
            endRow();
        else
            side = 1;
    }
    if (side == 1)
        endRow();
    for (QWidget* extra : extras_)
        addWide(*extra, row++);
}

/// Labels and editors wide.
void FormGroup::addWide(QWidget& widget, int row)
{
    auto* cell = new QHBoxLayout;
    cell->setContentsMargins(FormField::kTextLeft, 0, 0, 0);
    cell->addWidget(&widget);
    grid_->addLayout(cell, row, 1, 1, 4);
}

int FormGroup::filter(const QString& words, bool changedOnly)
{
    filtered_ = !words.isEmpty() || changedOnly;
    shown_.clear();
    for (FormField* field : fields_) {
        const bool show = field->hasProblem() // what must be corrected is never hidden
            || ((words.isEmpty() || field->matches(words)) && (!changedOnly || field->isChanged()));
        field->setVisible(show);
        if (const auto below = below_.find(field->setting().key); below != below_.end())
            below->second->setVisible(show);
        if (show)
            shown_.push_back(field);
    }
    for (QWidget* extra : extras_)
        extra->setVisible(!filtered_ && extra->property("wanted").toBool());
    for (const auto& [key, widget] : beside_)
        widget->setVisible(!filtered_);
    titleLabel_->setText(folds_ && !filtered_ ? QString() : title_);
    layOut();
    if (foldLine_ != nullptr)
        foldLine_->setVisible(!filtered_);
    body_->setVisible(filtered_ || open_);
    setVisible(!shown_.empty() || (!filtered_ && !extras_.empty()));
    return static_cast<int>(shown_.size());
}

void FormGroup::refresh(const std::vector<ConfigProblem>& problems)
{
    bool hasProblem = false;
    for (FormField* field : fields_) {
        field->refresh(problems);
        hasProblem = hasProblem || field->hasProblem();
    }
    if (folds_) {
        summaryLabel_->setText(summary());
        if (hasProblem && !open_) // what must be corrected is never folded away
            setOpen(true);
    }
}

FormField* FormGroup::reveal(const std::string& key)
{
    for (FormField* field : fields_) {
        if (field->setting().key == key) {
            setOpen(true);
            return field;
        }
    }
    return nullptr;
}

QString FormGroup::summary() const
{
    QStringList parts;
    for (const FormField* field : fields_) {
        const QString value = form_.text(field->setting());
        const bool off = value == QLatin1String("0") || value == QLatin1String("false") || value.trimmed().isEmpty();
        if (off && !field->isChanged())
            continue;
        const QString label = settingLabel(field->setting()).toLower();
        const QString shown = field->shownText().trimmed();
        const QString whole = QStringLiteral("%1 %2 %3")
                                  .arg(label, field->setting().choices.empty() ? shown : insideSentence(shown),
                                      settingUnit(field->setting()));
        parts.append(value == QLatin1String("true") ? label : whole.trimmed());
        if (parts.size() == kSummarySettings)
            break;
    }
    return parts.join(QStringLiteral(", "));
}

void FormGroup::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    const bool narrow = event->size().width() < kNarrow;
    if (narrow != narrow_) {
        narrow_ = narrow;
        layOut();
    }
}

} // namespace furrow
