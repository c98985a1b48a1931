#include "ui/shell/command_palette.h"

#include "ui/pages/page_parts.h"
#include "ui/shell/actions.h"

#include <QGridLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

namespace furrow {

namespace {

constexpr int kPaletteRow = 26;

QString plain(QString text)
{
    return text.remove(QLatin1Char('&'));
}

} // namespace

CommandPalette::CommandPalette(const Actions& actions, QWidget* parent)
    : QDialog(parent, Qt::Dialog | Qt::FramelessWindowHint)
    , actions_(actions)
    , line_(new QLineEdit(this))
    , list_(new QListWidget(this))
{
    setWindowTitle(tr("Command palette"));
    setAttribute(Qt::WA_DeleteOnClose);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    line_->setPlaceholderText(tr("Type a command"));
    line_->setAccessibleName(tr("Type a command"));
    line_->installEventFilter(this);
    column->addWidget(line_);
    list_->setAccessibleName(tr("Commands"));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setFocusPolicy(Qt::NoFocus);
    column->addWidget(list_);
    resize(520, 400);
    move(parent->mapToGlobal(QPoint((parent->width() - width()) / 2, 70)));
    connect(line_, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(line_, &QLineEdit::returnPressed, this, &CommandPalette::run);
    connect(list_, &QListWidget::itemClicked, this, &CommandPalette::run);
    filter({});
}

void CommandPalette::filter(const QString& words)
{
    list_->clear();
    for (std::size_t i = 0; i < actions_.all().size(); ++i) {
        const Actions::Entry& entry = actions_.all()[i];
        if (entry.action == nullptr || !entry.action->isEnabled() || entry.action == actions_.palette)
            continue;
        const QString name = tr("%1: %2").arg(plain(Actions::title(entry.menu)), plain(entry.action->text()));
        bool all = true;
        for (const QString& word : words.split(QLatin1Char(' '), Qt::SkipEmptyParts))
            all = all && name.contains(word, Qt::CaseInsensitive);
        if (!all)
            continue;
        const QString key = entry.action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(key.isEmpty() ? name : QStringLiteral("%1    %2").arg(name, key), list_);
        item->setSizeHint(QSize(0, kPaletteRow));
        item->setData(Qt::UserRole, static_cast<int>(i));
    }
    list_->setCurrentRow(0);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Up) {
            const int step = key == Qt::Key_Down ? 1 : -1;
            list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, std::max(0, list_->count() - 1)));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

void CommandPalette::run()
{
    const QListWidgetItem* item = list_->currentItem();
    if (item == nullptr)
        return;
    QAction* action = actions_.all()[static_cast<std::size_t>(item->data(Qt::UserRole).toInt())].action;
    accept();
    action->trigger();
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
    constexpr int kPerColumn = 17;
    int row = 0;
    int column = 0;
    for (const Actions::Entry& entry : actions.all()) {
        if (entry.action == nullptr || entry.action->shortcut().isEmpty())
            continue;
        grid->addWidget(makeLabel(plain(entry.action->text())), row, column);
        QLabel* key = makeLabel(entry.action->shortcut().toString(QKeySequence::NativeText), TextTone::Secondary);
        key->setFont(codeFont());
        grid->addWidget(key, row, column + 1);
        if (++row == kPerColumn) {
            row = 0;
            column += 2;
        }
    }
}

} // namespace furrow
