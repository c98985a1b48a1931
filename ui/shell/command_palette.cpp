#include "ui/shell/command_palette.h"

#include "ui/parts/page_parts.h"
#include "ui/shell/actions.h"
#include "ui/shell/mnemonics.h"
#include "ui/theme/theme.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QHeaderView>
#include <QTimer>
#include <QTreeWidget>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kWideScreen = 1000; // has room for three columns of shortcuts
constexpr int kPaletteRow = 26;

} // namespace

CommandPalette::CommandPalette(const Actions& actions, QWidget* parent, Search search)
    : QDialog(parent, Qt::Dialog | Qt::FramelessWindowHint)
    , actions_(actions)
    , search_(std::move(search))
    , line_(new QLineEdit(this))
    , list_(new QTreeWidget(this))
{
    setWindowTitle(tr("Command palette"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    line_->setPlaceholderText(tr("Command, run, setting or chunk (B3 C17)"));
    line_->setAccessibleName(tr("Command, run, setting or chunk (B3 C17)"));
    line_->installEventFilter(this);
    column->addWidget(line_);
    list_->setAccessibleName(tr("What was found"));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->setColumnCount(2); // name, shortcut
    list_->setHeaderHidden(true);
    list_->header()->setStretchLastSection(false);
    list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    list_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    column->addWidget(list_);
    resize(740, 400); // has room for the longest name beside the longest reason
    move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 70)));
    connect(line_, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(line_, &QLineEdit::returnPressed, this, [this] { run(list_->currentItem()); });
    connect(list_, &QTreeWidget::itemClicked, this,
        [this](const QTreeWidgetItem* item) { run(item); }); // one that is grey does not become the current one
    auto* soon = new QTimer(this); // many actions change at once
    soon->setSingleShot(true);
    connect(soon, &QTimer::timeout, this, &CommandPalette::filterAgain);
    for (const Actions::Entry& entry : actions_.all()) // the run goes on while a person types
        if (entry.action != nullptr)
            connect(entry.action, &QAction::changed, soon, qOverload<>(&QTimer::start));
    filter({});
}

/// Of each command, "": it can be done.
QStringList CommandPalette::whyNots() const
{
    QStringList reasons;
    for (const Actions::Entry& entry : actions_.all())
        reasons.append(entry.action == nullptr ? QString() : Actions::whyNot(*entry.action));
    return reasons;
}

void CommandPalette::filterAgain()
{
    if (whyNots() == whyNots_) // else a list that somebody scrolls would jump with each look at the run
        return;
    const QString chosen = list_->currentItem() == nullptr ? QString() : list_->currentItem()->text(0);
    filter(line_->text());
    if (chosen.isEmpty()) // nothing was possible before
        return;
    QTreeWidgetItem* again = nullptr; // an Enter that is on its way does nothing else
    for (int i = 0; i < possible_ && again == nullptr; ++i)
        if (list_->topLevelItem(i)->text(0) == chosen)
            again = list_->topLevelItem(i);
    list_->setCurrentItem(again);
}

void CommandPalette::filter(const QString& words)
{
    list_->clear();
    opens_.clear();
    possible_ = 0;
    whyNots_ = whyNots();
    findCommands(words);
    if (search_ && !words.trimmed().isEmpty())
        for (const PaletteFinding& found : search_(words))
            add(found, possible_);
    if (list_->topLevelItemCount() == 0)
        (new QTreeWidgetItem(list_, { tr("Nothing matches.") }))->setFlags(Qt::NoItemFlags);
    else
        list_->setCurrentItem(possible_ > 0 ? list_->topLevelItem(0) : nullptr);
}

void CommandPalette::findCommands(const QString& words)
{
    int named = 0; // before those that only do what is looked for
    for (const Actions::Entry& entry : actions_.all()) {
        if (entry.action == nullptr || entry.action == actions_.palette)
            continue;
        const QString said = entry.action->statusTip(); // people search for what it does, too
        const QString name
            = tr("%1: %2").arg(withoutMnemonic(Actions::title(entry.menu)), withoutMnemonic(entry.action->text()));
        bool all = true;
        bool byName = true;
        for (const QString& word : words.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
            byName = byName && name.contains(word, Qt::CaseInsensitive);
            all = all && (name.contains(word, Qt::CaseInsensitive) || said.contains(word, Qt::CaseInsensitive));
        }
        if (!all)
            continue;
        const QString whyNot = Actions::whyNot(*entry.action);
        auto* item = add({ name, entry.action->shortcut().toString(QKeySequence::NativeText), said, whyNot,
                             [action = entry.action] { action->trigger(); } },
            byName ? named : possible_);
        if (whyNot.isEmpty())
            item->setFont(1, codeFont());
        named += whyNot.isEmpty() && byName ? 1 : 0;
    }
}

QTreeWidgetItem* CommandPalette::add(const PaletteFinding& found, int place)
{
    const bool isPossible = found.whyNot.isEmpty();
    auto* item = new QTreeWidgetItem({ found.name, isPossible ? found.detail : found.whyNot });
    list_->insertTopLevelItem(isPossible ? place : list_->topLevelItemCount(), item);
    possible_ += isPossible ? 1 : 0;
    item->setSizeHint(0, QSize(0, kPaletteRow));
    item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    item->setForeground(1, theme().color(Token::Text3));
    if (!isPossible)
        item->setFlags(Qt::NoItemFlags);
    item->setToolTip(0, isPossible ? found.tip : tr("%1: %2").arg(found.name, found.whyNot));
    item->setData(0, Qt::UserRole, static_cast<int>(opens_.size()));
    opens_.push_back(found.open);
    return item;
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            QTreeWidgetItem* item = list_->currentItem();
            if (QTreeWidgetItem* next = item == nullptr ? nullptr
                    : key == Qt::Key_Down               ? list_->itemBelow(item)
                                                        : list_->itemAbove(item);
                next != nullptr && next->flags().testFlag(Qt::ItemIsEnabled))
                list_->setCurrentItem(next);
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void CommandPalette::run(const QTreeWidgetItem* item)
{
    if (item == nullptr || !item->flags().testFlag(Qt::ItemIsEnabled))
        return;
    const auto open = opens_[static_cast<std::size_t>(item->data(0, Qt::UserRole).toInt())]; // outlives the palette
    accept();
    open();
}

ShortcutSheet::ShortcutSheet(const Actions& actions, QWidget* parent)
    : QDialog(parent)
{
    setWindowTitle(tr("Shortcuts"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(24, 16, 24, 16);
    grid->setHorizontalSpacing(20);
    grid->setVerticalSpacing(4);
    const int perColumn = screen()->availableSize().width() < kWideScreen ? 24 : 17;
    int row = 0;
    int column = 0;
    const auto add = [&](const QString& what, const QString& keys) {
        grid->addWidget(makeLabel(what), row, column);
        QLabel* key = makeLabel(keys, TextTone::Secondary);
        key->setFont(codeFont());
        grid->addWidget(key, row, column + 1);
        if (++row == perColumn) {
            row = 0;
            column += 2;
        }
    };
    for (const Actions::Entry& entry : actions.all())
        if (entry.action != nullptr && !entry.action->shortcut().isEmpty())
            add(withoutMnemonic(entry.action->text()), entry.action->shortcut().toString(QKeySequence::NativeText));
    const auto keys = [](Qt::Key key) { return QKeySequence(Qt::ALT | key).toString(QKeySequence::NativeText); };
    add(tr("Sort a table by the column of its cursor"), keys(Qt::Key_Up) + QStringLiteral(", ") + keys(Qt::Key_Down));
}

} // namespace furrow
