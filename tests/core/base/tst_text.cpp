#include "core/base/format.h"
#include "core/base/path.h"
#include "core/base/plain_line.h"
#include "core/base/sentence.h"
#include "core/base/terminal.h"
#include "core/base/utf8.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace furrow;

class TestText : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void formatsBytes_data()
    {
        QTest::addColumn<quint64>("bytes");
        QTest::addColumn<QString>("text");
        QTest::newRow("zero") << quint64(0) << "0 B";
        QTest::newRow("below a KiB") << quint64(1023) << "1023 B";
        QTest::newRow("one KiB") << quint64(1024) << "1.0 KiB";
        QTest::newRow("rounds into the next unit") << quint64(1024 * 1024 - 1) << "1.0 MiB";
        QTest::newRow("GiB") << quint64(18360985190) << "17.1 GiB";
        QTest::newRow("largest") << std::numeric_limits<quint64>::max() << "16.0 EiB";
    }
    void formatsBytes()
    {
        QFETCH(quint64, bytes);
        QTEST(QString::fromStdString(formatBytes(bytes)), "text");
    }

    void formatsCounts_data()
    {
        QTest::addColumn<qint64>("count");
        QTest::addColumn<QString>("text");
        QTest::newRow("zero") << qint64(0) << "0";
        QTest::newRow("three digits") << qint64(999) << "999";
        QTest::newRow("four digits") << qint64(1412) << "1,412";
        QTest::newRow("negative") << qint64(-12000) << "-12,000";
        QTest::newRow("negative, three digits") << qint64(-120) << "-120";
        QTest::newRow("million") << qint64(1000000) << "1,000,000";
        QTest::newRow("smallest") << std::numeric_limits<qint64>::min() << "-9,223,372,036,854,775,808";
    }
    void formatsCounts()
    {
        QFETCH(qint64, count);
        QTEST(QString::fromStdString(formatCount(count)), "text");
    }

    void onlyOneComponentOfAPathIsAPlainName_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<bool>("plain");
        QTest::newRow("a checkpoint") << QByteArray("r0-120-0a1b2c3d4e5f") << true;
        QTest::newRow("with dots, a space and Greek") << QByteArray("a..b .\xce\xb1") << true;
        QTest::newRow("255 bytes") << QByteArray(255, 'a') << true;
        QTest::newRow("256 bytes") << QByteArray(256, 'a') << false;
        QTest::newRow("nothing") << QByteArray() << false;
        QTest::newRow("itself") << QByteArray(".") << false;
        QTest::newRow("up") << QByteArray("..") << false;
        QTest::newRow("up and down") << QByteArray("../x") << false;
        QTest::newRow("root") << QByteArray("/etc") << false;
        QTest::newRow("backslash") << QByteArray("..\\x") << false;
        QTest::newRow("drive or stream") << QByteArray("c:x") << false;
        QTest::newRow("zero byte") << QByteArray("a\0b", 3) << false;
        QTest::newRow("line feed") << QByteArray("a\nb") << false;
        QTest::newRow("no UTF-8") << QByteArray("a\xff") << false;
    }
    void onlyOneComponentOfAPathIsAPlainName()
    {
        QFETCH(QByteArray, name);
        QTEST(isPlainName(name.toStdString()), "plain");
    }

    void formatsDurations_data()
    {
        QTest::addColumn<double>("seconds");
        QTest::addColumn<QString>("text");
        QTest::newRow("zero") << 0.0 << "0 s";
        QTest::newRow("negative") << -5.0 << "0 s";
        QTest::newRow("not a number") << std::nan("") << "0 s";
        QTest::newRow("milliseconds") << 0.32 << "320 ms";
        QTest::newRow("rounds up to a second") << 0.9999 << "1 s";
        QTest::newRow("seconds") << 45.2 << "45 s";
        QTest::newRow("rounds up to a minute") << 59.9 << "1 min";
        QTest::newRow("minutes") << 65.0 << "1 min 5 s";
        QTest::newRow("hours") << 42600.0 << "11 h 50 min";
        QTest::newRow("whole hours") << 7200.0 << "2 h";
        QTest::newRow("days") << 3 * 86400.0 + 4 * 3600.0 + 59 << "3 d 4 h";
        QTest::newRow("infinite") << std::numeric_limits<double>::infinity() << "for ever";
    }
    void formatsDurations()
    {
        QFETCH(double, seconds);
        QTEST(QString::fromStdString(formatDuration(seconds)), "text");
    }

    void formatsNumbersWithoutTheLocale()
    {
        QCOMPARE(formatNumber(1.88571, 4), std::string("1.8857"));
        QCOMPARE(formatNumber(-std::numeric_limits<double>::infinity(), 2), std::string("-inf"));
        QCOMPARE(formatNumber(std::numeric_limits<double>::max(), 0).size(), std::size_t(309));
    }

    void judgesUtf8_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<bool>("valid");
        QTest::addColumn<QByteArray>("repaired");
        const QByteArray r("\xEF\xBF\xBD");
        const auto row = [](const char* name, QByteArray bytes, bool valid, QByteArray repaired) {
            QTest::newRow(name) << bytes << valid << repaired;
        };
        row("empty", "", true, "");
        row("ascii, longer than a word", "the quick brown fox", true, "the quick brown fox");
        row("two, three, four bytes", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xBE", true,
            "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x8C\xBE");
        row("zero byte", QByteArray("a\0b", 3), true, QByteArray("a\0b", 3));
        row("highest code point", "\xF4\x8F\xBF\xBF", true, "\xF4\x8F\xBF\xBF");
        row("lone continuation", "a\x80z", false, "a" + r + "z");
        row("overlong slash", "\xC0\xAF", false, r + r);
        row("overlong three", "\xE0\x80\xAF", false, r + r + r);
        row("surrogate", "\xED\xA0\x80", false, r + r + r);
        row("above U+10FFFF", "\xF4\x90\x80\x80", false, r + r + r + r);
        row("cut three-byte form is one piece", "\xE2\x82", false, r);
        row("cut four-byte form, then text",
            "\xF0\x9F\x8C"
            "abc",
            false, r + "abc");
        row("byte that never occurs", "\xFF\xFE", false, r + r);
        row("error after eight ascii bytes", "12345678\xFF", false, "12345678" + r);
    }
    void judgesUtf8()
    {
        QFETCH(QByteArray, bytes);
        const std::string_view text(bytes.constData(), static_cast<std::size_t>(bytes.size()));
        QTEST(isValidUtf8(text), "valid");
        const RepairedText repaired = replaceInvalidUtf8(text);
        QTEST(QByteArray::fromStdString(repaired.text), "repaired");
        QVERIFY(isValidUtf8(repaired.text));
        QFETCH(bool, valid);
        QCOMPARE(repaired.replaced == 0, valid);
    }

    void repairAgreesWithQtOnRandomBytes()
    {
        quint32 state = 12345;
        for (int round = 0; round < 2000; ++round) {
            QByteArray bytes;
            for (int index = 0; index < 24; ++index) {
                state = state * 1664525 + 1013904223;
                bytes.append(static_cast<char>(index % 3 ? state >> 24 : (state >> 24) | 0xC0));
            }
            const std::string_view text(bytes.constData(), static_cast<std::size_t>(bytes.size()));
            QCOMPARE(isValidUtf8(text), bytes.isValidUtf8());
            QVERIFY(isValidUtf8(replaceInvalidUtf8(text).text));
        }
    }

    void countsCodePoints()
    {
        QCOMPARE(countCodePoints(""), std::size_t(0));
        QCOMPARE(countCodePoints("na\xC3\xAFve \xF0\x9F\x8C\xBE"), std::size_t(7));
    }

    void cutsBetweenCodePoints()
    {
        const std::string text = "a\xE2\x82\xAC"
                                 "b";
        QCOMPARE(cutAtCodePoint(text, 10), std::string_view(text));
        QCOMPARE(cutAtCodePoint(text, 4), std::string_view(text).substr(0, 4));
        QCOMPARE(cutAtCodePoint(text, 3), std::string_view("a"));
        QCOMPARE(cutAtCodePoint(text, 0), std::string_view());
    }

    /// A cause in a tracker with escape codes rewrote the terminal, one with line ends forged "every chunk is where it
    /// should be", one of 3 MB hid the rest.
    void textFromOutsideIsOneLineThatNoTerminalObeys_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("line");
        QTest::newRow("plain") << QByteArray("disk full at 99 %") << QByteArray("disk full at 99 %");
        QTest::newRow("letters of others") << QByteArray("Ü 漢 🙂") << QByteArray("Ü 漢 🙂");
        QTest::newRow("clears the screen") << QByteArray("a\x1b[2Jb") << QByteArray("a␛[2Jb");
        QTest::newRow("a line of its own") << QByteArray("a\r\nExactly once.") << QByteArray("a␍␊Exactly once.");
        QTest::newRow("C1") << QByteArray("a\xC2\x9B"
                                          "2Jb")
                            << QByteArray("a\xEF\xBF\xBD"
                                          "2Jb");
        QTest::newRow("turns the line round") << QByteArray("a\xE2\x80\xAE"
                                                            "b")
                                              << QByteArray("a\xEF\xBF\xBD"
                                                            "b");
        QTest::newRow("not UTF-8") << QByteArray("a\xFF") << QByteArray("a\xEF\xBF\xBD");
        QTest::newRow("NUL and DEL") << QByteArray("\0\x7F", 2) << QByteArray("␀␡");
    }
    void textFromOutsideIsOneLineThatNoTerminalObeys()
    {
        QFETCH(QByteArray, text);
        QTEST(QByteArray::fromStdString(plainLine(text.toStdString())), "line");
    }

    /// The name of a checkpoint folder with a line end in it forged lines of status, audit and compare.
    void whatASentenceNamesStaysInItsLine()
    {
        QCOMPARE(sentence("checkpoint %1 is damaged", { "EVIL\nforged: every chunk is where it should be\xE2\x80\xAE" })
                     .text(),
            std::string("checkpoint EVIL␊forged: every chunk is where it should be\xEF\xBF\xBD is damaged"));
    }

    /// "Attempt 1 ended at ...: ... then resume.." in status.
    void aSentenceInsideASentenceEndedInTwoFullStops_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("shown");
        QTest::newRow("a cause") << "It ended: %1." << "no room" << "It ended: no room.";
        QTest::newRow("a sentence") << "It ended: %1." << "Free some space." << "It ended: Free some space.";
        QTest::newRow("a question") << "It ended: %1." << "Is the disk there?" << "It ended: Is the disk there?";
        QTest::newRow("in the middle") << "It ended: %1. Go on." << "No room." << "It ended: No room. Go on.";
        QTest::newRow("no stop behind it") << "%1; again" << "No room." << "No room.; again";
        QTest::newRow("dots") << "%1..." << "No room." << "No room....";
        QTest::newRow("Chinese") << QString::fromUtf8("结束：%1。") << QString::fromUtf8("没有空间。")
                                 << QString::fromUtf8("结束：没有空间。");
    }
    void aSentenceInsideASentenceEndedInTwoFullStops()
    {
        QFETCH(QString, text);
        QFETCH(QString, value);
        QTEST(QString::fromStdString(filled(text.toStdString(), { value.toStdString() })), "shown");
    }

    void aLongTextFromOutsideIsCut()
    {
        const std::string line = plainLine(std::string(3 << 20, 'x'));
        QCOMPARE(line.size(), kPlainLineBytes + 3);
        QVERIFY(line.ends_with("x..."));
        QCOMPARE(plainLine("ab\xC3\x9C", 3), std::string("ab...")); // no half characters
    }

    void aTerminalGetsNoControlCodesInPiecesEither()
    {
        TerminalText text;
        std::string shown;
        for (const char* piece : { "one\n\ttwo \x1b", "]0;title\x07 \xC2",
                 "\x9B"
                 "2J \xC3",
                 "\x9C \xC2", "\xA9 \xC2" })
            shown += text.next(piece);
        shown += text.end();
        QCOMPARE(shown,
            std::string("one\n\ttwo ␛]0;title␇ \xEF\xBF\xBD"
                        "2J Ü © \xC2"));
    }

    void pathsKeepTheirLetters()
    {
        const std::string text = "/tmp/\xD0\xBF\xD0\xBE\xD0\xBB\xD0\xB5/\xE7\x95\x91";
        QCOMPARE(utf8Text(pathFromUtf8(text)), text);
    }
};

QTEST_GUILESS_MAIN(TestText)
#include "tst_text.moc"
