#include "core/base/hash.h"
#include "core/base/random.h"
#include "core/data/data_alarms.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>
#include <cmath>
#include <numbers>

using namespace furrow;

namespace {

/// A chunk of samples of 20 tokens with the given numbers as their text.
ChunkText chunkOf(const std::vector<std::uint64_t>& texts, std::uint64_t tokens = 20)
{
    ChunkText chunk;
    chunk.offsets.push_back(0);
    for (const auto text : texts) {
        chunk.fingerprints.push_back(mixSeed({ text }));
        chunk.offsets.push_back(chunk.offsets.back() + tokens);
        chunk.flags.push_back(0);
    }
    return chunk;
}

std::vector<std::uint64_t> from(std::uint64_t first, std::uint64_t count)
{
    std::vector<std::uint64_t> texts(count);
    for (std::uint64_t i = 0; i < count; ++i)
        texts[i] = first + i;
    return texts;
}

/// English-like: words of a Zipf draw, so that zstd needs between 2 and 4 bits a byte.
std::string prose(std::size_t bytes)
{
    Random random(5);
    std::vector<std::string> words;
    for (int i = 0; i < 4000; ++i) {
        std::string word;
        for (std::uint64_t n = 2 + random.below(8); n > 0; --n)
            word += static_cast<char>('a' + random.below(26));
        words.push_back(word);
    }
    std::string text;
    while (text.size() < bytes)
        text += words[static_cast<std::size_t>(std::pow(4000.0, random.uniform())) - 1]
            + (random.below(12) == 0 ? ".\n" : " ");
    return text;
}

/// Feeds losses [bits per byte] of a curve, 1,000 labels a step, four bytes a label. @return the number of alarms
template <typename Curve>
int alarms(std::int64_t epoch, const std::string& text, int steps, const Curve& bitsAt, bool fresh = true)
{
    TooGoodLoss alarm({ .fresh = fresh });
    int count = 0;
    for (int step = 0; step < steps; ++step) {
        if (step % 50 == 0)
            alarm.beginChunk(epoch, text, static_cast<std::int64_t>(text.size() / 4));
        const double natsPerLabel = bitsAt(step) * std::numbers::ln2 * 4;
        count += alarm.addStep(natsPerLabel * 1000, 1000, 1000 * (step + 1)).has_value() ? 1 : 0;
    }
    return count;
}

} // namespace

