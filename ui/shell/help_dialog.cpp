#include "ui/shell/help_dialog.h"

#include "core/config/schema.h"
#include "ui/models/setting_words.h"
#include "ui/parts/page_parts.h"

#include <QCoreApplication>
#include <QLineEdit>
#include <QListWidget>
#include <QTextBrowser>
#include <QTextDocument>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kTopicRow = 26;

constexpr int kLeastListWidth = 220;
constexpr int kListRoom = 36; // beside the text of a topic

QString said(const char* text) { return QCoreApplication::translate("Help", text); }

QString paragraphs(std::initializer_list<const char*> texts)
{
    QString html;
    for (const char* text : texts)
        html += QStringLiteral("<p>%1</p>").arg(said(text));
    return html;
}

QString title(HelpDialog::Topic topic)
{
    switch (topic) {
    case HelpDialog::FirstSteps: return said(QT_TRANSLATE_NOOP("Help", "First steps"));
    case HelpDialog::YourData: return said(QT_TRANSLATE_NOOP("Help", "Your data"));
    case HelpDialog::Sizes: return said(QT_TRANSLATE_NOOP("Help", "Chunk, block, batch and context"));
    case HelpDialog::States: return said(QT_TRANSLATE_NOOP("Help", "Why does this say “interrupted”?"));
    case HelpDialog::Resuming: return said(QT_TRANSLATE_NOOP("Help", "What a resume does"));
    case HelpDialog::Coverage: return said(QT_TRANSLATE_NOOP("Help", "Reading the coverage map"));
    case HelpDialog::Merging: return said(QT_TRANSLATE_NOOP("Help", "Workers, replicas and merges"));
    case HelpDialog::Privacy: return said(QT_TRANSLATE_NOOP("Help", "Private training"));
    case HelpDialog::Words: return said(QT_TRANSLATE_NOOP("Help", "What the words mean"));
    default: return said(QT_TRANSLATE_NOOP("Help", "What each setting does"));
    }
}

QString wordList()
{
    const std::pair<QString, QString> entries[] = {
        { QCoreApplication::translate("Help", "Sample"),
            QCoreApplication::translate("furrow::WordsDialog", "One text of the data set.") },
        { QCoreApplication::translate("Help", "Chunk"),
            QCoreApplication::translate("furrow::WordsDialog",
                "The samples that one worker claims and trains at a time. Its size does not change GPU memory: batch size times context does.") },
        { QCoreApplication::translate("Help", "Block"),
            QCoreApplication::translate("furrow::WordsDialog",
                "Consecutive samples that are fetched, cleaned and cut into tokens as one unit. A block is made of chunks.") },
        { QCoreApplication::translate("Help", "Batch"),
            QCoreApplication::translate("furrow::WordsDialog",
                "The windows of tokens in one micro-step of one worker. It decides how much memory a step takes.") },
        { QCoreApplication::translate("Help", "Context"),
            QCoreApplication::translate("furrow::WordsDialog", "How many tokens the model sees at once.") },
        { QCoreApplication::translate("Help", "Epoch"),
            QCoreApplication::translate("furrow::WordsDialog",
                "Every chunk of every block committed once, or named as excluded or poisoned.") },
        { QCoreApplication::translate("Help", "Run"),
            QCoreApplication::translate(
                "furrow::WordsDialog", "One training job with its frozen configuration. It lives in one folder.") },
        { QCoreApplication::translate("Help", "Attempt"),
            QCoreApplication::translate(
                "furrow::WordsDialog", "One stretch of a run from start or resume until stop, crash or end.") },
        { QCoreApplication::translate("Help", "Worker"),
            QCoreApplication::translate(
                "furrow::WordsDialog", "One process on one device that claims chunks and trains them.") },
        { QCoreApplication::translate("Help", "Committed"),
            QCoreApplication::translate("furrow::WordsDialog",
                "The chunk is in a checkpoint. Trained means: in the weights of a worker, not saved yet; a crash costs that work.") },
        { QCoreApplication::translate("Help", "Poisoned"),
            QCoreApplication::translate("furrow::WordsDialog",
                "The chunk failed too often. It keeps the epoch open until it is accepted or tried again.") },
        { QCoreApplication::translate("Help", "Interrupted"),
            QCoreApplication::translate("furrow::WordsDialog",
                "No process of the run is alive and none recorded why it ended: the computer stopped or the processes were killed. Resume shows what would be trained again before it does anything.") },
        { QCoreApplication::translate("Help", "Merge"),
            QCoreApplication::translate(
                "furrow::WordsDialog", "The weights of the workers become one set of weights.") },
    };
    QString html;
    for (const auto& [word, meaning] : entries)
        html += QStringLiteral("<p><b>%1</b><br>%2</p>").arg(word, meaning);
    return html;
}

