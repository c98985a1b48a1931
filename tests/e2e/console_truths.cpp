#include "tests/e2e/console_truths.h"

#include "tests/ui/patience.h"
#include "ui/models/words.h"
#include "ui/shell/run_view.h"

#include <QAccessible>
#include <QRegularExpression>
#include <QTableView>
#include <QTest>
#include <algorithm>
#include <cmath>

using namespace furrow;
using namespace furrow::test;

namespace {

constexpr int kAgreeMs = 8000; // the console reads twice a second

/// What a screen reader is told of one thing.
struct Told {
    QAccessible::Role role = QAccessible::NoRole;
    QString name;
    QString description;
};

/// The tree from here down, without what is not shown.
void gather(QAccessibleInterface* from, std::vector<Told>& tree)
{
    if (from == nullptr || !from->isValid() || from->state().invisible)
        return;
    tree.push_back({ from->role(), from->text(QAccessible::Name), from->text(QAccessible::Description) });
    for (int child = 0; child < from->childCount(); ++child)
        gather(from->child(child), tree);
}

std::vector<Told> treeOf(QWidget* widget)
{
    std::vector<Told> tree;
    gather(QAccessible::queryAccessibleInterface(widget), tree);
    return tree;
}

/// What is read out of the cells of the table of that name, row by row.
std::vector<QStringList> tableOf(const QWidget* page, const QString& name)
{
    std::vector<QStringList> rows;
    const auto tables = page->findChildren<QTableView*>();
    const auto found = std::find_if(
        tables.begin(), tables.end(), [&name](const QTableView* table) { return table->accessibleName() == name; });
    const QAbstractItemModel* model = found == tables.end() ? nullptr : (*found)->model();
    for (int row = 0; model != nullptr && row < model->rowCount(); ++row) {
        QStringList cells;
        for (int column = 0; column < model->columnCount(); ++column)
            cells.append(model->index(row, column).data(Qt::AccessibleTextRole).toString());
        rows.push_back(cells);
    }
    return rows;
}

qint64 numberIn(QString text) { return text.remove(QLatin1Char(',')).section(QLatin1Char(' '), 0, 0).toLongLong(); }

/// "committed 1,204" in a list of words and numbers; 0 where it is not said.
qint64 said(const QString& words, const QString& name)
{
    const auto found
        = QRegularExpression(QStringLiteral("(?:^|, )%1 ([\\d,]+)(?:, |$)").arg(QRegularExpression::escape(name)))
              .match(words);
    return found.hasMatch() ? numberIn(found.captured(1)) : 0;
}

} // namespace

ConsoleTruths::ConsoleTruths(const QString& workspace)
    : bench_(workspace)
    , window_(bench_, appearance_, false)
{
    window_.resize(1280, 800);
    window_.show();
    bench_.start({});
}

bool ConsoleTruths::isRead(const QString& run)
{
    return bench_.watcher().folder() == run && bench_.watcher().status() && bench_.watcher().tables()
        && (!bench_.cells().cells().empty() || !shownEpochs(*bench_.watcher().status())
            || shownEpochs(*bench_.watcher().status())->together.chunks.sum() == 0);
}

bool ConsoleTruths::tell(const QString& run, const Truths& expected, Truths& truths)
{
    bench_.showRun(run);
    if (!QTest::qWaitFor([&] { return isRead(run); }, kPatienceMs))
        return false;
    bench_.watcher().refresh();
    return QTest::qWaitFor(
        [&] {
            truths = {};
            addOverview(truths);
            addMap(truths);
            addBlocks(truths);
            addCheckpoints(truths);
            Truths both = expected;
            for (auto number = truths.begin(); number != truths.end(); ++number)
                for (auto view = number->begin(); view != number->end(); ++view)
                    both[number.key()][view.key()] = *view;
            return disagreement(both).isEmpty();
        },
        kAgreeMs);
}

bool ConsoleTruths::tellOf(const QString& run, qint64 wallNs, Truths& truths)
{
    bench_.showRun(run);
    auto& replay = bench_.replay();
    if (!QTest::qWaitFor(
            [&] {
                return isRead(run) && bench_.watcher().telemetry() && !bench_.claims().claims().empty()
                    && replay.end() > wallNs;
            },
            kPatienceMs))
        return false;
    replay.setMoment(wallNs);
    (void)QTest::qWaitFor([&] { return replay.openEpochsAt(wallNs).front() == bench_.cells().epoch(); }, kAgreeMs);
    addOverview(truths);
    truths.remove(QStringLiteral("workers")); // cards are of processes, of which some had never told a loss
    if (replay.openEpochsAt(wallNs).size() == 1)
        addMap(truths);
    const bool isShown = replay.moment() == wallNs;
    bench_.watcher().setHeld(false);
    return isShown;
}

