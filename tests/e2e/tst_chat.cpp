// Talks with real weights: the JSON lines of `furrowctl chat`, and the page of the console.

#include "core/base/process.h"
#include "tests/e2e/run_driver.h"
#include "ui/models/workbench.h"
#include "ui/parts/number_field.h"
#include "ui/pages/chat_page.h"
#include "ui/parts/weights_choice.h"

#include <QApplication>
#include <QComboBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>
#include <QtTest>

using namespace furrow;
using namespace Qt::StringLiterals;

namespace {

constexpr int kPatienceMs = 60'000;

/// `furrowctl chat --json` by hand.
class Lines {
public:
    explicit Lines(const QString& run)
    {
        process_.start(RunDriver::program(), { QStringLiteral("chat"), run, QStringLiteral("--json") });
    }
    ~Lines()
    {
        process_.closeWriteChannel();
        process_.waitForFinished();
    }
    void write(const QByteArray& line) { process_.write(line + '\n'); }
    /// The next line with that key, and those before it.
    QJsonObject next(const char* key, QList<QJsonObject>* before = nullptr)
    {
        for (;;) {
            while (!process_.canReadLine())
                if (!process_.waitForReadyRead(kPatienceMs))
                    return {};
            const auto line = QJsonDocument::fromJson(process_.readLine()).object();
            if (line.contains(QLatin1String(key)))
                return line.value(QLatin1String(key)).isObject() ? line.value(QLatin1String(key)).toObject() : line;
            if (before != nullptr)
                before->append(line);
        }
    }
    int end()
    {
        process_.closeWriteChannel();
        return process_.waitForFinished(kPatienceMs) ? process_.exitCode() : -1;
    }

private:
    QProcess process_;
};

template <typename Widget> Widget* named(const QWidget& parent, const QString& name)
{
    for (auto* widget : parent.findChildren<Widget*>())
        if (widget->accessibleName() == name)
            return widget;
    return nullptr;
}

QPushButton* button(const QWidget& parent, const QString& text)
{
    for (auto* one : parent.findChildren<QPushButton*>())
        if (one->text() == text)
            return one;
    return nullptr;
}

} // namespace

class TestChat : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void tokensAddUpToTheAnswer();
    void anAnswerIsStoppedInTheMiddle();
    void whatIsNoRequestIsRefusedAndTheTalkGoesOn();
    void aModelOfLinesGotALineBreakThatItNeverSaw_data();
    void aModelOfLinesGotALineBreakThatItNeverSaw();
    void aPageTalksAndFollowsTheRun();
    void twoTalksSideBySide();

private:
    QStringList made(const QString& name) const;

    QTemporaryDir folder_;
    QString run_;
    QString text_;
};

QStringList TestChat::made(const QString& name) const
{
    return QStringList { QStringLiteral("--name"), name, QStringLiteral("--data"),
        folder_.filePath(QStringLiteral("text.txt")), QStringLiteral("--out"),
        folder_.filePath(QStringLiteral("workspace/") + name), QStringLiteral("--workers"), QStringLiteral("1"),
        QStringLiteral("--devices"), QStringLiteral("cpu") }
    + RunDriver::tinyModel();
}

void TestChat::initTestCase()
{
    QVERIFY(QDir(folder_.path()).mkpath(QStringLiteral("workspace")));
    text_ = RunDriver::writeText(folder_.path(), 200);
    run_ = folder_.filePath(QStringLiteral("workspace/a"));
    for (const auto* name : { "a", "b" }) {
        const auto trained = RunDriver::ctl(QStringList { QStringLiteral("run") } + made(QLatin1String(name)));
        QVERIFY2(trained.exitCode == 0, qPrintable(trained.errors));
    }
}