QString resumeWords(ResumeRule rule)
{
    switch (rule) {
    case ResumeRule::Safe: return said(QT_TRANSLATE_NOOP("Help", "may change on a resume"));
    case ResumeRule::Unsafe:
        return said(QT_TRANSLATE_NOOP("Help", "may change, but curves before and after cannot be compared"));
    case ResumeRule::Refused: break;
    }
    return said(QT_TRANSLATE_NOOP("Help", "fixed: another value needs a new run"));
}

QString settingList()
{
    QString html;
    SettingGroup group = SettingGroup::Seeds;
    for (const Setting& setting : settings()) {
        if (setting.group != group || html.isEmpty())
            html += QStringLiteral("<h3>%1</h3>").arg(settingGroupTitle(setting.group));
        group = setting.group;
        const QString unit = setting.unit.empty() ? QString() : QStringLiteral(", ") + settingUnit(setting);
        html += QStringLiteral("<p><b>%1</b> <code>%2</code>%3<br>%4<br><i>%5</i></p>")
                    .arg(settingLabel(setting), QString::fromStdString(setting.option()), unit,
                        settingHelp(setting).toHtmlEscaped(), resumeWords(setting.resume));
    }
    return html;
}

QString text(HelpDialog::Topic topic)
{
    switch (topic) {
    case HelpDialog::FirstSteps:
        return paragraphs(
            { QT_TRANSLATE_NOOP("Help",
                  "“Start demonstration run” trains a small model on a text that comes with Furrow, on the CPU. Watch the loss fall, stop it, resume it."),
                QT_TRANSLATE_NOOP("Help",
                    "For a run of your own press Ctrl+N, then choose a preset and your files. Mistakes are named beside their field, with the fix as a button. Launch starts at once, Queue waits until the devices are free."),
                QT_TRANSLATE_NOOP("Help",
                    "Closing this window never touches training. Open it again and it shows what happened in the meantime."),
                QT_TRANSLATE_NOOP("Help",
                    "The page “Chat” talks with the model while it trains: the newest checkpoint answers, or two of them side by side. It uses one CPU thread while the run trains."),
                QT_TRANSLATE_NOOP("Help", "Ctrl+K finds every command, Ctrl+/ shows all shortcuts.") });
    case HelpDialog::YourData:
        return paragraphs({ QT_TRANSLATE_NOOP("Help",
                                "A <b>source</b> is a file, a folder, a pattern such as texts/*.txt, or an address (hf://, https://, s3://, gs://). Separate several with commas; put a name with a comma in it in double quotes. What of a folder is left out is named below the field."),
            QT_TRANSLATE_NOOP("Help",
                "<b>Formats</b>: txt, csv, tsv, jsonl, json, parquet, arrow, warc and WebDataset, also compressed (.gz, .zst, .xz, .bz2) and in .zip and .tar. A Word, Excel or PDF file is none of them: save it as plain text or csv."),
            QT_TRANSLATE_NOOP("Help",
                "<b>Columns</b>: one column is trained. A usual name is taken (text, txt, content, sentence, document, article, body, also as the last part of a nested name, meta.text), else the column with the most text. The form says which one it is and why, and offers the others. All files of one source have the same column."),
            QT_TRANSLATE_NOOP("Help",
                "<b>Encodings</b> such as UTF-16 or Windows-1252 are found from the bytes and said; so are the delimiter and the quotes of csv. The settings “Encoding” and “CSV …” name the right one where that is wrong."),
            QT_TRANSLATE_NOOP("Help",
                "<b>Conversations</b> (messages, ShareGPT, Alpaca, prompt and completion) are trained as such when there is a chat template: it writes them, and only the answers are learnt, which stand between « and » in the form. Without one they are plain text."),
            QT_TRANSLATE_NOOP("Help",
                "<b>Rows</b> count from 0: row 0 of jsonl is line 1, row 0 of csv the first one below the names of the columns. A row that cannot be read is left out and counted, and the first one is named; the samples of a chunk name the others. Rows that are empty or too short are filtered. When more rows cannot be read than <code>max_unreadable_percent</code> allows, and at least ten, the run stops."),
            QT_TRANSLATE_NOOP("Help",
                "<b>Changed and removed files</b>: a file that is not any more what it was when the run was made stops the run, or what of it is not prepared yet is left out by name, as <code>bad_files</code> says. It may be changed on a resume, and so may max_unreadable_percent."),
            QT_TRANSLATE_NOOP("Help",
                "<b>Repeats</b>: with <code>duplicates</code> set to skip only the first of equal texts is trained; else all are trained and counted.") });
    case HelpDialog::Sizes:
        return paragraphs(
            { QT_TRANSLATE_NOOP("Help",
                  "A <b>sample</b> is one text from your data. A <b>chunk</b> is what one worker claims at a time, a few thousand samples. A <b>block</b> is several chunks that are fetched, cleaned and cut into tokens together."),
                QT_TRANSLATE_NOOP("Help",
                    "The <b>context</b> is how many tokens the model sees at once, the <b>batch</b> how many such windows go through it in one step."),
                QT_TRANSLATE_NOOP("Help",
                    "GPU memory depends on batch and context (and on the model). It does not depend on the size of chunks: a chunk is only read piece by piece. Small chunks take a little time to claim; with large chunks a crash between two checkpoints costs more work, and one bad text marks more of its neighbours.") });
    case HelpDialog::States:
        return paragraphs(
            { QT_TRANSLATE_NOOP("Help",
                  "The state of a run is never stored. It is worked out each time from what can be seen: is the supervisor process alive, when did it last write, did it record why it ended?"),
                QT_TRANSLATE_NOOP("Help",
                    "“Interrupted” means: no process of the run is alive and none recorded an end. The computer was switched off or restarted, or the processes were killed. “Why?” beside the state shows the evidence."),
                QT_TRANSLATE_NOOP("Help",
                    "Nothing is broken. What is in a checkpoint is kept; what was trained after it is trained again."),
                QT_TRANSLATE_NOOP("Help",
                    "“Cannot be read” means: the folder was moved or deleted, its disk is not mounted, or a newer Furrow made it. What was last read stays on screen with its time, and nothing can be done with the run until the folder is back.") });
    case HelpDialog::Resuming:
        return paragraphs({ QT_TRANSLATE_NOOP("Help",
                                "“Resume…” first shows a dry run: how many chunks are kept, trained again or free, and every checkpoint with the result of checking its files. Nothing changes until you confirm."),
            QT_TRANSLATE_NOOP("Help",
                "The run goes on as a new attempt in the same folder. You may change devices, number of workers and stopping rules; what would change the chunks or the weights is refused by name."),
            QT_TRANSLATE_NOOP("Help",
                "“Start from” offers older checkpoints too. What is newer then leaves the weights, and its chunks are trained again, once: the map and the counts show the cost before anything happens."),
            QT_TRANSLATE_NOOP("Help",
                "Where several epochs are open, or are opened again, a table says for each how many chunks are kept and how many are trained again."),
            QT_TRANSLATE_NOOP("Help",
                "A checkpoint that is damaged, or on a disk that is not mounted, is never given up without your consent: bring it back and resume, or tick the box that says how many chunks are trained again."),
            QT_TRANSLATE_NOOP("Help",
                "A run that you do not want to continue can be marked as finished; it can still be resumed later. A run can also resume by itself after an interruption, if you say so in the dialog or in the Run menu.") });
    case HelpDialog::Coverage:
        return paragraphs(
            { QT_TRANSLATE_NOOP("Help",
                  "Each row is a block, each cell a chunk. The line at its lower edge says committed, the notch at the upper right trained but not in a checkpoint yet, hatching that its work was lost and comes again."),
                QT_TRANSLATE_NOOP("Help",
                    "By default the colour is the loss above or below the trend of the run, since the loss itself only shows when a chunk was trained. Cells that stand out hold unusual text: drag over them and read their samples."),
                QT_TRANSLATE_NOOP("Help",
                    "Ctrl and wheel zooms, the arrows move, Enter opens the samples. “Table” shows the same as numbers.") });
    case HelpDialog::Merging:
        return paragraphs({ QT_TRANSLATE_NOOP("Help",
                                "Each worker trains its own copy of the model, a replica, on its own chunks. From time to time, and at the end, the replicas are merged: their weights are averaged by the tokens they trained."),
            QT_TRANSLATE_NOOP("Help",
                "DiLoCo makes an outer step from that average, which looks ahead for training that goes on. Its last round keeps whichever evaluates better, the outer step or the plain average. A single replica is never kept, even where it evaluates better alone: its weights lack what the others trained."),
            QT_TRANSLATE_NOOP("Help",
                "A chunk counts as trained once when it is in one replica before a merge, or in the merged weights after it. “Chunks twice or missing” proves it from the ledger at any time."),
            QT_TRANSLATE_NOOP("Help",
                "<b>Tokens per second</b> of a worker are all tokens of its steps over all the time they took: a wait for data counts, a pause, an evaluation, a merge and a restart do not. Workers add up, in the chart as on the overview. “Kept tokens per active second” go by the whole active time instead.") });
    case HelpDialog::Privacy:
        return paragraphs(
            { QT_TRANSLATE_NOOP("Help",
                  "<code>clip_per_sample</code> bounds what one window, or one sample, may do to the weights in a step. With <code>noise_multiplier</code> each step adds normal noise of that many times the bound, and what the weights can tell of one unit is limited: epsilon at delta."),
                QT_TRANSLATE_NOOP("Help",
                    "Epsilon follows from how often a unit took part, which the ledger counts: once an epoch, and once more for each training that was lost with its weights. No chance of being drawn is assumed. The audit states it, with the unit, what neighbours are, and what the guarantee does not speak of: losses and samples that the run shows, the held-out text, the tokenizer, the seed of the noise."),
                QT_TRANSLATE_NOOP("Help",
                    "Rows are units with <code>privacy_unit</code> sample: then <code>packing</code> is single, and a row that is too long is cut or left out. <code>target_epsilon</code> ends the run before a unit takes part once too often. Large steps help: the same noise is shared by more windows.") });
    case HelpDialog::Words: return wordList();
    default: return settingList();
    }
}

} // namespace

