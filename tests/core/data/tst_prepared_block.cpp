#include "core/data/block/block_writer.h"
#include "core/data/block/chunk_windows.h"
#include "core/data/block/window_packing.h"
#include "core/data/stream_data.h"
#include "data_fixture.h"

#include <QtTest>
#include <set>

using namespace furrow;

namespace {

constexpr std::uint32_t kEnd = 999;

/// `samples` samples, sample i has i % 7 + 1 tokens with the value 10 * i + position.
ChunkText makeChunk(int samples)
{
    ChunkText text;
    text.offsets.push_back(0);
    for (int i = 0; i < samples; ++i) {
        for (int k = 0; k <= i % 7; ++k)
            text.tokens.push_back(static_cast<std::uint32_t>(10 * i + k));
        text.offsets.push_back(text.tokens.size());
        text.fingerprints.push_back(static_cast<std::uint64_t>(i) * 77);
        text.files.push_back(0);
        text.rows.push_back(i);
        text.flags.push_back(i % 5 == 4 ? SampleHeldOut | SampleLeftOut : 0);
    }
    return text;
}

ChunkSummary summaryOf(const ChunkText& text)
{
    ChunkSummary summary;
    summary.rows = text.count();
    for (std::size_t i = 0; i < text.flags.size(); ++i) {
        const bool out = (text.flags[i] & SampleLeftOut) != 0;
        (out ? summary.heldOut : summary.samples) += 1;
        summary.tokens += out ? 0 : static_cast<std::int64_t>(text.offsets[i + 1] - text.offsets[i]);
        summary.learnt = summary.tokens;
    }
    return summary;
}

std::string makeBlock(std::uint32_t vocabulary, const std::vector<ChunkText>& chunks)
{
    std::string bytes;
    BlockWriter writer(
        [&bytes](const void* data, std::size_t size) {
            bytes.append(static_cast<const char*>(data), size);
            return Status {};
        },
        vocabulary, static_cast<std::uint32_t>(chunks.size()));
    if (!writer.begin().ok())
        return {};
    for (const auto& chunk : chunks)
        if (!writer.addChunk(chunk, summaryOf(chunk)).ok())
            return {};
    return writer.finish({ { 1, 12, "is broken JSON" } }).ok() ? bytes : std::string();
}

/// Reads everything; "" or the first error.
std::string troubleOf(const std::filesystem::path& path)
{
    auto block = PreparedBlock::open(path);
    if (!block.ok())
        return block.error().message;
    for (int c = 0; c < block.value().chunkCount(); ++c)
        if (auto chunk = block.value().readChunk(c); !chunk.ok())
            return chunk.error().message;
    const auto status = block.value().verify();
    return status.ok() ? "" : status.error().message;
}

} // namespace