void TestChat::tokensAddUpToTheAnswer()
{
    Lines talk(run_);
    const auto weights = talk.next("weights");
    QVERIFY(weights["step"_L1].toInt() > 0);
    QVERIFY(!weights["chat_format"_L1].toBool());
    talk.write(R"({"say":"the","tokens":12,"temperature":0})");
    QList<QJsonObject> tokens;
    const auto answer = talk.next("answer", &tokens);
    QVERIFY(answer["tokens"_L1].toInt() > 0);
    QString text;
    for (const auto& line : tokens) {
        const auto token = line["token"_L1].toObject();
        text += token["text"_L1].toString();
        const auto likeliest = token["likeliest"_L1].toArray();
        QCOMPARE(likeliest.size(), 5);
        QCOMPARE(token["probability"_L1].toDouble(), likeliest[0].toArray()[1].toDouble()); // the likeliest was taken
        double sum = 0;
        for (const auto& one : likeliest)
            sum += one.toArray()[1].toDouble();
        QVERIFY(sum > 0 && sum < 1.0001);
    }
    QCOMPARE(text, answer["text"_L1].toString());
    QCOMPARE(talk.end(), 0);
}

void TestChat::anAnswerIsStoppedInTheMiddle()
{
    Lines talk(run_);
    talk.next("weights");
    talk.write(R"({"say":"the","tokens":1000000,"seed":3})");
    QVERIFY(!talk.next("token").isEmpty());
    talk.write(R"({"stop":true})");
    const auto answer = talk.next("answer");
    QVERIFY(!answer.isEmpty());
    QVERIFY(answer["tokens"_L1].toInt() < 1'000'000);
    talk.write(R"({"say":"and","tokens":3})"); // it goes on
    QVERIFY(!talk.next("answer").isEmpty());
    talk.write(R"({"say":"the","tokens":1000000})");
    QVERIFY(!talk.next("token").isEmpty());
    QCOMPARE(talk.end(), 0); // the end of the input ends an answer too
}

void TestChat::whatIsNoRequestIsRefusedAndTheTalkGoesOn()
{
    Lines talk(run_);
    talk.next("weights");
    for (const char* line :
        { "[1]", "hello", R"({"say":3})", R"({"say":"a","temperature":-1})", R"({"say":"a","tokens":-5})" }) {
        talk.write(line);
        QVERIFY2(!talk.next("error").isEmpty(), line);
    }
    talk.write(R"({"say":"a","tokens":"many","top_k":[]})"); // what is no number counts as not given
    QVERIFY(!talk.next("answer").isEmpty());
}

void TestChat::aModelOfLinesGotALineBreakThatItNeverSaw_data()
{
    QTest::addColumn<QString>("mode");
    QTest::addColumn<QString>("prompt");
    QTest::newRow("lines") << QStringLiteral("lines") << QStringLiteral("12 furr");
    QTest::newRow("spans, which have line breaks") << QStringLiteral("span") << QStringLiteral("12 furr\n");
}
/// Its answer was noise, while `sample` with the same words wrote what it had learnt.
void TestChat::aModelOfLinesGotALineBreakThatItNeverSaw()
{
    QFETCH(QString, mode);
    QFETCH(QString, prompt);
    const auto trained = RunDriver::ctl(
        QStringList { QStringLiteral("run") } + made(mode) + QStringList { QStringLiteral("--data-mode"), mode });
    QVERIFY2(trained.exitCode == 0, qPrintable(trained.errors));
    const QString run = folder_.filePath(QStringLiteral("workspace/") + mode);
    const auto sample = RunDriver::ctl(
        { QStringLiteral("sample"), run, QStringLiteral("--json"), QStringLiteral("--prompt=") + prompt,
            QStringLiteral("--temperature"), QStringLiteral("0"), QStringLiteral("--tokens"), QStringLiteral("20") });
    QCOMPARE(sample.exitCode, 0);
    Lines talk(run);
    talk.write(R"({"say":"12 furr","tokens":20,"temperature":0})");
    const auto answer = talk.next("answer");
    QVERIFY(answer["tokens"_L1].toInt() > 0);
    QVERIFY2(sample.json["text"_L1].toString().startsWith(answer["text"_L1].toString()), // which ends with the text
        qPrintable(answer["text"_L1].toString() + " against "_L1 + sample.json["text"_L1].toString()));
    talk.write(R"({"say":"13 furr","tokens":3,"temperature":0})"); // and goes on behind another line
    QVERIFY(!talk.next("answer").isEmpty());
}

