#include "core/config/json_reading.h"

#include <QTest>

using namespace furrow;

class TestJsonReading : public QObject {
    Q_OBJECT

    static constexpr const char* kText
        = R"({"text":"a","yes":true,"whole":7,"least":-3,"real":0.5,"huge":18446744073709551615,"list":[1,2,3],"mixed":[1,"b"],"none":null,"files":[{"size":1},{"size":"x"}]})";

    /// The trouble after `read`.
    template <typename Read> static QString troubleOf(const char* text, const Read& read)
    {
        JsonReading reading { std::string_view(text) };
        read(reading.root());
        return QString::fromStdString(reading.trouble());
    }

private Q_SLOTS:
    void readsEachKindOfPart()
    {
        JsonReading reading { std::string_view(kText) };
        const JsonPart j = reading.root();
        QCOMPARE(j["text"].as<std::string>(), std::string("a"));
        QVERIFY(j["yes"].as<bool>());
        QCOMPARE(j["whole"].as<int>(), 7);
        QCOMPARE(j["least"].as<std::int64_t>(), -3);
        QCOMPARE(j["whole"].as<double>(), 7.0);
        QCOMPARE(j["real"].as<double>(), 0.5);
        QCOMPARE(j["huge"].as<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
        QCOMPARE(j["list"].as<std::vector<int>>(), (std::vector<int> { 1, 2, 3 }));
        QCOMPARE(j["list"].at(2).as<int>(), 3);
        QCOMPARE(j.valueOr("none", 5), 5);
        QCOMPARE(j.valueOr("absent", 5), 5);
        std::vector<std::string> keys;
        j["files"].at(0).eachKey([&](const std::string& key, const JsonPart& part) {
            keys.push_back(key + std::to_string(part.as<int>()));
        });
        QCOMPARE(keys, std::vector<std::string> { "size1" });
        QVERIFY2(reading.ok(), reading.trouble().c_str());
    }

    /// "[json.exception.type_error.302] type must be number, but is string" was shown to people.
    void saysInPlainWordsWhatIsWrongAndWhere()
    {
        const auto said = [](const auto& read) { return troubleOf(kText, read); };
        QCOMPARE(said([](const JsonPart& j) { (void)j["step"].as<int>(); }), QStringLiteral("it has no key 'step'"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["files"].at(0)["name"].as<std::string>(); }),
            QStringLiteral("it has no key 'files[0].name'"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["list"].at(3).as<int>(); }),
            QStringLiteral("it has no key 'list[3]'"));
        QCOMPARE(said([](const JsonPart& j) {
            j["files"].each([](const JsonPart& file) { (void)file["size"].as<int>(); });
        }),
            QStringLiteral("its key 'files[1].size' is not a whole number"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["mixed"].as<std::vector<std::string>>(); }),
            QStringLiteral("its key 'mixed[0]' is not a text"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["real"].as<int>(); }),
            QStringLiteral("its key 'real' is not a whole number"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["text"].as<double>(); }),
            QStringLiteral("its key 'text' is not a number"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["text"].as<bool>(); }),
            QStringLiteral("its key 'text' is neither true nor false"));
        QCOMPARE(
            said([](const JsonPart& j) { (void)j["text"].size(); }), QStringLiteral("its key 'text' is not a list"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["text"]["inner"].as<int>(); }),
            QStringLiteral("its key 'text' is not a JSON object"));
        QCOMPARE(said([](const JsonPart& j) { j["text"].refuse("is no colour"); }),
            QStringLiteral("its key 'text' is no colour"));
    }

    /// A number that did not fit was cut to its lowest bits.
    void aNumberThatDoesNotFitIsNamed()
    {
        const auto said = [](const auto& read) { return troubleOf(kText, read); };
        QCOMPARE(said([](const JsonPart& j) { (void)j["huge"].as<std::int64_t>(); }),
            QStringLiteral("its key 'huge' is 18446744073709551615, which it cannot be"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["huge"].as<std::int32_t>(); }),
            QStringLiteral("its key 'huge' is 18446744073709551615, which it cannot be"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["least"].as<std::uint64_t>(); }),
            QStringLiteral("its key 'least' is -3, which it cannot be"));
        QCOMPARE(said([](const JsonPart& j) { (void)j["whole"].within(0, 6); }),
            QStringLiteral("its key 'whole' is 7, which it cannot be"));
    }

    void theFirstTroubleIsKept()
    {
        QCOMPARE(troubleOf(kText,
                     [](const JsonPart& j) {
                         (void)j["a"].as<int>();
                         (void)j["b"].as<int>();
                     }),
            QStringLiteral("it has no key 'a'"));
    }

    void textThatIsNoJsonIsNamed_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("trouble");
        QTest::newRow("empty") << QByteArray("") << "it is empty";
        QTest::newRow("cut") << QByteArray("{\"a\": 1, \"b") << "it is not JSON at byte 12";
        QTest::newRow("not UTF-8") << QByteArray("{\"\xff\": 1}") << "it is not JSON at byte 3";
        QTest::newRow("a huge number") << QByteArray("[1e999]") << "it has a number that is too large to be read";
        QTest::newRow("deep") << QByteArray(100'000, '[') << "it is nested deeper than 64 levels";
        QTest::newRow("a list") << QByteArray("[1]") << "it is not a JSON object";
    }
    void textThatIsNoJsonIsNamed()
    {
        QFETCH(QByteArray, text);
        QFETCH(QString, trouble);
        JsonReading reading(text.toStdString());
        (void)reading.root()["a"].as<int>();
        QVERIFY(!reading.ok());
        QCOMPARE(QString::fromStdString(reading.trouble()), trouble);
    }
};

QTEST_GUILESS_MAIN(TestJsonReading)
#include "tst_json_reading.moc"
