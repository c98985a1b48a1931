#include "ui/dialogs/notes_dialog.h"

#include "ui/parts/page_parts.h"

#include <QFormLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace furrow {

NotesDialog::NotesDialog(const QString& runName, const RunNotes& notes, QWidget* parent)
    : QDialog(parent)
    , before_(notes)
    , tags_(new QLineEdit(this))
    , group_(new QLineEdit(QString::fromStdString(notes.group), this))
    , note_(new QPlainTextEdit(QString::fromStdString(notes.note), this))
{
    setWindowTitle(tr("Tags and note of %1").arg(runName));
    resize(460, 300);
    QStringList words;
    for (const std::string& tag : notes.tags)
        words.append(QString::fromStdString(tag));
    tags_->setText(words.join(QStringLiteral(", ")));
    tags_->setPlaceholderText(tr("Separated by commas"));
    note_->setTabChangesFocus(true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    const std::pair<QString, QWidget*> rows[]
        = { { tr("Tags"), tags_ }, { tr("Group"), group_ }, { tr("Note"), note_ } };
    for (const auto& [name, field] : rows) {
        field->setAccessibleName(name);
        form->addRow(makeLabel(name, TextTone::Secondary), field);
    }
    column->addLayout(form, 1);
    auto* row = new QHBoxLayout;
    row->addStretch();
    auto* cancel = makeButton(tr("Cancel"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(cancel);
    auto* keep = makeButton(tr("Save notes"), {}, true);
    keep->setDefault(true);
    connect(keep, &QPushButton::clicked, this, &QDialog::accept);
    row->addWidget(keep);
    column->addLayout(row);
}

RunNotes NotesDialog::notes() const
{
    RunNotes notes = before_;
    notes.tags.clear();
    const QStringList words = tags_->text().split(QLatin1Char(','), Qt::SkipEmptyParts);
    for (const QString& word : words) {
        if (!word.trimmed().isEmpty())
            notes.tags.push_back(word.trimmed().toStdString());
    }
    notes.group = group_->text().trimmed().toStdString();
    notes.note = note_->toPlainText().trimmed().toStdString();
    return notes;
}

} // namespace furrow
