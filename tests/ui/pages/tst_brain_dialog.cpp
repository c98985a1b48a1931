#include "core/base/path.h"
#include "core/run/start/life_cycle.h"
#include "ui/dialogs/brain_dialog.h"

#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

using namespace furrow;

/// The brain of a run with two ancestors, one of which is gone.
class TestBrainDialog : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    QString makeRun(const QString& name) const
    {
        const QString text = folder_.filePath(name + QStringLiteral(".txt"));
        QFile file(text);
        if (!file.open(QIODevice::WriteOnly))
            return {};
        for (int i = 0; i < 400; ++i)
            file.write(QByteArray::number(i) + " some words to train on\n");
        file.close();
        NewRun request;
        request.config.data = { text.toStdString() };
        request.config.dataMode = DataMode::Lines;
        request.config.seqLen = 16;
        request.config.batchSize = 2;
        request.config.chunkSamples = 10;
        request.config.devices = "cpu";
        request.preset = "char";
        request.folder = folder_.filePath(name).toStdString();
        const auto made = createRun(request, {});
        if (!made.ok())
            qFatal("%s", made.error().message.c_str());
        return QString::fromStdString(utf8Text(made.value().folder()));
    }

    static ParentFile parent(const QString& folder, std::int64_t step, bool skipped)
    {
        ParentFile p;
        p.runId = "0123456789abcdef";
        p.folder = folder.toStdString();
        p.checkpoint = "r0-" + std::to_string(step) + "-abc";
        p.step = step;
        p.tokens = step * 100;
        p.sameData = true;
        p.skipped = skipped;
        p.chunkCount = 12;
        return p;
    }

private Q_SLOTS:
    /// Audit and JSON said which samples the start weights have of chunks that are trained again; the dialog did not.
    void whatTheParentTrainedInPartWasNotSaid()
    {
        Brain brain;
        brain.ancestors.push_back({ parent(QStringLiteral("father"), 90, false), true });
        QVERIFY(!brainLines(brain).back().chunks.contains(QStringLiteral("in part")));
        brain.ancestors.front().partlyChunks = 2;
        brain.ancestors.front().partlySamples = 7;
        const QString said = brainLines(brain).back().chunks;
        QVERIFY2(said.contains(QStringLiteral("since the parent run trained their chunks in part: 7, chunks: 2")),
            qPrintable(said));
    }

    void theRunsThatTheWeightsCameThroughAreListedAndCanBeOpened()
    {
        const QString child = makeRun(QStringLiteral("child"));
        const QString father = makeRun(QStringLiteral("father"));
        const RunPaths childPaths(pathFromUtf8(child.toStdString()));
        const RunPaths fatherPaths(pathFromUtf8(father.toStdString()));
        QVERIFY(writeParent(childPaths, parent(father, 90, true)).ok());
        QVERIFY(writeParent(fatherPaths, parent(folder_.filePath(QStringLiteral("grandfather")), 40, false)).ok());

        BrainDialog dialog(child, std::make_shared<const RunLines>(), nullptr);
        QSignalSpy opened(&dialog, &BrainDialog::openRunWanted);
        auto* table = dialog.findChild<QTableView*>();
        QTRY_COMPARE(table->model()->rowCount(), 3);
        const auto text = [&](int row, int column) { return table->model()->index(row, column).data().toString(); };
        QCOMPARE(text(0, 0), QStringLiteral("child"));
        QCOMPARE(text(1, 0), QStringLiteral("father"));
        QCOMPARE(text(1, 1), QStringLiteral("r0-90-abc"));
        QVERIFY2(
            text(1, 4).startsWith(QStringLiteral("12 chunk")) && text(1, 4).endsWith(QStringLiteral("then left out")),
            qPrintable(text(1, 4)));
        QCOMPARE(text(2, 0), QStringLiteral("grandfather"));
        QVERIFY2(text(2, 4).endsWith(QStringLiteral("then trained again")), qPrintable(text(2, 4)));

        QPushButton* open = nullptr;
        for (QPushButton* button : dialog.findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Open that run"))
                open = button;
        QVERIFY(open != nullptr);
        table->selectRow(0);
        QVERIFY(!open->isEnabled()); // it is the one that is shown
        table->selectRow(2);
        QVERIFY(!open->isEnabled()); // it is not there any more
        table->selectRow(1);
        QVERIFY(open->isEnabled());
        open->click();
        QCOMPARE(opened.count(), 1);
        QCOMPARE(opened.first().first().toString(), father);
    }

    void aFolderThatIsNoRunIsNamed()
    {
        BrainDialog dialog(folder_.path(), std::make_shared<const RunLines>(), nullptr);
        const auto says = [&](const QString& part) {
            const auto labels = dialog.findChildren<QLabel*>();
            return std::any_of(
                labels.begin(), labels.end(), [&](const QLabel* label) { return label->text().contains(part); });
        };
        QTRY_VERIFY(says(QStringLiteral("is not a run")));
    }
};

QTEST_MAIN(TestBrainDialog)
#include "tst_brain_dialog.moc"