void ConsoleTruths::addOverview(Truths& truths)
{
    window_.runView().showPage(RunView::Overview);
    const auto say = [&truths](const char* number, const char* view, qint64 value) {
        truths[QString::fromLatin1(number)][QString::fromLatin1(view)] = value;
    };
    qint64 cards = 0;
    for (const Told& one : treeOf(window_.runView().page(RunView::Overview))) {
        const auto meter = [&one](const char* name) {
            const QString begin = QString::fromLatin1(name) + QStringLiteral(": ");
            return one.name.startsWith(begin) ? std::optional(one.name.mid(begin.size())) : std::nullopt;
        };
        if (const auto words = meter("Chunks committed")) {
            say("committed", "console, meter", numberIn(*words));
            static const QRegularExpression kTotal(QStringLiteral(" of ([\\d,]+)"));
            if (const auto total = kTotal.match(*words); total.hasMatch())
                say("expected", "console, meter", numberIn(total.captured(1)));
        }
        if (const auto words = meter("Samples committed"))
            say("trained", "console, meter", numberIn(*words));
        if (const auto words = meter("Optimiser steps"))
            say("steps", "console, meter", numberIn(*words));
        if (one.name == QLatin1String("Optimiser steps"))
            say("steps", "console, figure", numberIn(one.description));
        if (one.name == QLatin1String("Tokens"))
            say("tokens", "console, figure", numberIn(one.description));
        if (one.name.startsWith(QLatin1String("Eval loss")) && one.description != QStringLiteral("–"))
            say("eval loss in thousandths", "console, figure", std::llround(one.description.toDouble() * 1000));
        if (one.name.startsWith(QLatin1String("committed "))) { // the legend of the meters
            say("committed", "console, legend of the meters", said(one.name, QStringLiteral("committed")));
            say("excluded", "console, legend of the meters", said(one.name, QStringLiteral("excluded")));
            say("work lost", "console, legend of the meters", said(one.name, QStringLiteral("work lost")));
            say("partly trained", "console, legend of the meters", said(one.name, QStringLiteral("partly trained")));
            say("poisoned", "console, legend of the meters", said(one.name, QStringLiteral("poisoned")));
            say("accepted", "console, legend of the meters", said(one.name, QStringLiteral("poisoned, accepted")));
        }
        static const QRegularExpression kCard(QStringLiteral("^Worker \\d+: .*, loss "));
        cards += kCard.match(one.name).hasMatch() ? 1 : 0;
    }
    say("workers", "console, cards", cards);
}

/// The map is of one epoch: it is compared where only one is open.
void ConsoleTruths::addMap(Truths& truths)
{
    const auto shown = shownEpochs(*bench_.watcher().status());
    window_.runView().showPage(RunView::Coverage);
    if (!shown || shown->count() != 1)
        return;
    for (const Told& one : treeOf(window_.runView().page(RunView::Coverage))) {
        if (!one.description.startsWith(QLatin1String("committed ")))
            continue;
        for (const char* number : { "committed", "excluded", "poisoned", "work lost", "partly trained" })
            truths[QString::fromLatin1(number)][QStringLiteral("console, map")]
                = said(one.description, QString::fromLatin1(number));
        truths[QStringLiteral("chunks known")][QStringLiteral("console, map")]
            = said(one.description, QStringLiteral("sum"));
    }
}

void ConsoleTruths::addBlocks(Truths& truths)
{
    constexpr int kChunks = 2; // columns of the table
    constexpr int kCommitted = 3;
    const auto shown = shownEpochs(*bench_.watcher().status());
    window_.runView().showPage(RunView::Data);
    if (!shown || shown->count() != 1)
        return;
    const auto rows = tableOf(window_.runView().page(RunView::Data), QStringLiteral("Blocks"));
    qint64 chunks = 0;
    qint64 committed = 0;
    for (const QStringList& row : rows) {
        chunks += numberIn(row.value(kChunks));
        committed += numberIn(row.value(kCommitted));
    }
    truths[QStringLiteral("committed")][QStringLiteral("console, table of blocks")] = committed;
    truths[QStringLiteral("chunks known")][QStringLiteral("console, table of blocks")] = chunks;
}

/// The weights that the run is known by.
void ConsoleTruths::addCheckpoints(Truths& truths)
{
    constexpr int kMark = 1; // columns of the table
    constexpr int kSteps = 7;
    constexpr int kTokens = 8;
    window_.runView().showPage(RunView::Workers);
    const auto rows = tableOf(window_.runView().page(RunView::Workers), QStringLiteral("Checkpoints"));
    for (const QStringList& row : rows) {
        if (!row.value(kMark).split(QStringLiteral(", ")).contains(QLatin1String("most trained")))
            continue;
        truths[QStringLiteral("steps in the newest weights")][QStringLiteral("console, table of checkpoints")]
            = numberIn(row.value(kSteps));
        truths[QStringLiteral("tokens in the newest weights")][QStringLiteral("console, table of checkpoints")]
            = numberIn(row.value(kTokens));
    }
}

bool ConsoleTruths::lists(const QString& run, const QString& state)
{
    bench_.scanner().refresh();
    return QTest::qWaitFor(
        [&] {
            const RunLines& lines = *bench_.scanner().lines();
            return std::any_of(lines.begin(), lines.end(),
                [&](const RunLine& line) { return line.folder == run && stateWord(line.state).toLower() == state; });
        },
        kAgreeMs);
}
