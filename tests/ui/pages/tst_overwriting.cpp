#include "core/base/path.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_story.h"
#include "ui/bridge/run_feed.h"
#include "ui/models/quarantine_draft.h"
#include "ui/models/run_form.h"
#include "ui/models/workbench.h"
#include "ui/dialogs/export_dialog.h"
#include "ui/dialogs/quarantine_dialog.h"
#include "ui/parts/save_file.h"
#include "ui/shell/console.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QRadioButton>
#include <QTimer>

using namespace furrow;
using namespace furrow::test;

namespace {

QByteArray bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void put(const QString& path, const QByteArray& bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
}

QPushButton* buttonOf(QWidget& parent, const QString& text)
{
    for (auto* button : parent.findChildren<QPushButton*>())
        if (QString(button->text()).remove(QLatin1Char('&')) == text)
            return button;
    return nullptr;
}

/// Answers the next question by the button of that text ("": by Return) and keeps what was asked.
void answerNext(const QString& answer, QString& asked)
{
    QTimer::singleShot(50, qApp, [answer, &asked] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (box == nullptr)
            return;
        asked = box->text().remove(QChar(0x200B)); // where a long path may break
        if (answer.isEmpty())
            QTest::keyClick(box, Qt::Key_Return);
        else
            buttonOf(*box, answer)->click();
    });
}

} // namespace

class TestOverwriting : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { registerBridgeTypes(); }

    void anExportReplacedTheFileOfAPersonUnasked()
    {
        const RunStory story({});
        const auto status = readStatus(story.paths());
        QVERIFY(status.ok());
        const QTemporaryDir folder;
        ExportDialog dialog(story.folder(), std::make_shared<RunStatus>(status.value()), nullptr, {}, nullptr);
        dialog.show();
        auto* target = dialog.findChild<QLineEdit*>();
        const QString thesis = folder.filePath(QStringLiteral("thesis.html"));
        for (const QString& kind : { QStringLiteral("Report"), QStringLiteral("Bundle") }) {
            for (auto* choice : dialog.findChildren<QRadioButton*>())
                if (choice->text().startsWith(kind))
                    choice->click();
            put(thesis, "years of work");
            target->setText(thesis);
            QString asked;
            answerNext({}, asked); // Return says No
            buttonOf(dialog, QStringLiteral("Export"))->click();
            QCOMPARE(asked, QStringLiteral("%1 exists already. Replace it?").arg(thesis));
            QVERIFY(buttonOf(dialog, QStringLiteral("Export"))->isEnabled());
            QCOMPARE(bytesOf(thesis), QByteArray("years of work"));
        }
        dialog.findChildren<QRadioButton*>().front()->click(); // the report
        target->setText(thesis);
        QString asked;
        answerNext(QStringLiteral("Replace"), asked);
        buttonOf(dialog, QStringLiteral("Export"))->click();
        target->setText(folder.filePath(QStringLiteral("edited-meanwhile.html")));
        QTRY_VERIFY_WITH_TIMEOUT(bytesOf(thesis).startsWith("<!doctype html>"), kPatienceMs);
        QVERIFY(!QFile::exists(target->text()));
        target->setText(folder.path());
        answerNext(QStringLiteral("Close"), asked);
        buttonOf(dialog, QStringLiteral("Export"))->click();
        QCOMPARE(asked, QStringLiteral("%1 is a folder. Write the name of a file.").arg(folder.path()));
    }

    void aBundleThatFailedTookTheOldOneWithIt()
    {
        const QTemporaryDir folder;
        ExportDialog dialog(
            folder.filePath(QStringLiteral("no-run")), std::make_shared<RunStatus>(), nullptr, {}, nullptr);
        dialog.show();
        dialog.findChildren<QRadioButton*>().back()->click();
        const QString bundle = folder.filePath(QStringLiteral("bundle.tar.gz"));
        put(bundle, "the old bundle");
        dialog.findChild<QLineEdit*>()->setText(bundle);
        auto* go = buttonOf(dialog, QStringLiteral("Export"));
        QString asked;
        answerNext(QStringLiteral("Replace"), asked);
        go->click(); // there is no such run, perhaps not even a furrowctl
        QTRY_VERIFY_WITH_TIMEOUT(go->isEnabled(), kPatienceMs);
        QCOMPARE(bytesOf(bundle), QByteArray("the old bundle"));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 1);
    }

    void anUnfinishedBundleThatAPersonHadWasDeleted()
    {
        const QTemporaryDir folder;
        ExportDialog dialog(
            folder.filePath(QStringLiteral("no-run")), std::make_shared<RunStatus>(), nullptr, {}, nullptr);
        dialog.show();
        dialog.findChildren<QRadioButton*>().back()->click();
        const QString bundle = folder.filePath(QStringLiteral("bundle.tar.gz"));
        put(bundle + QStringLiteral(".unfinished"), "of a person");
        dialog.findChild<QLineEdit*>()->setText(bundle);
        auto* go = buttonOf(dialog, QStringLiteral("Export"));
        go->click(); // there is no such run, perhaps not even a furrowctl
        QTRY_VERIFY_WITH_TIMEOUT(go->isEnabled(), kPatienceMs);
        QCOMPARE(bytesOf(bundle + QStringLiteral(".unfinished")), QByteArray("of a person"));
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 1);
    }

    void aListOfAnotherNameWasWrittenOver()
    {
        const QTemporaryDir folder;
        QVERIFY(QDir(folder.path()).mkdir(QStringLiteral("quarantine")));
        put(folder.filePath(QStringLiteral("quarantine/a.txt")), "chunk 1:1\n");
        put(folder.filePath(QStringLiteral("quarantine/b.txt")), "chunk 2:2\n");
        Workbench bench(folder.path());
        QCOMPARE(bench.quarantine().name(), QStringLiteral("a"));
        QuarantineDialog dialog(bench, nullptr);
        dialog.show();
        auto* name = dialog.findChild<QComboBox*>();
        name->setEditText(QStringLiteral("b"));
        QString asked;
        answerNext({}, asked);
        buttonOf(dialog, QStringLiteral("Save list"))->click();
        QVERIFY2(asked.endsWith(QStringLiteral("b.txt exists already. Replace it?")), qPrintable(asked));
        QCOMPARE(bytesOf(folder.filePath(QStringLiteral("quarantine/b.txt"))), QByteArray("chunk 2:2\n"));
        asked.clear();
        bench.quarantine().setText(QStringLiteral("chunk 1:3\n"));
        name->setEditText(QStringLiteral("a"));
        buttonOf(dialog, QStringLiteral("Save list"))->click(); // the one that was opened: nothing to ask
        QCOMPARE(bytesOf(folder.filePath(QStringLiteral("quarantine/a.txt"))), QByteArray("chunk 1:3\n"));
    }

    void aPresetIsSavedWhereTheQuestionLooked()
    {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("presets/mine.json"));
        QVERIFY(mayReplace(nullptr, file));
        QVERIFY(saveOwnPreset(folder.path(), QStringLiteral("mine"), RunConfig()).ok());
        QVERIFY(QFile::exists(file));
        QString asked;
        answerNext(QStringLiteral("No, keep it"), asked);
        QVERIFY(!mayReplace(nullptr, file));
        QVERIFY(!asked.isEmpty());
    }

    void aScreenshotReplacedAFile()
    {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("figure.png"));
        QCOMPARE(screenshotProblem(file), QString());
        put(file, "a figure");
        QCOMPARE(screenshotProblem(file), QStringLiteral("%1 exists already. Name a new file.").arg(file));
    }
};

QTEST_MAIN(TestOverwriting)
#include "tst_overwriting.moc"
