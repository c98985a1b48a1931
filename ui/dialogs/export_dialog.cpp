#include "ui/dialogs/export_dialog.h"

#include "core/base/file_system.h"
#include "core/base/free_name.h"
#include "core/base/path.h"
#include "core/config/named_tokenizer.h"
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

/// "": it is done, else why not.
QString renameFile(const QString& from, const QString& to)
{
    const auto renamed = realFileSystem().replace(pathFromUtf8(from.toStdString()), pathFromUtf8(to.toStdString()));
    return renamed.ok() ? QString() : coreWords(renamed.error().message);
}

QString endingOf(int kind)
{
    const QString endings[] = { QStringLiteral("-report.html"), QStringLiteral("-csv"), QStringLiteral("-jsonl"),
        QStringLiteral("-tensorboard"), QStringLiteral("-huggingface"), QStringLiteral(".gguf"),
        QStringLiteral("-bundle.tar.gz") };
    return endings[kind];
}

/// A name without the ending of its kind, or the part of it behind the first full stop.
QString withoutEnding(QString name, const QString& ending)
{
    const QString suffix = ending.mid(std::max<qsizetype>(0, ending.indexOf(QLatin1Char('.'))));
    for (const QString& end : { ending, suffix })
        if (name.endsWith(end)) {
            name.chop(end.size());
            break;
        }
    return name;
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
        showGo(true);
        say(coreWords(sentence), true);
    });
    target_->setText(QDir::toNativeSeparators(QDir::home().filePath(QFileInfo(folder_).fileName())));
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

/// Where a person wanted the one before, with the ending of this kind.
QString ExportDialog::targetOf(int kind) const
{
    const QString stem = withoutEnding(QDir::fromNativeSeparators(target_->text().trimmed()), endingOf(kind_));
    const QString home = QDir::home().filePath(QFileInfo(folder_).fileName());
    return QDir::toNativeSeparators((QFileInfo(stem).fileName().isEmpty() ? home : stem) + endingOf(kind));
}

void ExportDialog::choose(int kind)
{
    target_->setText(targetOf(kind));
    kind_ = kind;
    showGo(true);
    if (kind == Gguf && !hasFormInLlama())
        return say(
            tr("llama.cpp has no form for the tokenizer of this run. The model can be exported for Hugging Face."),
            true);
    say(kind == Report || kind == Bundle ? QString()
            : kind == Gguf               ? whatModel()
            : kind == HuggingFace        ? QStringLiteral("%1 %2").arg(tr("A folder is created there."), whatModel())
                                         : tr("A folder is created there."));
}

/// What the export would refuse after it was asked for.
bool ExportDialog::hasFormInLlama() const
{
    const RunConfig& config = status_->file.config;
    return !config.initFrom.empty() || closedValue<NamedTokenizer>(config.tokenizer) != NamedTokenizer::Char;
}

void ExportDialog::showGo(bool idle) { go_->setEnabled(idle && (kind_ != Gguf || hasFormInLlama())); }

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
    showGo(false);
    say(tr("Working…"));
    if (kind == Report) {
        auditor_.audit(folder_, AuditDepth::Files);
        return;
    }
    if (kind == Bundle) {
        unfinished_ = QString::fromStdString(utf8Text(freeName(pathFromUtf8((writing_ + kUnfinished).toStdString()))));
        task_.run(
            { QStringLiteral("bundle"), folder_, QStringLiteral("--out"), unfinished_, QStringLiteral("--json") });
        return;
    }
    const QString formats[] = { QStringLiteral("csv"), QStringLiteral("jsonl"), QStringLiteral("tensorboard"),
        QStringLiteral("huggingface"), QStringLiteral("gguf") };
    task_.run({ QStringLiteral("export"), folder_, QStringLiteral("--format"), formats[kind - Csv],
        QStringLiteral("--out"), writing_, QStringLiteral("--json") });
}

// A bundle gets its name when it is whole: one of that name stays until then. What has the name of an unfinished one
// already is a person's, or of a console that ended meanwhile: it stays too.
void ExportDialog::finishTask(const QJsonObject& answer, const QString& problem)
{
    showGo(true);
    const QString made = std::exchange(unfinished_, {});
    if (!problem.isEmpty()) {
        if (!made.isEmpty())
            QFile::remove(made);
        say(problem, true);
        return;
    }
    if (const QString why = made.isEmpty() ? QString() : renameFile(made, writing_); !why.isEmpty())
        return sayNotWritten(why);
    const QString saved = tr("Saved as %1.").arg(writing_);
    const QJsonObject weights = answer.value(QLatin1String("weights")).toObject();
    const QString whose
        = weights.isEmpty() ? QString() : tr("The weights: %1.").arg(coreWords(answeredMessage(weights, "text")));
    say(QStringLiteral("%1 %2").arg(saved, whose).trimmed());
}

void ExportDialog::writeReport(const AuditReport& audit)
{
    showGo(true);
    const QByteArray bytes
        = runReportHtml(*status_, tables_ ? tables_->attempts : std::vector<AttemptRow> {}, audit, curves_).toUtf8();
    QString why;
    if (writeWhole(writing_, bytes, &why))
        say(tr("Saved as %1.").arg(writing_));
    else
        sayNotWritten(why);
}

void ExportDialog::sayNotWritten(const QString& why)
{
    const QString folder = QFileInfo(writing_).path();
    say(QFileInfo::exists(folder) ? tr("%1 could not be written: %2").arg(writing_, why)
                                  : tr("%1 could not be written: the folder %2 is not there.")
                                        .arg(writing_, QDir::toNativeSeparators(folder)),
        true);
}

/// The dialog grows with what is said: no button is cut off.
void ExportDialog::say(const QString& sentence, bool bad)
{
    saySentence(state_, sentence, bad);
    layout()->activate();
    if (const int needed = layout()->totalHeightForWidth(width()); isVisible() && height() < needed)
        resize(width(), needed);
}

} // namespace furrow
