// What a person met who brought data of their own. Each test is named after what went wrong.
#include "core/data/probe.h"
#include "tests/ui/patience.h"
#include "core/config/list_text.h"
#include "ui/bridge/data_prober.h"
#include "ui/models/run_form.h"
#include "ui/models/workbench.h"
#include "ui/pages/epoch_meters.h"
#include "ui/pages/new_run/data_preview.h"
#include "ui/pages/new_run/new_run_page.h"
#include "ui/parts/form_field.h"
#include "ui/parts/page_parts.h"
#include "ui/widgets/meters.h"

#include <QComboBox>
#include <QGlyphRun>
#include <QLabel>
#include <QRawFont>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTextLayout>
#include <QtTest>

#include <fstream>

using namespace furrow;
using namespace furrow::test;

namespace {

class Folder {
public:
    std::string write(const char* name, const std::string& text) const
    {
        const std::string path = folder_.filePath(QString::fromUtf8(name)).toStdString();
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    QString path() const { return folder_.path(); }

private:
    QTemporaryDir folder_;
};

bool says(const QWidget& parent, const char* part)
{
    const auto labels = parent.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
        return label->isVisibleTo(&parent) && label->text().contains(QString::fromUtf8(part));
    });
}

RunConfig configFor(const std::vector<std::string>& data)
{
    RunConfig config;
    config.data = data;
    config.tokenizer = "byte";
    return config;
}

/// What a look at the data brings, as the form gets it.
ProbePtr probed(const RunConfig& config, const Folder& folder)
{
    DataProber prober;
    ProbePtr found;
    QObject::connect(&prober, &DataProber::probed, &prober, [&found](const ProbePtr& result) { found = result; });
    prober.probe(config, folder.path());
    (void)QTest::qWaitFor([&found] { return found != nullptr; }, kPatienceMs);
    return found;
}

} // namespace

class TestOwnData : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// It stood in the box as if it was what is trained, and a click on it would have trained the roles.
    void thePreviewOfConversationsNamedAColumnThatIsNotRead()
    {
        const Folder folder;
        auto config = configFor({ folder.write("chats.jsonl",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"How are you?\"},{\"role\":\"assistant\",\"content\":\"Well.\"}]}\n") });
        DataPreview preview;
        const auto* columns = preview.findChild<QComboBox*>();
        preview.setProbe(probed(config, folder));
        QVERIFY(columns->isVisibleTo(&preview));
        QCOMPARE(columns->currentText(), QStringLiteral("messages[].content"));
        config.chatTemplate = "chatml";
        preview.setProbe(probed(config, folder));
        QVERIFY(!columns->isVisibleTo(&preview));
        QVERIFY(says(preview, "text in messages"));
    }
    void thePreviewOfConversationsDidNotSayWhatIsLearnt()
    {
        const Folder folder;
        auto config = configFor({ folder.write("chats.jsonl",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"How are you?\"},{\"role\":\"assistant\",\"content\":\"Well.\"}]}\n") });
        config.chatTemplate = "chatml";
        DataPreview preview;
        preview.setProbe(probed(config, folder));
        QTRY_VERIFY(says(preview, "«Well.<|im_end|>»"));
        QVERIFY(says(preview, "% of the tokens are learnt"));
    }
    void aLongNameOfAColumnWasCut()
    {
        const Folder folder;
        DataPreview preview;
        preview.setProbe(probed(configFor({ folder.write("a.csv", "a,b\n1,2\n") }), folder));
        preview.setProbe(probed(configFor({ folder.write("b.csv", "nr,the_whole_text\n1,some words\n") }), folder));
        const auto* columns = preview.findChild<QComboBox*>();
        QCOMPARE(columns->currentText(), QStringLiteral("the_whole_text"));
        QVERIFY(columns->sizeHint().width() > columns->fontMetrics().horizontalAdvance(columns->currentText()));
    }
    void aFileWithACommaInItsNameCouldNotBeUsed()
    {
        const Folder folder;
        const std::string path = folder.write("Goethe, Faust.txt", "Habe nun, ach\n");
        RunForm form;
        const Setting& data = *findSetting("data");
        form.setText(data, QString::fromStdString(path)); // as typed
        QCOMPARE(form.config().data, std::vector<std::string> { path });
        QCOMPARE(form.text(data), QStringLiteral("\"%1\"").arg(QString::fromStdString(path)));
        const std::string other = folder.write("b.txt", "b\n");
        form.setText(data, form.text(data) + QStringLiteral(", ") + QString::fromStdString(other));
        QCOMPARE(form.config().data, (std::vector<std::string> { path, other }));
    }
    void theFormDidNotSayHowSeveralSourcesAreWritten()
    {
        RunForm form;
        QWidget parent;
        const FormField field(*findSetting("data"), form, &parent);
        QVERIFY(field.editor()->toolTip().contains(QLatin1String("Separate several with commas")));
        const FormField single(*findSetting("text_column"), form, &parent);
        QVERIFY(!single.editor()->toolTip().contains(QLatin1String("behind commas")));
    }
    /// "Known once the data has been looked at", below a look at the data.
    void chunksOfSeveralSourcesWereKnownOnceLookedAt()
    {
        const Folder folder;
        Workbench bench(folder.path());
        NewRunPage page(bench);
        page.show();
        std::string lines;
        for (int i = 0; i < 400; ++i)
            lines += "a line of text that is long enough\n";
        page.setSource(QString::fromStdString(
            listText({ folder.write("a.txt", lines), folder.write("b.txt", lines + "one more\n") })));
        QTRY_VERIFY_WITH_TIMEOUT(says(page, "Counted when the run is made"), kPatienceMs);
        QVERIFY(!says(page, "Known once the data has been looked at"));
    }
    /// 7 rows beside 63: nothing said that nine epochs were counted.
    void rowsOfSeveralEpochsWereShownAsRows()
    {
        RunStatus status;
        status.state = RunState::Running;
        for (int i = 0; i < 3; ++i) {
            EpochRow epoch;
            epoch.epoch = i;
            epoch.rowsKnown.failed = 7;
            status.epochs.push_back(epoch);
        }
        EpochMeters meters;
        meters.setStatus(status);
        const auto shown = meters.findChild<MeterLegend*>()->accessibleName();
        QVERIFY2(shown.contains(QLatin1String("rows unreadable 21 in 3 epochs")), qPrintable(shown));
        status.epochs.resize(1);
        meters.setStatus(status);
        const auto one = meters.findChild<MeterLegend*>()->accessibleName();
        QVERIFY2(one.contains(QLatin1String("rows unreadable 7")) && !one.contains(QLatin1String("epochs")),
            qPrintable(one));
    }
    /// The font drew "<|" as a triangle.
    void dataWasDrawnWithLigatures()
    {
        const QFont font = codeFont();
        const QString text = QStringLiteral("<|im_start|> -> != ==");
        QTextLayout layout(text, font);
        layout.beginLayout();
        layout.createLine();
        layout.endLayout();
        QVector<quint32> glyphs;
        for (const QGlyphRun& run : layout.glyphRuns())
            glyphs += run.glyphIndexes();
        QCOMPARE(glyphs, QRawFont::fromFont(font).glyphIndexesForString(text));
    }
};

QTEST_MAIN(TestOwnData)
#include "tst_own_data.moc"