void TestChat::aPageTalksAndFollowsTheRun()
{
    Workbench bench(folder_.filePath(QStringLiteral("workspace")));
    bench.start({});
    ChatPage page(bench);
    page.resize(1000, 600);
    page.show();
    bench.showRun(run_);
    auto* said = named<QPlainTextEdit>(page, QStringLiteral("What you say"));
    auto* talk = named<QPlainTextEdit>(page, QStringLiteral("Talk"));
    QVERIFY(said != nullptr && talk != nullptr);
    auto* send = button(page, QStringLiteral("Send"));
    QVERIFY(!send->isEnabled());
    QTRY_VERIFY_WITH_TIMEOUT(page.findChild<WeightsChoice*>()->hasCheckpoints(), kPatienceMs);
    named<NumberField>(page, QStringLiteral("Tokens of an answer, at most"))->setValue(40);
    named<NumberField>(page, QStringLiteral("Temperature"))->setValue(1.5); // the likeliest may be the end at once
    said->setPlainText(QStringLiteral("furr"));
    QTest::keyClick(said, Qt::Key_Return);
    QCOMPARE(said->toPlainText(), QString());
    QTRY_VERIFY_WITH_TIMEOUT(send->text() == QLatin1String("Send"), kPatienceMs);
    const QString first = talk->toPlainText();
    QVERIFY2(first.startsWith(QStringLiteral("You\nfurr\n\nModel\n")) && first.size() > 18, qPrintable(first));

    const auto more
        = RunDriver::ctl({ QStringLiteral("resume"), run_, QStringLiteral("--epochs"), QStringLiteral("3") });
    QVERIFY2(more.exitCode == 0, qPrintable(more.errors));
    said->setPlainText(QStringLiteral("furr"));
    QTest::keyClick(said, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(
        talk->toPlainText().contains(QStringLiteral("From here on with newer weights")), kPatienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(send->text() == QLatin1String("Send"), kPatienceMs);
    QVERIFY(talk->toPlainText().startsWith(first)); // what was said stays
    QTest::mouseClick(button(page, QStringLiteral("New talk")), Qt::LeftButton);
    QCOMPARE(talk->toPlainText(), QString());
}

void TestChat::twoTalksSideBySide()
{
    Workbench bench(folder_.filePath(QStringLiteral("workspace")));
    bench.start({});
    ChatPage page(bench);
    page.resize(1000, 600);
    page.show();
    bench.showRun(run_);
    auto* beside = named<WeightsChoice>(page, QStringLiteral("Beside them"));
    auto* other = named<QPlainTextEdit>(page, QStringLiteral("Talk beside it"));
    QVERIFY(!other->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(beside->findText(QStringLiteral("b, the newest")) > 0, kPatienceMs);
    beside->setCurrentIndex(beside->findText(QStringLiteral("b, the newest")));
    QVERIFY(other->isVisible());
    named<NumberField>(page, QStringLiteral("Tokens of an answer, at most"))->setValue(40);
    auto* said = named<QPlainTextEdit>(page, QStringLiteral("What you say"));
    said->setPlainText(QStringLiteral("furr"));
    QTest::keyClick(said, Qt::Key_Return);
    auto* talk = named<QPlainTextEdit>(page, QStringLiteral("Talk"));
    QTRY_VERIFY_WITH_TIMEOUT(button(page, QStringLiteral("Send")) != nullptr, kPatienceMs);
    for (const auto* one : { talk, other })
        QVERIFY2(one->toPlainText().size() > 20, qPrintable(one->toPlainText()));
}

QTEST_MAIN(TestChat)
#include "tst_chat.moc"