class TestDataAlarms : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void staysSilentWithoutRepeats()
    {
        RepetitionAlarm alarm;
        for (std::uint64_t block = 0; block < 50; ++block)
            QVERIFY(!alarm.add(chunkOf(from(block * 1000, 1000))));
        QCOMPARE(alarm.share(), 0.0);
    }
    void saysOnceThatManyCharactersAreUnknown()
    {
        ChunkText text;
        text.tokens.assign(9'000, 5);
        UnknownAlarm alarm(7);
        QVERIFY(!alarm.add(text, 0));
        text.tokens.assign(1'000, 7);
        const auto fired = alarm.add(text, 0);
        QVERIFY(fired && fired->find("10") != std::string::npos);
        QCOMPARE(alarm.share(), 0.1);
        QVERIFY(!alarm.add(text, 0));
        UnknownAlarm none(std::nullopt);
        QVERIFY(!none.add(text, 0));
        QCOMPARE(none.share(), 0.0);
    }
    void droppedCharactersWereInNoShare()
    {
        ChunkText text;
        text.tokens.assign(9'000, 5);
        UnknownAlarm alarm(std::nullopt);
        const auto fired = alarm.add(text, 1'000);
        QVERIFY(fired && fired->find("dropped") != std::string::npos);
        QCOMPARE(alarm.share(), 0.1);
    }
    void firesOnceOnAnInjectedRepeat()
    {
        RepetitionAlarm alarm;
        int fired = 0;
        for (std::uint64_t block = 0; block < 50; ++block) {
            fired += alarm.add(chunkOf(from(block * 1000, 800))) ? 1 : 0;
            fired += alarm.add(chunkOf(from(7, 200))) ? 1 : 0; // the same 200 in every block
        }
        QCOMPARE(fired, 1);
        QVERIFY(alarm.share() > 0.15 && alarm.share() < 0.25);
    }
    void leavesShortSamplesAndTinyDataAside()
    {
        RepetitionAlarm headings;
        for (int i = 0; i < 50; ++i)
            QVERIFY(!headings.add(chunkOf(from(0, 1000), 5)));
        RepetitionAlarm tiny;
        QVERIFY(!tiny.add(chunkOf(from(0, 300))));
        QVERIFY(!tiny.add(chunkOf(from(0, 300))));
    }
    void boundsItsMemoryAndKeepsItsEstimate()
    {
        RepetitionAlarm alarm;
        std::optional<std::string> said;
        for (std::uint64_t block = 0; block < 30 && !said; ++block)
            said = alarm.add(chunkOf(from(block * 100'000, 100'000))); // three million different ones
        QVERIFY(!said);
        for (std::uint64_t block = 0; block < 6 && !said; ++block)
            said = alarm.add(chunkOf(from(block * 100'000, 100'000))); // a fifth of them again
        QVERIFY(said.has_value());
    }
    void staysSilentOnACleanRun()
    {
        const auto text = prose(200'000);
        QCOMPARE(alarms(0, text, 3000, [](int step) { return 1.8 + 4 * std::exp(-step / 100.0); }), 0);
    }
    void firesOnUnshiftedLabels()
    {
        const auto text = prose(200'000);
        QCOMPARE(alarms(0, text, 3000, [](int step) { return 0.01 + 4 * std::exp(-step / 100.0); }), 1);
    }
    void staysSilentOnTinyDataThatIsIterated()
    {
        const auto text = prose(20'000);
        QCOMPARE(alarms(0, text, 20, [](int) { return 3.0; }), 0);
        QCOMPARE(alarms(3, text, 3000, [](int) { return 0.001; }), 0); // a later epoch may know it by heart
    }
    void staysSilentOnFineTuning()
    {
        const auto text = prose(200'000);
        QCOMPARE(alarms(0, text, 3000, [](int) { return 0.6; }, false), 0);
        QCOMPARE(alarms(0, text, 3000, [](int) { return 0.01; }, false), 1);
        QCOMPARE(alarms(0, text, 3000, [](int) { return 0.6; }), 1); // fresh weights cannot know so much
    }
    void staysSilentOnEasyText()
    {
        std::string table;
        for (int i = 0; i < 20'000; ++i)
            table += "status: ok, value: 0000\n";
        QCOMPARE(alarms(0, table, 3000, [](int) { return 0.02; }), 0);
    }
    /// Recorded from real runs by tests/train/loop/record_loss_curve.cpp: a tenth of what zstd needs was never reached
    /// where labels were not shifted.
    void expectedLossIsQuietOnHealthyRunsAndFiresOnFaults_data()
    {
        QTest::addColumn<QByteArray>("line");
        QTest::addColumn<bool>("healthy");
        QFile file(QStringLiteral(FURROW_TEST_DATA "/loss_curves.jsonl"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        int healthy = 0;
        int faults = 0;
        for (QByteArray line = file.readLine(); !line.isEmpty(); line = file.readLine()) {
            const auto run = QJsonDocument::fromJson(line).object();
            const bool isHealthy = run["fault"].toString() == "none";
            ++(isHealthy ? healthy : faults);
            QTest::newRow(qPrintable(run["name"].toString())) << line << isHealthy;
        }
        QVERIFY(healthy >= 20 && faults >= 5);
    }
    void expectedLossIsQuietOnHealthyRunsAndFiresOnFaults()
    {
        QFETCH(const QByteArray, line);
        QFETCH(const bool, healthy);
        const auto run = QJsonDocument::fromJson(line).object();
        TooGoodLoss alarm;
        alarm.beginChunk(0, TextMeasure { run["zstd_bits"].toDouble(), run["bytes_per_label"].toDouble() });
        std::int64_t tokens = 0;
        int fired = 0;
        for (const auto& point : run["points"].toArray()) {
            const std::int64_t labels = point[0].toInteger();
            tokens += labels;
            fired += alarm.addStep(point[1].toDouble() * static_cast<double>(labels), labels, tokens) ? 1 : 0;
        }
        QVERIFY(tokens > 50'000);
        QCOMPARE(fired > 0, !healthy);
    }
    void notFiniteLossesAreNoGoodNews()
    {
        TooGoodLoss alarm;
        alarm.beginChunk(0, prose(50'000), 10'000);
        for (int i = 0; i < 100; ++i)
            QVERIFY(!alarm.addStep(std::nan(""), 1000, 1000));
    }
};

QTEST_GUILESS_MAIN(TestDataAlarms)
#include "tst_data_alarms.moc"