HelpDialog::HelpDialog(QWidget* parent)
    : QDialog(parent)
    , search_(makeSearch(tr("Search the help")))
    , topics_(new QListWidget(this))
    , text_(new QTextBrowser(this))
{
    setWindowTitle(tr("Help"));
    resize(860, 600);
    topics_->setAccessibleName(tr("Topics"));
    int widest = kLeastListWidth; // a title that is cut off helps nobody
    for (int i = 0; i < kTopicCount; ++i)
        widest = std::max(widest, topics_->fontMetrics().horizontalAdvance(title(static_cast<Topic>(i))) + kListRoom);
    topics_->setFixedWidth(widest);
    topics_->setFrameShape(QFrame::NoFrame);
    text_->setFrameShape(QFrame::NoFrame);
    text_->setAccessibleName(windowTitle());
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 12, 12, 12);
    auto* side = new QVBoxLayout;
    side->addWidget(search_);
    side->addWidget(topics_, 1);
    row->addLayout(side);
    row->addWidget(text_, 1);
    connect(search_, &QLineEdit::textChanged, this, &HelpDialog::search);
    connect(topics_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (item == nullptr)
            return;
        const auto topic = static_cast<Topic>(item->data(Qt::UserRole).toInt());
        text_->setHtml(QStringLiteral("<h2>%1</h2>%2").arg(title(topic), text(topic)));
        if (!search_->text().isEmpty())
            text_->find(search_->text());
    });
    search({});
}

void HelpDialog::showTopic(Topic topic)
{
    search_->clear();
    topics_->setCurrentRow(topic);
}

// Topics that say all of it.
void HelpDialog::search(const QString& words)
{
    topics_->clear();
    for (int i = 0; i < kTopicCount; ++i) {
        const auto topic = static_cast<Topic>(i);
        QTextDocument plain;
        plain.setHtml(title(topic) + text(topic));
        if (!words.trimmed().isEmpty() && !plain.toPlainText().contains(words.trimmed(), Qt::CaseInsensitive))
            continue;
        auto* item = new QListWidgetItem(title(topic), topics_);
        item->setSizeHint(QSize(0, kTopicRow));
        item->setData(Qt::UserRole, i);
    }
    topics_->setCurrentRow(0);
    if (topics_->count() == 0)
        text_->setPlainText(tr("Nothing found."));
}

} // namespace furrow
