// What a person met who used the console for the first time. Each test is named after what went wrong.
#include "core/run/new_run_folder.h"
#include "core/telemetry/run_telemetry.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/charts/chart_data.h"
#include "ui/models/alerts.h"
#include "ui/models/core_words.h"
#include "ui/models/run_form.h"
#include "ui/models/run_tables.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/pages/coverage_page.h"
#include "ui/pages/new_run/estimate_panel.h"
#include "ui/pages/new_run/form_field.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/pages/overview_page.h"
#include "ui/pages/page_parts.h"
#include "ui/pages/resume_dialog.h"
#include "ui/pages/resume_parts.h"
#include "ui/pages/worker_card.h"
#include "ui/shell/appearance.h"
#include "ui/shell/inspector_dock.h"
#include "ui/shell/mnemonics.h"
#include "ui/widgets/meters.h"
#include "ui/widgets/worker_mark.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QRadioButton>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTableView>

using namespace furrow;
using namespace furrow::test;

namespace {

QPushButton* buttonOf(const QWidget& parent, const QString& begin)
{
    for (auto* button : parent.findChildren<QPushButton*>())
        if (withoutMnemonic(button->text()).startsWith(begin))
            return button;
    return nullptr;
}

/// The text of another label with the same words; there must not be one.
int labelsThatSay(const QWidget& parent, const QString& words)
{
    const auto labels = parent.findChildren<QLabel*>();
    return static_cast<int>(std::count_if(labels.begin(), labels.end(), [&words](const QLabel* label) { return label->text() == words; }));
}

} // namespace

class TestFirstHour : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void aTextThatWasRefusedBecameAnotherValue()
    {
        RunForm form;
        QWidget page;
        const auto type = [&](const char* key, const QString& text) {
            FormField field(*findSetting(key), form, &page);
            auto* edit = qobject_cast<QLineEdit*>(field.editor());
            edit->clear();
            QTest::keyClicks(edit, text);
        };
        const std::int64_t workers = form.preset().config.workers;
        const double lr = form.preset().config.lr;
        type("workers", QStringLiteral("999999"));
        type("lr", QStringLiteral("0,5"));
        QCOMPARE(form.config().workers, workers);
        QCOMPARE(form.config().lr, lr);
        QVERIFY2(!form.command().contains(QStringLiteral("--workers")) && !form.command().contains(QStringLiteral("--lr")), qPrintable(form.command()));
        QCOMPARE(form.problemsOf("workers").size(), std::size_t(1));
        QVERIFY(FormField::problemText(form.problemsOf("workers").front(), form.text(*findSetting("workers"))).contains(QStringLiteral("from 0 to 256")));
        QCOMPARE(FormField::problemText(form.problemsOf("lr").front(), form.text(*findSetting("lr"))), QStringLiteral("Peak learning rate is a number, and 0,5 is not one here. Write 0.5."));
        for (const ConfigProblem& problem : form.problems())
            QVERIFY2(problem.key == "workers" || problem.key == "lr" || problem.key == "data", problem.message.c_str());
        type("lr", QStringLiteral("0.5"));
        QCOMPARE(form.config().lr, 0.5);
    }

    void aFormThatIsWrongCouldBeCopiedAndSaved()
    {
        const QTemporaryDir workspace;
        Workbench bench(workspace.path());
        EstimatePanel panel(bench);
        bench.form().setText(*findSetting("data"), QStringLiteral(FURROW_SOURCE_DIR "/README.md"));
        QTRY_VERIFY_WITH_TIMEOUT(buttonOf(panel, QStringLiteral("Copy"))->isEnabled(), kPatienceMs);
        QVERIFY(buttonOf(panel, QStringLiteral("Save preset"))->isEnabled());
        bench.form().setText(*findSetting("workers"), QStringLiteral("999999"));
        QVERIFY(!buttonOf(panel, QStringLiteral("Copy"))->isEnabled());
        QVERIFY(!buttonOf(panel, QStringLiteral("Launch"))->isEnabled());
        QVERIFY(!buttonOf(panel, QStringLiteral("Save preset"))->isEnabled());
    }

    void aBlankBehindACommaBelongedToThePath()
    {
        RunConfig config;
        QVERIFY(setSetting(config, *findSetting("data"), " a.txt, b c.txt ,\td.txt , ").empty());
        QCOMPARE(config.data, (std::vector<std::string> { "a.txt", "b c.txt", "d.txt" }));
        QVERIFY(setSetting(config, *findSetting("data"), " a.txt").empty()); // one path may begin with a blank
        QCOMPARE(config.data, std::vector<std::string> { " a.txt" });
    }

    void theFormForetoldAnotherFolder()
    {
        const QTemporaryDir workspace;
        Workbench bench(workspace.path());
        NewRunPage page(bench);
        bench.form().setText(*findSetting("name"), QStringLiteral("<b>x</b><img src=q>"));
        NewRun request;
        request.workspace = workspace.path().toStdString();
        const auto folder = folderOfNewRun(request, "<b>x</b><img src=q>", "…");
        QVERIFY(folder.filename().string().ends_with("-b-x--b--img-src-q--…"));
        QCOMPARE(labelsThatSay(page, QStringLiteral("%1 in %2/runs").arg(QString::fromStdString(folder.filename().string()), workspace.path())), 1);
    }

    void aNameOfFiveThousandCharactersWasTaken()
    {
        NewRun request;
        request.config = good(findPreset("char")).config;
        request.config.data = { FURROW_SOURCE_DIR "/README.md" };
        const QTemporaryDir workspace;
        request.workspace = workspace.path().toStdString();
        request.config.name = std::string(5000, 'a');
        const auto made = createRun(request, {});
        QVERIFY(!made.ok());
        QVERIFY2(made.error().message.find("name has 5000 characters") != std::string::npos, made.error().message.c_str());
        QVERIFY(QDir(workspace.path()).isEmpty());
    }
};

QTEST_MAIN(TestFirstHour)
#include "tst_first_hour.moc"
