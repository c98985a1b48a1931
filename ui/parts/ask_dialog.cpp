#include "ui/parts/ask_dialog.h"

#include "ui/parts/page_parts.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace furrow {

namespace {

class AskDialog : public QDialog {
public:
    AskDialog(QWidget* parent, const Question& question, QWidget* field)
        : QDialog(parent)
        , go_(makeButton(question.verb, {}, true))
    {
        setWindowTitle(question.title);
        setMinimumWidth(440);
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(16, 12, 16, 12);
        column->setSpacing(8);
        column->addWidget(makeLabel(question.text, TextTone::Secondary));
        field->setAccessibleName(question.text);
        column->addWidget(field);
        auto* row = new QHBoxLayout;
        row->addStretch();
        auto* cancel = makeButton(QCoreApplication::translate("AskDialog", "Cancel"));
        connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
        row->addWidget(cancel);
        go_->setDefault(true);
        connect(go_, &QPushButton::clicked, this, &QDialog::accept);
        row->addWidget(go_);
        column->addLayout(row);
    }

    QPushButton& go() { return *go_; }

private:
    QPushButton* go_;
};

} // namespace

QString askText(QWidget* parent, const Question& question)
{
    auto* field = new QLineEdit;
    AskDialog dialog(parent, question, field);
    const auto enable = [&dialog, field] { dialog.go().setEnabled(!field->text().trimmed().isEmpty()); };
    QObject::connect(field, &QLineEdit::textChanged, &dialog, enable);
    enable();
    field->setFocus();
    return dialog.exec() == QDialog::Accepted ? field->text().trimmed() : QString();
}

int askChoice(QWidget* parent, const Question& question, const QStringList& choices)
{
    auto* field = new QComboBox;
    field->addItems(choices);
    AskDialog dialog(parent, question, field);
    field->setFocus();
    return dialog.exec() == QDialog::Accepted ? field->currentIndex() : -1;
}

} // namespace furrow
