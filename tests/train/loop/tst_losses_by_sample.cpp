#include "core/train/meters/losses_by_sample.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace furrow;

namespace {

constexpr std::int64_t kSeqLen = 8;

/// `samples` samples of 3, 4, 5, 3, 4, 5 ... tokens; every token of sample i is i + 1, so that a label tells its
/// sample.
ChunkText chunkOf(std::int64_t samples)
{
    ChunkText text;
    text.offsets.push_back(0);
    for (std::int64_t i = 0; i < samples; ++i) {
        text.tokens.insert(text.tokens.end(), static_cast<std::size_t>(3 + i % 3), static_cast<std::uint32_t>(i + 1));
        text.offsets.push_back(text.tokens.size());
        text.flags.push_back(0);
    }
    return text;
}

/// Each token of sample i costs i, its end-of-text nothing.
std::vector<float> lossesOf(const ChunkWindows& windows, WindowRange range)
{
    std::vector<std::int64_t> inputs(static_cast<std::size_t>(range.size() * kSeqLen));
    std::vector<std::int64_t> labels(inputs.size());
    windows.fill(range.begin, range.size(), inputs.data(), labels.data());
    std::vector<float> losses;
    for (const std::int64_t label : labels)
        losses.push_back(label > 0 ? static_cast<float>(label - 1) : 0.0F);
    return losses;
}

double meanOf(std::int64_t sample)
{
    const double tokens = static_cast<double>(3 + sample % 3);
    return static_cast<double>(sample) * tokens / (tokens + 1);
}

} // namespace

class TestLossesBySample : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theWorstAndTheBestOfAChunkAreFoundAcrossWindows()
    {
        const ChunkText text = chunkOf(40);
        const ChunkWindows windows(text, 0, { kSeqLen }, { 7, 0, 0, 0, true });
        LossesBySample losses(text);
        for (std::int32_t begin = 0; begin < windows.count(); begin += 3) {
            const WindowRange range { begin, std::min(begin + 3, windows.count()) };
            losses.add(windows, range, lossesOf(windows, range));
        }
        std::vector<std::pair<double, std::int64_t>> wanted;
        for (std::int64_t i = 0; i < 40; ++i)
            wanted.emplace_back(-meanOf(i), i);
        std::sort(wanted.begin(), wanted.end());
        wanted.erase(wanted.begin() + LossesBySample::kHighest, wanted.end() - LossesBySample::kLowest);
        const auto found = losses.extremes();
        QCOMPARE(found.size(), wanted.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
            QCOMPARE(found[i].sample, wanted[i].second);
            QVERIFY(std::abs(found[i].loss - meanOf(found[i].sample)) < 1e-6);
        }
    }

    void aSampleThatWasSeenInPartIsNotJudged()
    {
        const ChunkText text = chunkOf(12);
        const ChunkWindows windows(text, 0, { kSeqLen }, { 7, 0, 0, 0, false });
        LossesBySample losses(text);
        const WindowRange range { 1, 3 }; // labels 9 to 24 of the stream: the end of sample 1, all of 2, 3 and 4
        losses.add(windows, range, lossesOf(windows, range));
        std::vector<std::int64_t> samples;
        for (const auto& one : losses.extremes())
            samples.push_back(one.sample);
        std::sort(samples.begin(), samples.end());
        QCOMPARE(samples, (std::vector<std::int64_t> { 2, 3, 4 }));
    }

    void fewSamplesAreAllTold()
    {
        const ChunkText text = chunkOf(3);
        const ChunkWindows windows(text, 0, { kSeqLen }, { 7, 0, 0, 0, false });
        LossesBySample losses(text);
        const WindowRange range { 0, windows.count() };
        losses.add(windows, range, lossesOf(windows, range));
        QCOMPARE(losses.extremes().size(), std::size_t(3));
        QCOMPARE(losses.extremes().front().sample, 2);
        QVERIFY(LossesBySample(text).extremes().empty());
    }
};

QTEST_GUILESS_MAIN(TestLossesBySample)
#include "tst_losses_by_sample.moc"
