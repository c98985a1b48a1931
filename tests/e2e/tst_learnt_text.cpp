#include <QFile>
#include <QProcess>
#include <QtTest>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

namespace {

/// The side of a terminal that shows what a program prints.
class Terminal {
public:
    Terminal()
        : screen_(::posix_openpt(O_RDWR | O_NOCTTY))
    {
        if (screen_ < 0 || ::grantpt(screen_) != 0 || ::unlockpt(screen_) != 0)
            qFatal("no terminal");
    }
    ~Terminal() { ::close(screen_); }
    Q_DISABLE_COPY(Terminal)

    QString path() const { return QString::fromLocal8Bit(::ptsname(screen_)); }
    QByteArray shown()
    {
        pollfd ready { screen_, POLLIN, 0 };
        char bytes[4096];
        while (::poll(&ready, 1, 0) > 0 && (ready.revents & POLLIN) != 0) {
            const auto length = ::read(screen_, bytes, sizeof bytes);
            if (length <= 0)
                break;
            shown_.append(bytes, static_cast<qsizetype>(length));
        }
        return shown_;
    }

private:
    int screen_;
    QByteArray shown_;
};

} // namespace

/// Conversations in the probe, as a person sees them and as a program reads them.
class TestLearntText : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        QFile file(folder_.filePath(QStringLiteral("chats.jsonl")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"messages\":[{\"role\":\"user\",\"content\":\"Ask \\u001b[5m\"},"
                   "{\"role\":\"assistant\",\"content\":\"Answer\"}]}\n");
    }

    void whatIsReadOnlyIsDimOnATerminal()
    {
        const QByteArray shown = probe(true, {});
        QVERIFY2(shown.contains("those that are not dim below"), shown.constData());
        QVERIFY2(shown.contains("\x1b[2m<|im_start|>user\\nAsk"), shown.constData());
        QVERIFY2(shown.contains("<|im_start|>assistant\\n\x1b[22mAnswer<|im_end|>"), shown.constData());
        QVERIFY(!shown.contains("\u00ab") && !shown.contains("\x1b[5m")); // what is ours alone
    }

    void marksStandWhereNothingIsDim_data()
    {
        QTest::addColumn<bool>("onTerminal");
        QTest::addColumn<QStringList>("variables");
        QTest::newRow("pipe") << false << QStringList();
        QTest::newRow("NO_COLOR") << true << QStringList { QStringLiteral("NO_COLOR=1") };
        QTest::newRow("a dumb terminal") << true << QStringList { QStringLiteral("TERM=dumb") };
    }
    void marksStandWhereNothingIsDim()
    {
        QFETCH(bool, onTerminal);
        QFETCH(QStringList, variables);
        const QByteArray shown = probe(onTerminal, variables);
        QVERIFY2(shown.contains("those between \u00ab and \u00bb below"), shown.constData());
        QVERIFY2(shown.contains("\u00abAnswer<|im_end|>"), shown.constData());
        QVERIFY(!shown.contains('\x1b'));
    }

private:
    QByteArray probe(bool onTerminal, const QStringList& variables)
    {
        Terminal terminal;
        QProcess process;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.remove(QStringLiteral("NO_COLOR"));
        environment.insert(QStringLiteral("TERM"), QStringLiteral("xterm"));
        for (const auto& variable : variables)
            environment.insert(
                variable.section(QLatin1Char('='), 0, 0), variable.section(QLatin1Char('='), 1)); // after the defaults
        process.setProcessEnvironment(environment);
        const int held = ::open(terminal.path().toLocal8Bit().constData(), O_RDWR | O_NOCTTY); // else it hangs up
        if (onTerminal)
            process.setStandardOutputFile(terminal.path());
        process.start(QStringLiteral("furrowctl"),
            { QStringLiteral("data"), QStringLiteral("probe"), folder_.filePath(QStringLiteral("chats.jsonl")),
                QStringLiteral("--chat-template"), QStringLiteral("chatml"), QStringLiteral("--workspace"),
                folder_.path() });
        for (int i = 0; i < 600 && !process.waitForFinished(100) && process.state() != QProcess::NotRunning; ++i)
            terminal.shown();
        const QByteArray shown = onTerminal ? terminal.shown() : process.readAllStandardOutput();
        ::close(held);
        return process.exitCode() == 0 ? shown : shown + process.readAllStandardError();
    }

    QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(TestLearntText)
#include "tst_learnt_text.moc"
