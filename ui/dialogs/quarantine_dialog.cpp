#include "ui/dialogs/quarantine_dialog.h"

#include "ui/models/workbench.h"
#include "ui/models/error_text.h"
#include "ui/parts/page_parts.h"
#include "ui/parts/save_file.h"

#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace furrow {

QuarantineDialog::QuarantineDialog(Workbench& bench, QWidget* parent)
    : QDialog(parent)
    , bench_(bench)
    , name_(new QComboBox(this))
    , text_(new QPlainTextEdit(this))
    , counts_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    setWindowTitle(tr("Quarantine list"));
    resize(560, 460);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(8);
    auto* row = new QHBoxLayout;
    row->addWidget(makeLabel(tr("List"), TextTone::Secondary, TextSize::Small));
    name_->setEditable(true);
    name_->addItems(bench.quarantine().saved());
    name_->setCurrentIndex(-1);
    name_->setEditText(bench.quarantine().name().isEmpty() ? tr("left-out") : bench.quarantine().name());
    name_->setAccessibleName(tr("Name of the list"));
    name_->lineEdit()->setAccessibleName(tr("Name of the list"));
    row->addWidget(name_, 1);
    column->addLayout(row);
    text_->setFont(codeFont());
    text_->setTabChangesFocus(true);
    text_->setAccessibleName(tr("What is left out"));
    text_->setPlaceholderText(
        tr("One entry per line:\nchunk BLOCK:COLUMN\nsample FINGERPRINT\npattern REGULAR EXPRESSION"));
    column->addWidget(text_, 1);
    counts_->setWordWrap(true);
    column->addWidget(counts_);
    QLabel* meaning = makeLabel(
        tr("A list applies to later runs. Existing runs are not changed; chunks of the run that is shown are left out by the menu Data. Chunks are named by their place, so they mean the same only with the same data, "
           "samples per block and chunk size. Samples and patterns mean the same everywhere."),
        TextTone::Hint, TextSize::Small);
    meaning->setWordWrap(true);
    column->addWidget(meaning);
    column->addWidget(buildFoot());
    connect(name_, &QComboBox::activated, this, [this](int index) {
        QuarantineDraft& draft = bench_.quarantine();
        const bool isKept = !draft.isModified()
            || saveAs(draft.name().isEmpty() ? tr("left-out") : draft.name()); // nothing that was gathered goes
        const Status loaded = isKept ? draft.load(name_->itemText(index)) : Status {};
        if (!loaded.ok())
            say(loaded.error());
    });
    connect(text_, &QPlainTextEdit::textChanged, this, [this] { bench_.quarantine().setText(text_->toPlainText()); });
    connect(&bench_.quarantine(), &QuarantineDraft::changed, this, &QuarantineDialog::showDraft);
    showDraft();
    text_->setFocus();
}

QWidget* QuarantineDialog::buildFoot()
{
    auto* foot = new QWidget(this);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 4, 0, 0);
    row->addStretch();
    auto* cancel = makeButton(tr("Close"));
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(cancel);
    save_ = makeButton(tr("Save list"));
    connect(save_, &QPushButton::clicked, this, [this] {
        if (save())
            accept();
    });
    row->addWidget(save_);
    begin_ = makeButton(tr("New run without these…"), {}, true);
    connect(begin_, &QPushButton::clicked, this, [this] {
        if (!save())
            return;
        accept();
        Q_EMIT newRunWanted(bench_.quarantine().fileOf(name_->currentText().trimmed()));
    });
    row->addWidget(begin_);
    return foot;
}

void QuarantineDialog::showDraft()
{
    const QuarantineDraft& draft = bench_.quarantine();
    if (text_->toPlainText() != draft.text()) {
        const QSignalBlocker block(text_);
        text_->setPlainText(draft.text());
    }
    const bool good = draft.problem().isEmpty();
    setTone(counts_, good ? TextTone::Secondary : TextTone::Error);
    const QString chunks = tr("%n chunk(s)", nullptr, static_cast<int>(draft.chunkCount()));
    const QString samples = tr("%n sample(s)", nullptr, static_cast<int>(draft.sampleCount()));
    counts_->setText(good ? tr("%1, %2").arg(chunks, samples) : draft.problem());
    save_->setEnabled(good);
    begin_->setEnabled(good && !draft.text().trimmed().isEmpty() && bench_.watcher().status() != nullptr);
}

bool QuarantineDialog::save() { return saveAs(name_->currentText().trimmed()); }

// A list that was opened is saved under its name; another one of the name that was typed is not written over unasked.
bool QuarantineDialog::saveAs(const QString& name)
{
    QuarantineDraft& draft = bench_.quarantine();
    if (name != draft.name() && draft.saved().contains(name) && !mayReplace(this, draft.fileOf(name)))
        return false;
    const Status saved = draft.save(name);
    if (!saved.ok())
        say(saved.error());
    return saved.ok();
}

void QuarantineDialog::say(const Error& error)
{
    setTone(counts_, TextTone::Error);
    counts_->setText(errorText(error));
}

} // namespace furrow
