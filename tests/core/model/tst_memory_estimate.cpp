#include "core/config/schema.h"
#include "core/model/memory_estimate.h"

#include <QTest>

using namespace furrow;

namespace {

RunConfig preset(const char* name)
{
    auto found = findPreset(name);
    return found.ok() ? found.value().config : RunConfig {};
}

MemoryEstimate estimate(const RunConfig& config, bool gpu, int threads = 2)
{
    const ModelConfig model = modelConfigOf(config, usualVocabulary(config));
    return estimateMemory(config, model, stepPathOf(config, model, gpu), threads);
}

} // namespace

class TestMemoryEstimate : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Peaks of real workers (VmHWM) on two threads, three steps of the bundled text and a checkpoint:
    /// tests/bench/memory_estimate.py.
    void comesNearMeasuredPeaks_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QStringList>("changes");
        QTest::addColumn<double>("measuredMb");
        QTest::newRow("char") << "char" << QStringList {} << 211.9;
        QTest::newRow("char-large") << "char-large" << QStringList { "batch_size", "16" } << 679.8;
        QTest::newRow("bf16") << "10m" << QStringList { "precision", "bf16" } << 984.3;
        QTest::newRow("8-bit moments") << "10m" << QStringList { "optimizer", "adamw8bit" } << 828.1;
        QTest::newRow("recomputed activations")
            << "10m" << QStringList { "width", "264", "recompute", "true" } << 1230.7;
        QTest::newRow("30m") << "30m" << QStringList {} << 1776.5;
        QTest::newRow("124m, one short window")
            << "124m" << QStringList { "batch_size", "1", "seq_len", "256" } << 5303.1;
        QTest::newRow("libtorch's operators") << "10m" << QStringList { "tokenizer", "char", "width", "264" } << 976.7;
        QTest::newRow("libtorch's operators, large vocabulary")
            << "30m" << QStringList { "width", "392", "batch_size", "4" } << 1764.6;
        QTest::newRow("hrm-1m") << "hrm-1m" << QStringList { "tokenizer", "char" } << 509.7;
        QTest::newRow("hrm-10m") << "hrm-10m" << QStringList { "tokenizer", "char", "batch_size", "8" } << 649.8;
    }
    void comesNearMeasuredPeaks()
    {
        QFETCH(QString, name);
        QFETCH(QStringList, changes);
        QFETCH(double, measuredMb);
        RunConfig config = preset(name.toLatin1().constData());
        for (int i = 0; i + 1 < changes.size(); i += 2)
            QVERIFY(setSetting(config, *findSetting(changes[i].toStdString()), changes[i + 1].toStdString()).empty());
        const double ratio = static_cast<double>(estimate(config, false).total()) / 1e6 / measuredMb;
        QVERIFY2(ratio > 0.8 && ratio < 1.2, qPrintable(QString::number(ratio)));
    }

    void whatAPersonLowersLowersIt()
    {
        const RunConfig config = preset("124m");
        const std::int64_t whole = estimate(config, true).total();
        RunConfig changed = config;
        changed.batchSize /= 2;
        QVERIFY(estimate(changed, true).activations * 2 <= estimate(config, true).activations + 1);
        changed = config;
        changed.recompute = true;
        QVERIFY(estimate(changed, true).total() < whole * 3 / 4);
        changed = config;
        changed.optimizer = OptimizerKind::AdamW8Bit;
        QCOMPARE(estimate(changed, true).optimizer * 4, estimate(config, true).optimizer);
        changed = config;
        changed.chunkSamples *= 10; // the text of a chunk lies on the host, whatever its size
        QCOMPARE(estimate(changed, true).total(), whole);
        changed = config;
        changed.gradAccum = 40;
        QCOMPARE(estimate(changed, true).total(), whole);
    }

    void aWindowTwiceAsLongTakesTwiceAsMuchNotFourTimes()
    {
        RunConfig config = preset("124m");
        const std::int64_t before = estimate(config, true).activations;
        config.seqLen *= 2;
        QCOMPARE(estimate(config, true).activations, 2 * before);
    }

    void loraTrainsFewWeights()
    {
        RunConfig config = preset("124m");
        const auto whole = estimate(config, true);
        config.loraRank = 8;
        const auto few = estimate(config, true);
        QVERIFY(few.optimizer * 50 < whole.optimizer);
        QCOMPARE(few.weights, whole.weights);
    }

    void aCheckpointOfLoraIsCopiedWithoutWhatIsFrozen()
    {
        RunConfig config = preset("124m");
        const auto whole = estimate(config, false);
        config.loraRank = 8;
        const auto few = estimate(config, false);
        QVERIFY(few.checkpoint * 50 < whole.checkpoint);
        config.batchSize = 1;
        config.seqLen = 16;
        const auto small = estimate(config, false);
        QVERIFY(small.total() > 2 * small.weights); // while they are read, they are there twice
    }
};

QTEST_GUILESS_MAIN(TestMemoryEstimate)
#include "tst_memory_estimate.moc"