class TestPreparedBlock : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void givesBackWhatWasWritten()
    {
        for (const std::uint32_t vocabulary : { 300u, 65536u, 65537u }) {
            test::DataFolder folder;
            const auto chunks = std::vector<ChunkText> { makeChunk(20), makeChunk(0), makeChunk(3) };
            const auto file = folder.write("a.block", makeBlock(vocabulary, chunks));
            auto block = PreparedBlock::open(file);
            QVERIFY2(block.ok(), block.ok() ? "" : block.error().message.c_str());
            QVERIFY(block.value().verify().ok());
            QCOMPARE(block.value().chunkCount(), 3);
            QCOMPARE(block.value().issues(), (std::vector<RowIssue> { { 1, 12, "is broken JSON" } }));
            for (int c = 0; c < 3; ++c) {
                auto chunk = block.value().readChunk(c);
                QVERIFY(chunk.ok());
                const auto& was = chunks[static_cast<std::size_t>(c)];
                QCOMPARE(chunk.value().tokens, was.tokens);
                QCOMPARE(chunk.value().offsets, was.offsets);
                QCOMPARE(chunk.value().fingerprints, was.fingerprints);
                QCOMPARE(chunk.value().rows, was.rows);
                QCOMPARE(chunk.value().files, was.files);
                QCOMPARE(chunk.value().flags, was.flags);
                QCOMPARE(block.value().summary(c), summaryOf(was));
            }
            QVERIFY(!block.value().readChunk(3).ok());
            QVERIFY(!block.value().readChunk(-1).ok());
        }
    }
    void findsEveryFlippedByte()
    {
        test::DataFolder folder;
        const std::string good = makeBlock(300, { makeChunk(8), makeChunk(3) });
        for (std::size_t i = 0; i < good.size(); ++i) {
            std::string bad = good;
            bad[i] = static_cast<char>(bad[i] ^ 0x10);
            QVERIFY2(!troubleOf(folder.write("a.block", bad)).empty(), std::to_string(i).c_str());
        }
    }
    void findsEveryCut()
    {
        test::DataFolder folder;
        const std::string good = makeBlock(300, { makeChunk(8), makeChunk(3) });
        for (std::size_t n = 0; n < good.size(); ++n)
            QVERIFY2(!troubleOf(folder.write("a.block", good.substr(0, n))).empty(), std::to_string(n).c_str());
        QVERIFY(!troubleOf(folder.write("a.block", good + "x")).empty());
    }
    void refusesANewerFormat()
    {
        test::DataFolder folder;
        std::string bytes = makeBlock(300, { makeChunk(1) });
        bytes[8] = 4;
        auto block = PreparedBlock::open(folder.write("a.block", bytes));
        QVERIFY(!block.ok());
        QCOMPARE(block.error().code, ErrorCode::InvalidArgument);
        QVERIFY(block.error().message.find("version 4") != std::string::npos);
    }

    void labelsEachTrainedTokenOnce_data()
    {
        QTest::addColumn<int>("samples");
        QTest::addColumn<int>("seqLen");
        for (const int samples : { 0, 1, 2, 5, 40 })
            for (const int seqLen : { 2, 3, 16, 1000 })
                QTest::addRow("%d samples, %d", samples, seqLen) << samples << seqLen;
    }
    void labelsEachTrainedTokenOnce()
    {
        QFETCH(int, samples);
        QFETCH(int, seqLen);
        const ChunkText text = makeChunk(samples);
        const ChunkSummary summary = summaryOf(text);
        for (const auto& [shuffle, packing] : { std::pair(false, Packing::EndToEnd), std::pair(true, Packing::EndToEnd),
                 std::pair(false, Packing::BestFit), std::pair(true, Packing::BestFit),
                 std::pair(false, Packing::Single), std::pair(true, Packing::Single) }) {
            const WindowRules rules { seqLen, DocumentMasks::Off, packing };
            const ChunkWindows windows(text, kEnd, rules, { 1, 2, 3, 4, shuffle });
            QCOMPARE(windows.count(), windowCount(text, rules));
            if (packing == Packing::EndToEnd)
                QCOMPARE(windows.count(), windowCount(summary.tokens, summary.samples, seqLen));
            const auto cells = static_cast<std::size_t>(windows.count() * seqLen);
            std::vector<std::int64_t> inputs(cells), labels(cells);
            windows.fill(0, windows.count(), inputs.data(), labels.data());
            std::multiset<std::int64_t> found;
            std::int64_t counted = 0;
            for (std::size_t i = 0; i < cells; ++i) {
                if (labels[i] >= 0)
                    found.insert(labels[i]);
                const bool sameRow = (i + 1) % static_cast<std::size_t>(seqLen) != 0;
                if (sameRow && labels[i] >= 0)
                    QCOMPARE(inputs[i + 1], labels[i]);
            }
            for (int w = 0; w < windows.count(); ++w) {
                counted += windows.labelCount(w);
                QVERIFY(windows.labelCount(w) > 0);
            }
            std::multiset<std::int64_t> expected;
            for (std::size_t s = 0; s < text.flags.size(); ++s) {
                if ((text.flags[s] & SampleLeftOut) != 0)
                    continue;
                expected.insert(text.tokens.begin() + static_cast<std::ptrdiff_t>(text.offsets[s]),
                    text.tokens.begin() + static_cast<std::ptrdiff_t>(text.offsets[s + 1]));
                expected.insert(kEnd);
            }
            QVERIFY(found == expected);
            QCOMPARE(counted, static_cast<std::int64_t>(expected.size()));
        }
    }
    void fillsThePartsOfAChunkAsTheWhole()
    {
        const ChunkText text = makeChunk(50);
        const ChunkWindows windows(text, kEnd, { 7 }, { 5, 0, 0, 0, true });
        std::vector<std::int64_t> inputs(static_cast<std::size_t>(windows.count()) * 7), labels(inputs.size()), a(7),
            b(7);
        windows.fill(0, windows.count(), inputs.data(), labels.data());
        for (int w = 0; w < windows.count(); ++w) {
            windows.fill(w, 1, a.data(), b.data());
            QVERIFY(std::equal(a.begin(), a.end(), inputs.begin() + w * 7));
            QVERIFY(std::equal(b.begin(), b.end(), labels.begin() + w * 7));
        }
    }
    void namesTheSamplesOfAWindow()
    {
        const ChunkText text = makeChunk(30);
        const ChunkWindows windows(text, kEnd, { 5 }, { 9, 1, 1, 1, true });
        std::vector<std::int64_t> inputs(5), labels(5);
        std::vector<std::int64_t> seen(text.flags.size());
        for (int w = 0; w < windows.count(); ++w) {
            windows.fill(w, 1, inputs.data(), labels.data());
            std::int64_t covered = 0;
            for (const auto& piece : windows.pieces(w)) {
                covered += piece.labels;
                seen[static_cast<std::size_t>(piece.sample)] += piece.labels;
                QCOMPARE(piece.begin + piece.labels, covered);
                const auto at = text.offsets[static_cast<std::size_t>(piece.sample)]
                    + static_cast<std::uint64_t>(piece.firstToken);
                const bool endOfText = at == text.offsets[static_cast<std::size_t>(piece.sample) + 1];
                QCOMPARE(labels[static_cast<std::size_t>(piece.begin)],
                    static_cast<std::int64_t>(endOfText ? kEnd : text.tokens[at]));
            }
            QCOMPARE(covered, windows.labelCount(w));
        }
        for (std::size_t s = 0; s < seen.size(); ++s)
            QCOMPARE(seen[s],
                (text.flags[s] & SampleLeftOut) != 0
                    ? 0
                    : static_cast<std::int64_t>(text.offsets[s + 1] - text.offsets[s]) + 1);
    }
    /// A conversation that went on in the next window went on without its question.
    void bestFitKeepsEachSampleWhole()
    {
        const ChunkText text = makeChunk(60);
        std::int64_t longest = 0;
        for (std::size_t s = 0; s < text.flags.size(); ++s)
            longest = std::max(longest, static_cast<std::int64_t>(text.offsets[s + 1] - text.offsets[s]) + 1);
        for (const std::int64_t seqLen : { longest / 3, longest, longest + 7, 5 * longest }) {
            const WindowRules rules { seqLen, DocumentMasks::On, Packing::BestFit };
            const std::int32_t count = windowCount(text, rules);
            for (const std::int64_t seed : { 1, 2 }) {
                const ChunkWindows windows(text, kEnd, rules, { seed, 0, 0, 0, true });
                QCOMPARE(windows.count(), count); // by the lengths alone
                std::map<std::int64_t, std::int64_t> labels;
                std::map<std::int64_t, int> pieces;
                for (int w = 0; w < count; ++w)
                    for (const auto& piece : windows.pieces(w)) {
                        labels[piece.sample] += piece.labels;
                        ++pieces[piece.sample];
                        if (piece.firstToken > 0)
                            QCOMPARE(piece.begin, std::int64_t(0)); // goes on where the window begins
                    }
                for (std::size_t s = 0; s < text.flags.size(); ++s) {
                    const auto all = static_cast<std::int64_t>(text.offsets[s + 1] - text.offsets[s]) + 1;
                    const bool isTrained = (text.flags[s] & SampleLeftOut) == 0;
                    const auto sample = static_cast<std::int64_t>(s);
                    QCOMPARE(labels[sample], isTrained ? all : 0);
                    QCOMPARE(pieces[sample], isTrained ? static_cast<int>((all + seqLen - 1) / seqLen) : 0);
                }
            }
            QVERIFY(windowCount(text, { seqLen }) <= count);
        }
    }
    void bestFitTakesTheLeastRoomThatIsEnough()
    {
        const std::vector<std::int64_t> labels { 6, 3, 4, 7, 25, 1, 5 };
        const auto packed = packBestFit(labels, 10, std::nullopt);
        // 25 takes three windows and leaves 5, in which the 5 fits; 7 and 3, 6 and 4; the 1 has one to itself
        QCOMPARE(packed.windows, 6);
        QCOMPARE(packed.order, (std::vector<std::uint32_t> { 0, 2, 3, 1, 4, 6, 5 }));
        QCOMPARE(packed.starts, (std::vector<std::int64_t> { 0, 6, 10, 17, 20, 45, 50 }));
        QCOMPARE(packBestFit({}, 10, 3).windows, 0);
        QVERIFY(packBestFit(std::vector<std::int64_t>(40, 3), 10, 1).order
            != packBestFit(std::vector<std::int64_t>(40, 3), 10, 2).order);
    }
    void singleGivesEachSampleWindowsOfItsOwn()
    {
        const std::vector<std::int64_t> labels { 6, 3, 10, 11, 1 };
        const auto packed = packSingle(labels, 10, std::nullopt);
        QCOMPARE(packed.windows, 6); // 11 takes two
        QCOMPARE(packed.order, (std::vector<std::uint32_t> { 0, 1, 2, 3, 4 }));
        QCOMPARE(packed.starts, (std::vector<std::int64_t> { 0, 10, 20, 30, 50 }));
        QCOMPARE(packSingle({}, 10, 3).windows, 0);
        const ChunkText text = makeChunk(40);
        const ChunkWindows windows(text, kEnd, { 16, DocumentMasks::Off, Packing::Single }, { 1, 0, 0, 0, true });
        for (int w = 0; w < windows.count(); ++w)
            QCOMPARE(windows.pieces(w).size(), std::size_t(1));
    }
    void ordersByEpochAndPlace()
    {
        const ChunkText text = makeChunk(50);
        const auto order = [&](const PackingOrder& key) {
            const ChunkWindows windows(text, kEnd, { 64 }, key);
            std::vector<std::int64_t> inputs(64), labels(64);
            windows.fill(0, 1, inputs.data(), labels.data());
            return labels;
        };
        const PackingOrder base { 1, 0, 0, 0, true };
        QCOMPARE(order(base), order(base));
        QVERIFY(order(base) != order({ 2, 0, 0, 0, true }));
        QVERIFY(order(base) != order({ 1, 1, 0, 0, true }));
        QVERIFY(order(base) != order({ 1, 0, 1, 0, true }));
        QVERIFY(order(base) != order({ 1, 0, 0, 1, true }));
    }
    void streamsRandomWindows()
    {
        test::DataFolder folder;
        const auto file = folder.write("a.txt", std::string(900, 'a') + std::string(100, 'b'));
        auto data = StreamData::open(file, *byteTokenizer());
        QVERIFY(data.ok());
        QCOMPARE(data.value().trainTokens(), 900);
        QCOMPARE(data.value().heldOutTokens(), 100);
        Random random(1), same(1);
        std::vector<std::int64_t> inputs(640), labels(640), again(640), ignored(640);
        QVERIFY(data.value().fillTrain(random, 10, 64, inputs.data(), labels.data()).ok());
        QVERIFY(std::all_of(labels.begin(), labels.end(), [](std::int64_t id) { return id == 'a'; }));
        QVERIFY(data.value().fillTrain(same, 10, 64, again.data(), ignored.data()).ok());
        QCOMPARE(again, inputs);
        QVERIFY(data.value().fillHeldOut(random, 10, 64, inputs.data(), labels.data()).ok());
        QVERIFY(std::all_of(labels.begin(), labels.end(), [](std::int64_t id) { return id == 'b'; }));
        QVERIFY(!data.value().fillHeldOut(random, 1, 100, inputs.data(), labels.data()).ok());
    }
};

QTEST_GUILESS_MAIN(TestPreparedBlock)
#include "tst_prepared_block.moc"
