#include "core/base/sentence.h"
#include "core/config/message_json.h"

#include <QtTest>

#include <limits>
#include <nlohmann/json.hpp>

using namespace furrow;

class TestMessageJson : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void eachKindOfArgumentComesBack()
    {
        const Message inner = sentence("chunk %1 of block %2 (epoch %3)", { "3", "5", "1" });
        const Message all = sentence("%1 %2 %3 %4 %5 %6 %7 %8",
            { "name", Count(-1'234'567), Real(2.5, 3), Bytes(3ULL << 30), WallTime(1'773'427'330'000'000'000),
                settingTerm("lr"), Term { TermSet::StopReason, "user" }, inner });
        const Message read = messageOf(all.text(), messageParts(all));
        QCOMPARE(read.text(),
            std::string("name -1,234,567 2.500 3.0 GiB 2026-03-13T18:42:10Z lr user chunk 3 of block 5 (epoch 1)"));
        QCOMPARE(messageParts(read), messageParts(all));
        QCOMPARE(std::string(read.id()), std::string("%1 %2 %3 %4 %5 %6 %7 %8"));
        for (std::size_t i = 0; i < all.arguments().size(); ++i)
            QCOMPARE(read.arguments()[i].value.index(), all.arguments()[i].value.index());
    }

    void whatFollowsOneAnotherComesBack()
    {
        const Message both = sentence("the file %1 is away", { "x" }) + "\n  " + sentence("row %1", { Count(1'000) });
        const Message read = messageOf(both.text(), messageParts(both));
        QCOMPARE(read.text(), std::string("the file x is away\n  row 1,000"));
        QVERIFY(!read.isPlain());
        QVERIFY(read.id().empty());
    }

    void whatSaysAllInEnglishKeepsNothingBesideIt()
    {
        QCOMPARE(messageParts("bad allocation"), std::string());
        QCOMPARE(messageParts(sentence("The run is over.")), std::string());
        QVERIFY(messageOf("bad allocation", "").isPlain());
    }

    /// JSON has no infinity; it was written as null and read as nothing.
    void aNumberThatIsNoneIsKeptAsItsName()
    {
        const Message said = sentence("loss %1", { Real(std::numeric_limits<double>::infinity(), 2) });
        QCOMPARE(messageOf(said.text(), messageParts(said)).text(), std::string("loss inf"));
        QVERIFY(!messageOf(said.text(), messageParts(said)).isPlain());
    }

    /// What furrow-worker had against start weights was read as its English text alone.
    void anErrorThatAProgramAnsweredKeepsItsValues()
    {
        const Message why = sentence("the file %1 is gone", { "x" });
        const auto read = answeredError({ { "error", why.text() }, { "message", toJson(why) } });
        QVERIFY(read);
        QCOMPARE(read->text(), std::string("the file x is gone"));
        QCOMPARE(messageParts(*read), messageParts(why));
        QVERIFY(answeredError({ { "error", "the file x is gone" } })->isPlain());
        QVERIFY(answeredError({ { "error", "the file x is gone" }, { "message", 7 } })->isPlain());
        for (const auto& other : { nlohmann::json(), nlohmann::json({ { "error", "" } }),
                 nlohmann::json({ { "error", 7 } }), nlohmann::json({ { "loss", 1 } }) })
            QVERIFY(!answeredError(other));
    }

    /// A run folder may come from anywhere.
    void partsThatAreNoneLeaveThePlainText_data()
    {
        QTest::addColumn<QString>("parts");
        const QString deep = QStringLiteral("{\"id\":\"%1\",\"args\":[");
        QTest::newRow("no JSON") << QStringLiteral("{\"id\":");
        QTest::newRow("a list") << QStringLiteral("[]");
        QTest::newRow("no id") << QStringLiteral("{\"args\":[\"a\"]}");
        QTest::newRow("an id that is a number") << QStringLiteral("{\"id\":7,\"args\":[\"a\"]}");
        QTest::newRow("arguments that are none") << QStringLiteral("{\"id\":\"%1\",\"args\":7}");
        QTest::newRow("an argument that is a list") << QStringLiteral("{\"id\":\"%1\",\"args\":[[\"a\"]]}");
        QTest::newRow("another English text") << QStringLiteral("{\"id\":\"%1 is whole\",\"args\":[\"a\"]}");
        QTest::newRow("a count beyond 64 bits")
            << QStringLiteral("{\"id\":\"%1\",\"args\":[{\"count\":18446744073709551615}]}");
        QTest::newRow("a count that is a fraction") << QStringLiteral("{\"id\":\"%1\",\"args\":[{\"count\":1.5}]}");
        QTest::newRow("a million digits")
            << QStringLiteral("{\"id\":\"%1\",\"args\":[{\"real\":1,\"digits\":1000000}]}");
        QTest::newRow("negative bytes") << QStringLiteral("{\"id\":\"%1\",\"args\":[{\"bytes\":-1}]}");
        QTest::newRow("too many") << QStringLiteral("{\"id\":\"\",\"args\":[") + QStringLiteral("\"\",").repeated(100)
                + QStringLiteral("\"a\"]}");
        QTest::newRow("too deep") << deep.repeated(20) + QStringLiteral("\"a\"") + QStringLiteral("]}").repeated(20);
        QTest::newRow("deeper than any stack") << deep.repeated(4000);
        QTest::newRow("too long") << QStringLiteral("{\"id\":\"%1\",\"args\":[\"a\"],\"x\":\"")
                + QString(1 << 18, QLatin1Char('x')) + QStringLiteral("\"}");
    }
    void partsThatAreNoneLeaveThePlainText()
    {
        QFETCH(QString, parts);
        const Message read = messageOf("a", parts.toStdString());
        QVERIFY(read.isPlain());
        QCOMPARE(read.text(), std::string("a"));
    }
};

QTEST_APPLESS_MAIN(TestMessageJson)
#include "tst_message_json.moc"
