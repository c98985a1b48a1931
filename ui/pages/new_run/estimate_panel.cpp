#include "ui/pages/new_run/estimate_panel.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/device/placement.h"
#include "core/model/pace_estimate.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/form_field.h"
#include "ui/pages/new_run/memory_view.h"
#include "ui/parts/marks.h"
#include "ui/parts/page_parts.h"
#include "ui/theme/theme.h"

#include <QCoreApplication>
#include <QClipboard>
#include <QGuiApplication>
#include <QGridLayout>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kShownLetters = 16; // of a value
constexpr std::size_t kMostRunsCompared = 500; // on each edit of the form
constexpr int kCommandPadding = 16; // of the style, above and below, with its frame

QHBoxLayout* valueRow(const QString& title, QLabel*& value)
{
    auto* row = new QHBoxLayout;
    row->addWidget(makeLabel(title, TextTone::Value, TextSize::Body));
    row->addStretch();
    value = makeLabel({}, TextTone::Value, TextSize::Body, true);
    row->addWidget(value);
    return row;
}

/// Settings whose model can be built, as the time of a run depends on them.
std::optional<PaceCase> paceOf(const RunConfig& config, const std::vector<Gpu>& gpus)
{
    const ModelConfig model = modelConfigOf(config, usualVocabulary(config));
    const auto workers = placeWorkers(config, gpus, cpuCount());
    if (!model.validate().empty() || !workers.ok() || workers.value().empty())
        return {};
    const auto& first = workers.value().front();
    const int count = static_cast<int>(workers.value().size());
    return paceCaseOf(config, model, first.device == "cpu" ? 0 : count, count, first.threads, cpuCount());
}

QString brokenCommand(QString command) { return command.replace(QLatin1String(" --"), QLatin1String(" \\\n  --")); }

} // namespace

