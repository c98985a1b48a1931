#include "tests/must_have.h"

#include <QProcess>
#include <QStandardPaths>
#include <QtTest>

/// Completion of shells and the manual page, as a shell and troff read them.
class TestCompletion : public QObject {
    Q_OBJECT

    /// What bash offers for a command line that ends at the cursor.
    static QStringList offeredByBash(const QStringList& words)
    {
        QStringList quoted;
        for (const auto& word : words)
            quoted += QLatin1Char('\'') + word + QLatin1Char('\'');
        const auto script = QStringLiteral(
            "source <(furrowctl completion bash) && COMP_WORDS=(%1) && COMP_CWORD=%2 && { _furrowctl; printf '%s\\n' \"${COMPREPLY[@]}\"; }")
                                .arg(quoted.join(QLatin1Char(' ')))
                                .arg(words.size() - 1);
        return linesOf(QStringLiteral("bash"), { QStringLiteral("-c"), script });
    }

    static QStringList linesOf(const QString& program, const QStringList& arguments)
    {
        QProcess process;
        process.start(program, arguments);
        if (!process.waitForFinished() || process.exitCode() != 0)
            return { QStringLiteral("failed: ") + QString::fromUtf8(process.readAllStandardError()) };
        return QString::fromUtf8(process.readAllStandardOutput()).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    }

private Q_SLOTS:
    void bashOffersWhatMayFollow_data()
    {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QStringList>("offered");
        using L = QStringList;
        QTest::newRow("commands") << L { "furrowctl", "doct" } << L { "doctor" };
        QTest::newRow("a command inside one") << L { "furrowctl", "tokenizer", "tr" } << L { "train" };
        QTest::newRow("options of a command")
            << L { "furrowctl", "run", "--stop-after-e" } << L { "--stop-after-epoch" };
        QTest::newRow("values of a setting") << L { "furrowctl", "run", "--parallel", "d" } << L { "data" };
        QTest::newRow("a command after an option")
            << L { "furrowctl", "run", "--data", "tokenizer", "--grad-ac" } << L { "--grad-accum" };
        QTest::newRow("nothing that is hidden") << L { "furrowctl", "bench", "tracker-w" } << L {};
    }
    void bashOffersWhatMayFollow()
    {
        QFETCH(QStringList, words);
        QFETCH(QStringList, offered);
        SKIP_WITHOUT(
            "bash", !QStandardPaths::findExecutable(QStringLiteral("bash")).isEmpty(), "bash is not installed.");
        QCOMPARE(offeredByBash(words), offered);
    }

    void fishAndZshCanReadTheirs_data()
    {
        QTest::addColumn<QString>("shell");
        QTest::newRow("zsh") << "zsh";
        QTest::newRow("fish") << "fish";
    }
    void fishAndZshCanReadTheirs()
    {
        QFETCH(QString, shell);
        const auto text = linesOf(QStringLiteral("furrowctl"), { QStringLiteral("completion"), shell });
        QVERIFY(text.join(QLatin1Char('\n')).contains(QStringLiteral("stop-after-epoch")));
        SKIP_WITHOUT(
            qPrintable(shell), !QStandardPaths::findExecutable(shell).isEmpty(), "This shell is not installed.");
        QTemporaryFile file;
        QVERIFY(file.open());
        file.write(text.join(QLatin1Char('\n')).toUtf8());
        file.flush();
        QCOMPARE(linesOf(shell, { QStringLiteral("-n"), file.fileName() }), QStringList {});
        if (shell == QStringLiteral("zsh")) {
            const auto offered = QStringLiteral(
                "compdef() {}; _files() {}; compadd() { shift; print -l -- \"$@\" }; source %1; words=(furrowctl run --parallel ''); CURRENT=4; _furrowctl")
                                     .arg(file.fileName());
            QCOMPARE(linesOf(shell, { QStringLiteral("-f"), QStringLiteral("-c"), offered }),
                QStringList({ QStringLiteral("independent"), QStringLiteral("data") }));
        } else {
            const auto offered = QStringLiteral("source %1; complete -C 'furrowctl tokenizer tr'").arg(file.fileName());
            QVERIFY(linesOf(shell, { QStringLiteral("-c"), offered })
                    .join(QLatin1Char('\n'))
                    .startsWith(QStringLiteral("train")));
        }
    }

    void manualNamesEveryCommand()
    {
        const auto page = linesOf(QStringLiteral("furrowctl"), { QStringLiteral("manual") });
        QVERIFY(page.front().startsWith(QStringLiteral(".TH FURROWCTL 1")));
        for (const auto* command : { "run", "audit", "tokenizer train", "doctor" })
            QVERIFY2(page.contains(QStringLiteral(".SS ") + QLatin1String(command)), command);
        for (const auto& line : page)
            QVERIFY2(!line.startsWith(QLatin1Char('.'))
                    || line.contains(QRegularExpression(QStringLiteral("^\\.(TH|SH|SS|TP|B|I|BR)\\b"))),
                qPrintable(line));
    }

    void anUnknownShellIsNamed()
    {
        QProcess process;
        process.start(QStringLiteral("furrowctl"), { QStringLiteral("completion"), QStringLiteral("tcsh") });
        QVERIFY(process.waitForFinished());
        QCOMPARE(process.exitCode(), 2);
        QVERIFY(process.readAllStandardError().contains("tcsh"));
    }
};

QTEST_GUILESS_MAIN(TestCompletion)
#include "tst_completion.moc"
