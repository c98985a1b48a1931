#include "ui/dialogs/export_dialog.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/run/status/run_weights.h"
#include "ui/bridge/answer_message.h"
#include "ui/models/core_words.h"
#include "ui/export/audit_report.h"
#include "ui/parts/page_parts.h"
#include "ui/export/run_report.h"
#include "ui/parts/save_file.h"

#include <QButtonGroup>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>
#include <utility>

namespace furrow {

namespace {

const auto kUnfinished = QStringLiteral(".unfinished");

bool renameFile(const QString& from, const QString& to)
{
    return realFileSystem().replace(pathFromUtf8(from.toStdString()), pathFromUtf8(to.toStdString())).ok();
}

} // namespace

ExportDialog::ExportDialog(
    const QString& folder, StatusPtr status, TablesPtr tables, const QImage& curves, QWidget* parent)
    : QDialog(parent)
    , folder_(folder)
    , status_(std::move(status))
    , tables_(std::move(tables))
    , curves_(curves)
    , kinds_(new QButtonGroup(this))
    , target_(new QLineEdit(this))
    , state_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    setWindowTitle(tr("Export run"));
    setMinimumWidth(680);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(6);
    const QString words[] = { tr("Report of the run: state, figures, curves, settings and audit on one HTML page"),
        tr("Measurements, as CSV tables"), tr("Measurements, as JSON lines"), tr("Measurements, for TensorBoard"),
        tr("The model, for Hugging Face"),
        tr("The model, for llama.cpp (GGUF, 16 bits; furrowctl export has more types)"),
        tr("Bundle for developers: logs, settings and audit, without data, weights, secrets or folder names") };
    for (int kind = Report; kind <= Bundle; ++kind) {
        auto* button = new QRadioButton(words[kind]);
        kinds_->addButton(button, kind);
        column->addWidget(button);
    }
    column->addSpacing(6);
    auto* row = new QHBoxLayout;
    target_->setAccessibleName(tr("Where to write it"));
    row->addWidget(target_, 1);
    auto* browse = makeButton(tr("Choose…"));
    connect(browse, &QPushButton::clicked, this, &ExportDialog::browse);
    row->addWidget(browse);
    column->addLayout(row);
    state_->setWordWrap(true);
    column->addWidget(state_);
    column->addStretch();
    column->addWidget(buildFoot());
    connect(kinds_, &QButtonGroup::idClicked, this, &ExportDialog::choose);
    connect(&task_, &TaskRunner::finished, this,
        [this](const QJsonObject& answer, const Message& problem) { finishTask(answer, coreWords(problem)); });
    connect(&auditor_, &LedgerAuditor::audited, this, [this](const AuditPtr& report) { writeReport(*report); });
    connect(&auditor_, &LedgerAuditor::progressed, this,
        [this](const Message& doing, double fraction) { say(auditProgressWords(doing, fraction)); });
    connect(&auditor_, &LedgerAuditor::failed, this, [this](const Message& sentence) {
        go_->setEnabled(true);
        say(coreWords(sentence), true);
    });
    kinds_->button(Report)->setChecked(true);
    choose(Report);
}

QWidget* ExportDialog::buildFoot()
{
    auto* foot = new QWidget(this);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 4, 0, 0);
    row->addStretch();
    auto* close = makeButton(tr("Close"));
    connect(close, &QPushButton::clicked, this, &QDialog::reject);
    row->addWidget(close);
    go_ = makeButton(tr("Export"), QStringLiteral("export"), true);
    go_->setDefault(true);
    connect(go_, &QPushButton::clicked, this, &ExportDialog::start);
    row->addWidget(go_);
    return foot;
}