EstimatePanel::EstimatePanel(Workbench& bench, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
{
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    auto* title = makeLabel(tr("Estimate"), TextTone::Value, TextSize::Body, true);
    title->setContentsMargins(12, 0, 12, 0);
    title->setFixedHeight(30);
    outer->addWidget(title);
    outer->addWidget(makeLine());
    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(8);
    buildEstimates(column);
    buildChanges(column);
    buildCommand(column);
    column->addStretch();
    auto* scroll = new QScrollArea(this);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(inside);
    outer->addWidget(scroll, 1);
    outer->addWidget(makeLine());
    buildFoot(outer);
    connect(&bench_.form(), &RunForm::edited, this, &EstimatePanel::refresh);
    connect(&bench_.form(), &RunForm::replaced, this, &EstimatePanel::refresh);
    connect(&bench_.form(), &RunForm::judged, this, &EstimatePanel::refresh);
    connect(&bench_.form(), &RunForm::taken, this, &EstimatePanel::refresh);
    connect(&bench_.scanner(), &WorkspaceScanner::scanned, this, &EstimatePanel::refreshEstimates);
    refresh();
}

void EstimatePanel::buildEstimates(QVBoxLayout* column)
{
    memory_ = new MemoryView(bench_);
    column->addWidget(memory_);
    column->addSpacing(4);
    column->addWidget(makeLine());
    column->addSpacing(4);
    column->addLayout(valueRow(tr("Chunks in an epoch"), chunksValue_));
    chunksNote_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    chunksNote_->setWordWrap(true);
    column->addWidget(chunksNote_);
    column->addSpacing(4);
    column->addWidget(makeLine());
    column->addSpacing(4);
    column->addLayout(valueRow(tr("Time to one epoch"), timeValue_));
    timeNote_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    timeNote_->setWordWrap(true);
    column->addWidget(timeNote_);
    column->addSpacing(4);
    column->addWidget(makeLine());
    column->addSpacing(4);
    column->addLayout(valueRow(tr("Disk, free"), diskValue_));
    diskNote_ = makeLabel({}, TextTone::Secondary, TextSize::Small);
    diskNote_->setWordWrap(true);
    column->addWidget(diskNote_);
    column->addSpacing(4);
    column->addWidget(makeLine());
}

void EstimatePanel::buildChanges(QVBoxLayout* column)
{
    column->addSpacing(4);
    auto* row = new QHBoxLayout;
    changesTitle_ = makeLabel({}, TextTone::Value, TextSize::Body, true);
    changesTitle_->setWordWrap(true);
    row->addWidget(changesTitle_, 1);
    revertAll_ = makeButton(tr("Reset all"));
    revertAll_->setProperty("link", true);
    revertAll_->setToolTip(tr("Set every setting back to the value of the preset; the data and the name stay"));
    connect(revertAll_, &QPushButton::clicked, &bench_.form(), &RunForm::revertAll);
    row->addWidget(revertAll_, 0, Qt::AlignTop);
    column->addLayout(row);
    changes_ = new QGridLayout;
    changes_->setVerticalSpacing(4);
    changes_->setHorizontalSpacing(12);
    changes_->setColumnStretch(0, 1);
    column->addLayout(changes_);
}

void EstimatePanel::buildCommand(QVBoxLayout* column)
{
    column->addSpacing(4);
    auto* row = new QHBoxLayout;
    row->addWidget(makeLabel(tr("Command"), TextTone::Value, TextSize::Body, true));
    row->addStretch();
    copy_ = makeButton(tr("Copy"), QStringLiteral("copy"));
    connect(
        copy_, &QPushButton::clicked, this, [this] { QGuiApplication::clipboard()->setText(bench_.form().command()); });
    row->addWidget(copy_);
    column->addLayout(row);
    command_ = new QPlainTextEdit;
    command_->setReadOnly(true);
    command_->setFont(codeFont(TextSize::Tiny));
    command_->setAccessibleName(tr("Command that creates this run"));
    command_->setTabChangesFocus(true);
    column->addWidget(command_);
}

void EstimatePanel::buildFoot(QVBoxLayout* column)
{
    auto* foot = new QVBoxLayout;
    foot->setContentsMargins(12, 12, 12, 12);
    foot->setSpacing(12);
    auto* line = new QHBoxLayout;
    line->setSpacing(8);
    problemMark_ = new IconMark(QStringLiteral("warning"), Token::Error);
    line->addWidget(problemMark_, 0, Qt::AlignTop);
    problemLine_ = makeLabel({}, TextTone::Error, TextSize::Small);
    problemLine_->setWordWrap(true);
    line->addWidget(problemLine_, 1);
    foot->addLayout(line);
    showSetting_ = makeButton(tr("Show this setting"));
    showSetting_->setProperty("link", true);
    connect(showSetting_, &QPushButton::clicked, this, [this] {
        if (const auto problems = bench_.form().problems(); !problems.empty())
            Q_EMIT settingWanted(problems.front().key);
    });
    foot->addWidget(showSetting_, 0, Qt::AlignLeft);
    torch_ = makeButton(tr("Install libtorch…"));
    torch_->hide();
    connect(torch_, &QPushButton::clicked, this, &EstimatePanel::torchWanted);
    foot->addWidget(torch_, 0, Qt::AlignLeft);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    launch_ = makeButton(tr("Launch"), QStringLiteral("play"), true);
    connect(launch_, &QPushButton::clicked, this, &EstimatePanel::launchWanted);
    row->addWidget(launch_);
    queue_ = makeButton(tr("Queue"), QStringLiteral("queue"));
    connect(queue_, &QPushButton::clicked, this, &EstimatePanel::queueWanted);
    row->addWidget(queue_);
    row->addStretch();
    save_ = makeButton(tr("Save preset…"));
    connect(save_, &QPushButton::clicked, this, &EstimatePanel::savePresetWanted);
    row->addWidget(save_);
    foot->addLayout(row);
    column->addLayout(foot);
}

void EstimatePanel::setExtent(const DataExtent& extent)
{
    extent_ = extent;
    refreshEstimates();
}

void EstimatePanel::setDataProblem(const QString& sentence)
{
    dataProblem_ = sentence;
    refresh();
}

void EstimatePanel::setMachineProblem(const QString& sentence)
{
    machineProblem_ = sentence;
    torch_->setVisible(!sentence.isEmpty());
    refresh();
}

namespace {

/// How many settings, and which.
QString whatIsWrong(const std::vector<ConfigProblem>& problems)
{
    constexpr qsizetype kMostNames = 4;
    QStringList names;
    for (const ConfigProblem& problem : problems)
        if (const Setting* setting = findSetting(problem.key); setting && !names.contains(settingLabel(*setting)))
            names.append(settingLabel(*setting));
    const QString count = EstimatePanel::tr(
        "%n setting(s) must be corrected before launch", nullptr, static_cast<int>(problems.size()));
    if (names.isEmpty() || names.size() > kMostNames)
        return count;
    return EstimatePanel::tr("%1: %2").arg(count, names.join(QStringLiteral(", ")));
}

} // namespace

void EstimatePanel::refresh()
{
    refreshEstimates();
    refreshChanges();
    showCommand();
    const std::vector<ConfigProblem> problems = bench_.form().problems();
    const int wrong = static_cast<int>(problems.size());
    const bool noData = bench_.form().config().data.empty();
    const bool onlyData = noData && wrong <= 1;
    const QString reason = onlyData ? tr("Choose the data first")
        : wrong > 0                 ? QStringLiteral("%1\n%2").arg(whatIsWrong(problems), dataProblem_).trimmed()
                                    : dataProblem_;
    showSetting_->setVisible(wrong > 0 && !onlyData);
    const QString beforeLaunch = reason.isEmpty() ? machineProblem_ : reason;
    say(beforeLaunch, true);
    queue_->setEnabled(bench_.form().isReady() && !busy_ && dataProblem_.isEmpty());
    launch_->setEnabled(queue_->isEnabled() && machineProblem_.isEmpty());
    launch_->setToolTip(beforeLaunch);
    queue_->setToolTip(reason.isEmpty() ? tr("Create the run and start it when its devices are free") : reason);
    copy_->setEnabled(std::all_of(problems.begin(), problems.end(),
        [noData](const ConfigProblem& problem) { return noData && problem.key == "data"; }));
    save_->setEnabled(copy_->isEnabled());
    command_->setEnabled(bench_.form().hasAllThatWasTyped());
}

void EstimatePanel::showCommand()
{
    command_->setPlainText(brokenCommand(bench_.form().command()));
    const QTextDocument& text = *command_->document();
    const int edges = 2 * (command_->contentsMargins().top() + static_cast<int>(text.documentMargin()));
    command_->setFixedHeight(static_cast<int>(text.size().height()) * command_->fontMetrics().lineSpacing() + edges
        + kCommandPadding); // a plain document counts lines
}

void EstimatePanel::refreshEstimates()
{
    memory_->refresh();
    const std::vector<ConfigProblem> problems = bench_.form().problems();
    const bool isWrong = std::any_of(problems.begin(), problems.end(), [](const ConfigProblem& problem) {
        const Setting* setting = findSetting(problem.key);
        return setting != nullptr && setting->group == SettingGroup::Data && problem.key != "data";
    });
    const bool known = extent_.chunks > 0 && !isWrong;
    chunksValue_->setText(known ? countText(extent_.chunks) : tr("not known yet"));
    chunksNote_->setText(known ? tr("in %n block(s)", nullptr, static_cast<int>(extent_.blocks))
            : isWrong          ? tr("Known once the settings of the data are right.")
            : extent_.isCountedLater
            ? tr("Counted when the run is made: the data has several sources, or its samples are only estimated.")
            : tr("Known once the data has been looked at."));
    refreshTime();
    std::filesystem::path folder = pathFromUtf8(bench_.workspace().toStdString());
    std::error_code failed;
    while (!std::filesystem::exists(folder, failed) && folder.has_parent_path() && folder != folder.parent_path())
        folder = folder.parent_path(); // a workspace that is not there yet will be made on this disk
    const auto free = freeBytes(folder);
    diskValue_->setText(free.ok() ? bytesText(free.value()) : tr("not known"));
    const auto cap = static_cast<std::uint64_t>(bench_.form().config().cacheGiB * (1 << 30));
    diskNote_->setText(bench_.form().problemsOf("cache_gib").empty()
            ? tr("Downloads and prepared blocks take at most %1.").arg(bytesText(cap))
            : QString());
}

void EstimatePanel::refreshTime()
{
    std::vector<MeasuredPace> history;
    std::vector<const RunLine*> runs; // of `history`
    const auto add = [&](const RunLine& line, const RunConfig& config, double tokensPerSecond) {
        const auto pace
            = tokensPerSecond > 0 && runs.size() < kMostRunsCompared ? paceOf(config, memory_->gpus()) : std::nullopt;
        if (!pace)
            return;
        history.push_back({ *pace, tokensPerSecond });
        runs.push_back(&line);
    };
    for (const RunLine& line : *bench_.scanner().lines()) {
        for (const SettingsPace& one : line.paces)
            add(line, one.config, one.tokensPerSecond);
        if (line.config && line.paces.empty())
            add(line, *line.inForce(), line.meanTokensPerSecond);
    }
    const auto wanted = paceOf(bench_.form().config(), memory_->gpus());
    const auto pace = wanted ? forecastPace(*wanted, history) : std::nullopt;
    const bool isTyped = bench_.form().hasAllThatWasTyped();
    if (!isTyped || !pace || extent_.tokens <= 0) {
        timeValue_->setText(tr("not known yet"));
        timeNote_->setText(!isTyped ? tr("Known once what must be corrected is right.")
                : !pace             ? tr("No run that trains in this way has been measured here.")
                                    : tr("The number of tokens is not known before the data is prepared."));
        return;
    }
    timeValue_->setText(tr("about %1").arg(durationText(static_cast<double>(extent_.tokens) / pace->tokensPerSecond)));
    timeNote_->setText(
        (pace->isSame ? tr("%1, measured on %2, its evaluations included")
                      : tr("%1, estimated from %2 by operations per token and cores or GPUs, its evaluations included"))
            .arg(rateText(pace->tokensPerSecond), runs[pace->from]->name));
}

void EstimatePanel::refreshChanges()
{
    while (QLayoutItem* item = changes_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const RunForm& form = bench_.form();
    const std::vector<ConfigProblem> wrong = form.problems();
    int row = 0;
    bool canRevert = false;
    for (const Setting& setting : settings()) {
        if (!form.isChanged(setting)) // what was typed and means nothing counts too
            continue;
        canRevert = canRevert || (setting.key != "data" && setting.key != "name");
        addChange(setting,
            std::any_of(wrong.begin(), wrong.end(),
                [&setting](const ConfigProblem& problem) { return problem.key == setting.key; }),
            row);
        changes_->addWidget(makeLine(), row + 1, 0, 1, 4);
        row += 2;
    }
    const QString title = QCoreApplication::translate("Schema", form.preset().title.c_str());
    changesTitle_->setText(row == 0 ? tr("As in the preset %1").arg(title) : tr("Changes to the preset %1").arg(title));
    revertAll_->setVisible(canRevert);
}

void EstimatePanel::addChange(const Setting& setting, bool isWrong, int row)
{
    const auto shortened = [](const QString& whole) {
        return whole.isEmpty()             ? tr("not set")
            : whole.size() > kShownLetters ? QStringLiteral("…") + whole.right(kShownLetters - 1)
                                           : whole;
    };
    const QString was = RunForm::presetText(bench_.form().preset(), setting);
    const QString is = bench_.form().text(setting);
    auto* key = new ElidedLabel(TextTone::Value, TextSize::Tiny);
    key->setText(QString::fromStdString(setting.key));
    key->setFont(codeFont(TextSize::Tiny));
    key->setToolTip(settingLabel(setting));
    QLabel* before = makeLabel(shortened(was), TextTone::Hint, TextSize::Small);
    QFont struck = before->font();
    struck.setStrikeOut(!was.isEmpty());
    before->setFont(struck);
    QLabel* after = makeLabel(shortened(is), isWrong ? TextTone::Error : TextTone::Value, TextSize::Small);
    after->setToolTip(is);
    auto* back = new QToolButton;
    back->setIcon(theme().icon(QStringLiteral("close")));
    back->setAutoRaise(true);
    back->setToolTip(tr("%1: set back to the value of the preset").arg(settingLabel(setting)));
    back->setAccessibleName(back->toolTip());
    connect(
        back, &QToolButton::clicked, this, [this, &setting] { bench_.form().revert(setting); },
        Qt::QueuedConnection); // the row goes with it
    changes_->addWidget(key, row, 0);
    changes_->addWidget(before, row, 1, Qt::AlignRight);
    changes_->addWidget(after, row, 2, Qt::AlignRight);
    changes_->addWidget(back, row, 3);
}

void EstimatePanel::setBusy(const QString& sentence)
{
    busy_ = !sentence.isEmpty();
    refresh();
    if (busy_)
        say(sentence, false);
}

void EstimatePanel::setFailure(const QString& sentence)
{
    busy_ = false;
    refresh();
    say(sentence, true);
}

void EstimatePanel::say(const QString& sentence, bool bad)
{
    saySentence(problemLine_, sentence, bad);
    problemLine_->setVisible(!sentence.isEmpty());
    problemMark_->setVisible(bad && !sentence.isEmpty());
}

} // namespace furrow