void ExportDialog::choose(int kind)
{
    const QString base = QDir::home().filePath(QFileInfo(folder_).fileName());
    const QString endings[] = { QStringLiteral("-report.html"), QStringLiteral("-csv"), QStringLiteral("-jsonl"),
        QStringLiteral("-tensorboard"), QStringLiteral("-huggingface"), QStringLiteral(".gguf"),
        QStringLiteral("-bundle.tar.gz") };
    target_->setText(QDir::toNativeSeparators(base + endings[kind]));
    say(kind == Report || kind == Bundle ? QString()
            : kind == Gguf               ? whatModel()
            : kind == HuggingFace        ? QStringLiteral("%1 %2").arg(tr("A folder is created there."), whatModel())
                                         : tr("A folder is created there."));
}

/// Which weights the model has, before anything is written: of a run that is not merged it is that of one replica.
QString ExportDialog::whatModel() const
{
    const auto newest = tables_ ? weightsOf(tables_->checkpoints) : std::nullopt;
    if (!newest)
        return tr("The run has no checkpoint yet: the model has its start weights.");
    const QString whose = tr("The weights: %1.").arg(coreWords(whoseWeights(*newest)));
    return newest->isOneOfSeveral()
        ? tr("%1 \"Merge replicas\" in the Run menu makes one model of them all.").arg(whose)
        : whose;
}

void ExportDialog::browse()
{
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Where to write it"), target_->text(), {}, nullptr, QFileDialog::DontConfirmOverwrite);
    if (!file.isEmpty())
        target_->setText(QDir::toNativeSeparators(file));
}

void ExportDialog::start()
{
    const int kind = kinds_->checkedId();
    target_->setText(target_->text().trimmed());
    writing_ = target_->text();
    if ((kind == Report || kind == Bundle) && !mayReplace(this, writing_)) {
        say({});
        return;
    }
    go_->setEnabled(false);
    say(tr("Working…"));
    if (kind == Report) {
        auditor_.audit(folder_, AuditDepth::Files);
        return;
    }
    if (kind == Bundle) {
        QFile::remove(writing_ + kUnfinished); // of a console that ended meanwhile
        unfinished_ = writing_ + kUnfinished;
        task_.run({ QStringLiteral("bundle"), folder_, QStringLiteral("--out"), writing_ + kUnfinished,
            QStringLiteral("--json") });
        return;
    }
    const QString formats[] = { QStringLiteral("csv"), QStringLiteral("jsonl"), QStringLiteral("tensorboard"),
        QStringLiteral("huggingface"), QStringLiteral("gguf") };
    task_.run({ QStringLiteral("export"), folder_, QStringLiteral("--format"), formats[kind - Csv],
        QStringLiteral("--out"), writing_, QStringLiteral("--json") });
}

// A bundle gets its name when it is whole: one of that name stays until then.
void ExportDialog::finishTask(const QJsonObject& answer, const QString& problem)
{
    go_->setEnabled(true);
    const QString made = std::exchange(unfinished_, {});
    if (!problem.isEmpty()) {
        if (!made.isEmpty())
            QFile::remove(made);
        say(problem, true);
        return;
    }
    const bool named = made.isEmpty() || renameFile(made, writing_);
    const QString saved = tr("Saved as %1.").arg(writing_);
    const QJsonObject weights = answer.value(QLatin1String("weights")).toObject();
    const QString whose
        = weights.isEmpty() ? QString() : tr("The weights: %1.").arg(coreWords(answeredMessage(weights, "text")));
    say(named ? QStringLiteral("%1 %2").arg(saved, whose).trimmed() : tr("%1 could not be written.").arg(writing_),
        !named);
}

void ExportDialog::writeReport(const AuditReport& audit)
{
    go_->setEnabled(true);
    const QByteArray bytes
        = runReportHtml(*status_, tables_ ? tables_->attempts : std::vector<AttemptRow> {}, audit, curves_).toUtf8();
    const bool saved = writeWhole(writing_, bytes);
    say(saved ? tr("Saved as %1.").arg(writing_) : tr("%1 could not be written.").arg(writing_), !saved);
}

void ExportDialog::say(const QString& sentence, bool bad) { saySentence(state_, sentence, bad); }

} // namespace furrow
