// The files come from pyarrow, so that the reader meets what others write.

#include "core/base/file_system.h"
#include "core/base/process.h"
#include "core/chat/conversation.h"
#include "core/data/plan/each_row.h"
#include "core/data/plan/passed_over.h"
#include "core/data/probe.h"
#include "core/data/source/distant_source.h"
#include "core/data/source/parquet_rows.h"
#include "data_fixture.h"
#include "tests/must_have.h"

#include <QProcess>
#include <QtTest>
#include <set>

using namespace furrow;
using test::DataFolder;

namespace {

/// A file that cannot be reached any more after so many reads.
class UnreachableSource : public ByteSource {
public:
    UnreachableSource(std::shared_ptr<const ByteSource> source, int goodReads, ErrorCode code)
        : source_(std::move(source))
        , left_(goodReads)
        , code_(code)
    {
    }
    std::uint64_t sizeBytes() const override { return source_->sizeBytes(); }
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override
    {
        return left_-- > 0 ? source_->readAt(offset, into) : Status(Error { code_, "the way is closed" });
    }

private:
    std::shared_ptr<const ByteSource> source_;
    mutable int left_;
    ErrorCode code_;
};

/// Counts how often what came of it was not believed.
class DistrustedSource : public DistantSource {
public:
    explicit DistrustedSource(std::shared_ptr<const ByteSource> source)
        : source_(std::move(source))
    {
    }
    std::uint64_t sizeBytes() const override { return source_->sizeBytes(); }
    Status readAt(std::uint64_t offset, std::span<std::byte> into) const override
    {
        return source_->readAt(offset, into);
    }
    Status readIn(const ByteRange&, std::uint64_t offset, std::span<std::byte> into, Need) const override
    {
        return source_->readAt(offset, into);
    }
    void distrust(const ByteRange&, const ByteRange&) const override { ++times; }

    mutable int times = 0;

private:
    std::shared_ptr<const ByteSource> source_;
};

/// Reads every text; the error that ended it, or nothing.
Status readEveryRow(const std::shared_ptr<const ByteSource>& source)
{
    DataFile file;
    file.path = "data.parquet";
    RowOptions options;
    options.textColumn = "text";
    auto reader = openParquetReader(source, file, options, 0);
    if (!reader.ok())
        return reader.error();
    for (Row row;;) {
        auto more = reader.value()->next(row);
        if (!more.ok())
            return more.error();
        if (!more.value())
            return {};
    }
}

} // namespace

class TestParquet : public QObject {
    Q_OBJECT
    DataFolder folder_;
    std::vector<std::string> rows_;

    std::string file(const char* name) const { return utf8Text(folder_.path(name)); }

    /// The texts of its blocks, as the feeder makes them where one cannot be read.
    std::set<std::string> trained(const RunConfig& config, const QString& name) const
    {
        const auto cache = folder_.path("cache-" + name.toStdString());
        auto manager = test::openManager(config, cache, 700);
        std::set<std::string> texts;
        const auto planned = manager.ok() ? test::planAll(manager.value()) : std::vector<PlannedBlock>();
        for (const PlannedBlock& block : planned.ok() ? planned.value() : std::vector<PlannedBlock>()) {
            auto made = manager.value().prepare(block);
            if (!made.ok()) {
                const auto rest = manager.value().withoutUnreadable(block, {});
                made = rest.ok() ? manager.value().prepare(rest.value()) : Result<PreparedFile>(rest.error());
            }
            const auto prepared
                = made.ok() ? manager.value().openBlock(made.value()) : Result<PreparedBlock>(made.error());
            for (int column = 0; prepared.ok() && column < prepared.value().chunkCount(); ++column) {
                const auto chunk = prepared.value().readChunk(column);
                for (std::size_t i = 0; chunk.ok() && i < chunk.value().flags.size(); ++i)
                    texts.insert(test::sampleText(chunk.value(), i));
            }
        }
        return texts;
    }

private Q_SLOTS:
    void initTestCase()
    {
        for (int i = 0; i < 5000; ++i)
            rows_.push_back("row " + std::to_string(i));
        QProcess where;
        where.start(FURROW_SOURCE_DIR "/packaging/pyenv-path.sh", {});
        QVERIFY(where.waitForFinished());
        QCOMPARE(where.exitCode(), 0);
        const QString python
            = QString::fromLocal8Bit(where.readAllStandardOutput()).trimmed() + QStringLiteral("/bin/python");
        SKIP_WITHOUT(
            "python", QFile::exists(python), "The private Python environment is missing; run packaging/setup.sh.");
        QProcess make;
        make.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        make.start(python,
            { QStringLiteral(FURROW_TEST_DATA "/make_parquet.py"), QString::fromStdString(utf8Text(folder_.path())) });
        QVERIFY(make.waitForFinished(120000));
        QCOMPARE(make.exitCode(), 0);
    }
    void readsConversationsByTheColumnsOfTheirParts()
    {
        auto config = test::configFor({ file("chats.parquet") });
        config.chatTemplate = "chatml";
        config.chunkSamples = 97;
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        QCOMPARE(inspection.value().conversations, "messages");
        QCOMPARE(inspection.value().textColumn, "messages");
        auto manager = test::openManager(config, folder_.path("cache"), 450); // blocks cut across row groups
        QVERIFY2(manager.ok(), manager.ok() ? "" : manager.error().message.c_str());
        std::int64_t failed = 0, samples = 0;
        const auto blocks = test::planAll(manager.value());
        QVERIFY2(blocks.ok(), blocks.ok() ? "" : blocks.error().message.c_str());
        for (const auto& planned : blocks.value()) {
            const auto made = manager.value().prepare(planned);
            QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
            const auto block
                = PreparedBlock::open(BlockManager::blockFolder(folder_.path("cache")) / made.value().fileName);
            for (int column = 0; column < block.value().chunkCount(); ++column) {
                const auto chunk = block.value().readChunk(column);
                for (std::size_t i = 0; i < chunk.value().flags.size(); ++i) {
                    const auto row = chunk.value().rows[i];
                    const std::string turns = "<|im_start|>user\nQ " + std::to_string(row)
                        + "<|im_end|>\n<|im_start|>assistant\nA " + std::to_string(row) + "\nline<|im_end|>\n";
                    std::string expected;
                    for (std::int64_t k = 0; k <= row % 3; ++k)
                        expected += turns;
                    QCOMPARE(test::sampleText(chunk.value(), i), expected);
                }
                failed += block.value().summary(column).failed;
                samples += block.value().summary(column).samples;
            }
        }
        QCOMPARE(failed, 600); // an answer that is null
        QCOMPARE(samples, 2400);
        config.data = { file("alpaca.parquet") };
        const auto alpaca = inspectData(config);
        QVERIFY2(alpaca.ok(), alpaca.ok() ? "" : alpaca.error().message.c_str());
        QCOMPARE(alpaca.value().conversations, "alpaca");
        QCOMPARE(alpaca.value().firstRows.front(),
            "<|im_start|>user\nrow 0<|im_end|>\n<|im_start|>assistant\nrow 0!<|im_end|>\n");
    }
    void readsWhatPyarrowWrites()
    {
        int files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
            const auto name = utf8Text(entry.path().filename());
            if (!name.starts_with("good-"))
                continue;
            ++files;
            auto config = test::configFor({ utf8Text(entry.path()) });
            config.chunkSamples = 97;
            auto texts = test::readAll(config, folder_.path("cache"), 450); // blocks cut across row groups
            QVERIFY2(texts.ok(), texts.ok() ? "" : texts.error().message.c_str());
            QVERIFY2(texts.value() == rows_, name.c_str());
        }
        QCOMPARE(files, 27);
    }
    /// A batch of an Arrow file that is smaller than those before it was stepped over when a block was entered in the
    /// batch before it: its rows were missing, or those of the next batch stood in their place.
    void aSmallBatchBehindTheOneThatABlockBeginsInWasLeftOut()
    {
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
            const auto name = utf8Text(entry.path().filename());
            if (!name.starts_with("good-"))
                continue;
            auto manager
                = test::openManager(test::configFor({ utf8Text(entry.path()) }), folder_.path("cache-order"), 450);
            QVERIFY2(manager.ok(), name.c_str());
            auto blocks = test::planAll(manager.value());
            QVERIFY2(blocks.ok() && blocks.value().size() == 12, name.c_str());
            for (auto block = blocks.value().rbegin(); block != blocks.value().rend(); ++block) { // each by a seek
                auto made = manager.value().prepare(*block);
                QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
                auto read = PreparedBlock::open(
                    BlockManager::blockFolder(folder_.path("cache-order")) / made.value().fileName);
                QVERIFY(read.ok());
                auto row = static_cast<std::size_t>(block->firstRow);
                for (int column = 0; column < read.value().chunkCount(); ++column) {
                    const auto chunk = read.value().readChunk(column);
                    QVERIFY(chunk.ok());
                    for (std::size_t i = 0; i < chunk.value().flags.size(); ++i)
                        QCOMPARE(test::sampleText(chunk.value(), i), rows_[row++]);
                }
                QCOMPARE(row, static_cast<std::size_t>(block->firstRow + block->rows()));
            }
        }
    }
    void entersAnyBlockBySeek()
    {
        auto config = test::configFor({ file("good-zstd-v2.parquet") });
        auto manager = test::openManager(config, folder_.path("cache-seek"), 450);
        QVERIFY(manager.ok());
        auto blocks = test::planAll(manager.value());
        QVERIFY(blocks.ok());
        QCOMPARE(blocks.value().size(), std::size_t { 12 });
        for (auto block = blocks.value().rbegin(); block != blocks.value().rend(); ++block) {
            auto made = manager.value().prepare(*block);
            QVERIFY(made.ok());
            auto read
                = PreparedBlock::open(BlockManager::blockFolder(folder_.path("cache-seek")) / made.value().fileName);
            QVERIFY(read.ok());
            auto chunk = read.value().readChunk(0);
            QVERIFY(chunk.ok());
            QCOMPARE(test::sampleText(chunk.value(), 0), rows_[static_cast<std::size_t>(block->firstRow)]);
        }
    }
    void readsARowGroupOfAMillionRowsPieceByPiece()
    {
        auto config = test::configFor({ file("one-group.parquet") });
        config.chunkSamples = 1000;
        auto manager = test::openManager(config, folder_.path("cache-group"), 10'000);
        QVERIFY(manager.ok());
        const auto before = processMemory().residentBytes;
        auto blocks = test::planAll(manager.value());
        QVERIFY(blocks.ok());
        QCOMPARE(blocks.value().size(), std::size_t { 100 });
        for (const std::size_t index : { 0U, 57U, 99U }) {
            const auto& block = blocks.value()[index];
            auto made = manager.value().prepare(block);
            QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
            auto read
                = PreparedBlock::open(BlockManager::blockFolder(folder_.path("cache-group")) / made.value().fileName);
            QVERIFY(read.ok());
            auto chunk = read.value().readChunk(3);
            QVERIFY(chunk.ok());
            QVERIFY(
                test::sampleText(chunk.value(), 0).starts_with("row " + std::to_string(block.firstRow + 3000) + " "));
        }
        const double grown = static_cast<double>(processMemory().peakBytes - before) / (1 << 20);
        QVERIFY2(grown < 150, qPrintable(QString("%1 MiB for a row group of 300").arg(grown)));
    }
    void countsNullsAsFiltered()
    {
        auto config = test::configFor({ file("nulls.parquet") });
        auto texts = test::readAll(config, folder_.path("cache"), 450);
        QVERIFY(texts.ok());
        std::vector<std::string> expected;
        for (std::size_t i = 0; i < rows_.size(); ++i)
            if (i % 3 != 0)
                expected.push_back(rows_[i]);
        QCOMPARE(texts.value(), expected);
        QCOMPARE(inspectData(config).value().rows, 5000);
    }
    void readsALeafOfAStruct()
    {
        auto config = test::configFor({ file("nested.parquet") });
        QCOMPARE(inspectData(config).value().textColumn, std::string("meta.body"));
        auto texts = test::readAll(config, folder_.path("cache"), 2000);
        QVERIFY(texts.ok());
        QCOMPARE(texts.value(), rows_);
    }
    /// What was said to be the member was the column with a dot in its name.
    void aColumnWithADotInItsNameWasReadForAMember()
    {
        auto config = test::configFor({ file("alike.parquet") });
        config.textColumn = "meta.body";
        auto texts = test::readAll(config, folder_.path("cache"), 2000);
        QVERIFY(texts.ok());
        QVERIFY(texts.value() == rows_);
        config.textColumn = "meta\\.body";
        texts = test::readAll(config, folder_.path("cache"), 2000);
        QVERIFY(texts.ok());
        QVERIFY(texts.value() == std::vector<std::string>(5000, "dotted"));
    }
    void joinsTheTextsOfLists_data()
    {
        QTest::addColumn<QString>("column");
        QTest::newRow("by its name") << "";
        QTest::newRow("a list of texts") << "text[]";
        QTest::newRow("a member of each of a list") << "messages[].content";
    }
    void joinsTheTextsOfLists()
    {
        QFETCH(QString, column);
        auto config = test::configFor({ file("lists.parquet") });
        config.textColumn = column.toStdString();
        config.minChars = 0;
        config.chunkSamples = 97;
        QCOMPARE(
            inspectData(config).value().textColumn, column.isEmpty() ? std::string("text[]") : column.toStdString());
        std::vector<std::string> expected;
        for (int i = 0; i < 5000; ++i)
            expected.push_back(i % 7 == 0 ? ""
                                          : rows_[static_cast<std::size_t>(i)] + (i % 3 > 0 ? "\npart 0" : "")
                        + (i % 3 > 1 ? "\npart 1" : ""));
        auto texts = test::readAll(config, folder_.path("cache"), 450); // blocks cut across row groups
        QVERIFY2(texts.ok(), texts.ok() ? "" : texts.error().message.c_str());
        QVERIFY(texts.value() == expected);
    }
    void entersLists()
    {
        auto config = test::configFor({ file("lists.parquet") });
        auto manager = test::openManager(config, folder_.path("cache-lists"), 450);
        QVERIFY(manager.ok());
        auto blocks = test::planAll(manager.value());
        QVERIFY(blocks.ok() && blocks.value().size() > 5);
        auto made = manager.value().prepare(blocks.value()[4]); // in the middle of a row group
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
        auto block
            = PreparedBlock::open(BlockManager::blockFolder(folder_.path("cache-lists")) / made.value().fileName);
        QVERIFY(block.ok());
        QCOMPARE(test::sampleText(block.value().readChunk(0).value(), 0),
            std::string("row 1800")); // 1800 is divided by 3, not by 7
    }
    void aPageWithoutValuesIsNotTheEndOfARowGroup()
    {
        auto texts = test::readAll(test::configFor({ file("empty-pages.parquet") }), folder_.path("cache"), 7);
        QVERIFY2(texts.ok(), texts.ok() ? "" : texts.error().message.c_str());
        QCOMPARE(texts.value(), std::vector<std::string>(rows_.begin(), rows_.begin() + 50));
    }
    void aRowGroupWithFewerRowsThanPromisedIsDamaged()
    {
        const auto texts = test::readAll(test::configFor({ file("short.parquet") }), folder_.path("cache"), 1000);
        QVERIFY(!texts.ok());
        QCOMPARE(texts.error().code, ErrorCode::Corrupt);
        QVERIFY2(
            QString::fromStdString(texts.error().message).contains(QStringLiteral("fewer rows than its footer says")),
            texts.error().message.c_str());
    }
    void refusesWithASentence_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("column");
        QTest::addColumn<QString>("says");
        QTest::newRow("numbers") << "numbers.parquet" << "text" << "holds no text";
        QTest::newRow("other column") << "good-plain.parquet" << "body" << "no column 'body'";
        QTest::newRow("empty") << "empty.parquet" << "" << "has no rows";
        QTest::newRow("cut") << "cut.parquet" << "" << "cannot be read as Parquet";
        QTest::newRow("footer") << "footer.parquet" << "" << "cannot be read as Parquet";
    }
    void refusesWithASentence()
    {
        QFETCH(QString, name);
        QFETCH(QString, column);
        QFETCH(QString, says);
        auto config = test::configFor({ file(name.toUtf8().constData()) });
        config.textColumn = column.toStdString();
        auto inspection = inspectData(config);
        QVERIFY(!inspection.ok());
        const auto message = QString::fromStdString(inspection.error().message);
        QVERIFY2(message.contains(says), message.toUtf8());
    }
    void readsListsNullsAndLongViewsOfArrow()
    {
        auto config = test::configFor({ file("lists.arrow") });
        config.textColumn = "messages[].content";
        config.minChars = 0;
        auto lists = test::readAll(config, folder_.path("cache-arrow"), 450);
        QVERIFY2(lists.ok(), lists.ok() ? "" : lists.error().message.c_str());
        QCOMPARE(lists.value().size(), std::size_t { 5000 });
        QCOMPARE(lists.value()[7], std::string());
        QCOMPARE(lists.value()[5], std::string("row 5\npart 0\npart 1"));
        config = test::configFor({ file("nulls.arrow") });
        config.minChars = 0;
        auto nulls = test::readAll(config, folder_.path("cache-arrow"), 450);
        QVERIFY(nulls.ok());
        QCOMPARE(nulls.value()[3], std::string());
        QCOMPARE(nulls.value()[4], rows_[4]);
        auto views = test::readAll(test::configFor({ file("long.arrow") }), folder_.path("cache-arrow"), 450);
        QVERIFY(views.ok());
        QCOMPARE(views.value().back(), rows_.back() + std::string(30, '-'));
    }
    void refusesDamagedArrow_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("says");
        QTest::newRow("cut") << "cut.arrow" << "ends in the middle of its Arrow data";
        QTest::newRow("no end") << "no-end.arrow" << "ends in the middle of its Arrow data";
        QTest::newRow("offsets") << "offsets.arrow" << "damaged Arrow data in batch 1";
        QTest::newRow("numbers") << "numbers.arrow" << "no column with text";
    }
    void refusesDamagedArrow()
    {
        QFETCH(QString, name);
        QFETCH(QString, says);
        auto texts
            = test::readAll(test::configFor({ file(name.toUtf8().constData()) }), folder_.path("cache-bad"), 450);
        QVERIFY(!texts.ok());
        const auto message = QString::fromStdString(texts.error().message);
        QVERIFY2(message.contains(says), message.toUtf8());
        QVERIFY2(message.contains(name), message.toUtf8());
    }
    /// Half a minute of 429 was "cannot be read as Parquet", and the blocks were given up for good.
    void aWayThatIsClosedIsNotDamage()
    {
        auto whole = openLocalSource(folder_.path("good-zstd-v2.parquet"));
        QVERIFY(whole.ok());
        for (const ErrorCode code :
            { ErrorCode::Network, ErrorCode::Io, ErrorCode::Busy, ErrorCode::InvalidArgument }) {
            int reads = 0;
            for (;; ++reads) {
                const auto status = readEveryRow(std::make_shared<UnreachableSource>(whole.value(), reads, code));
                if (status.ok())
                    break;
                QVERIFY2(status.error().code == code && status.error().message == "the way is closed",
                    status.error().message.c_str());
            }
            QVERIFY(reads > 3); // footer and pages were both met
        }
    }
    void oneDamagedPageCostItsNeighboursAndNoRunCouldBeMade_data()
    {
        QTest::addColumn<QString>("name");
        QTest::newRow("flat") << "damaged-flat.parquet";
        QTest::newRow("lists of pages that do not say their rows") << "damaged-lists-v1.parquet";
        QTest::newRow("lists of pages that do") << "damaged-lists-v2.parquet";
    }
    /// What a run reads before it is made leaves out the rows that training leaves out: those of the page, or of its
    /// row group where pages do not say which rows they hold.
    void oneDamagedPageCostItsNeighboursAndNoRunCouldBeMade()
    {
        QFETCH(QString, name);
        auto config = test::configFor({ file(name.toUtf8().constData()) });
        config.badFiles = BadFiles::LeaveOut;
        const auto inspection = inspectData(config);
        QVERIFY2(inspection.ok(), inspection.ok() ? "" : inspection.error().message.c_str());
        std::set<std::string> walked;
        const PassedOver passed;
        const auto walk = forEachText(config, inspection.value().manifest, [&walked](std::string_view text) {
            walked.emplace(text);
            return Result<bool>(true);
        });
        QVERIFY2(walk.ok(), walk.ok() ? "" : walk.error().message.c_str());
        std::vector<Message> said;
        passed.addTo(said);
        QCOMPARE(said.size(), std::size_t(1));
        QVERIFY2(said.front().find(file(name.toUtf8().constData())) != std::string::npos
                && said.front().find("in its rows 2") != std::string::npos
                && said.front().find("leave_out") != std::string::npos,
            said.front().c_str());
        QVERIFY(!walked.contains("row 2345"));
        const auto lost = rows_.size() - walked.size();
        QVERIFY2(lost > 0 && lost < 1000, std::to_string(lost).c_str()); // less than its row group
        for (std::size_t i = 0; i < rows_.size(); ++i)
            QVERIFY(walked.contains(rows_[i]) || (i >= 2000 && i < 3000));
        QVERIFY(trained(config, name) == walked);
    }
    /// It was seen as a row of the damaged page, though it had ended on the page before.
    void theRowBeforeADamagedPageOfListsWasLostWithIt()
    {
        auto config = test::configFor({ file("damaged-lists-v2.parquet") });
        config.badFiles = BadFiles::LeaveOut;
        const auto texts = trained(config, QStringLiteral("lists-exactly"));
        for (std::size_t i = 0; i < rows_.size(); ++i)
            QVERIFY2(texts.contains(rows_[i]) == (i < 2300 || i >= 2400), rows_[i].c_str()); // pages have 100 rows
    }
    /// Each time the block of the rows before a damaged page was prepared, their column was fetched anew.
    void theRowBeforeADamagedPageHadItsColumnFetchedAnew()
    {
        auto whole = openLocalSource(folder_.path("damaged-lists-v2.parquet"));
        QVERIFY(whole.ok());
        const auto source = std::make_shared<DistrustedSource>(whole.value());
        DataFile data;
        data.path = "data.parquet";
        RowOptions options;
        options.textColumn = "text[]";
        auto reader = openParquetReader(source, data, options, 0);
        QVERIFY2(reader.ok(), reader.ok() ? "" : reader.error().message.c_str());
        Row row;
        for (int i = 0; i < 2300; ++i) {
            const auto more = reader.value()->next(row);
            QVERIFY(more.ok() && more.value());
        }
        QCOMPARE(source->times, 0); // though the page behind the row was met
        QVERIFY(!reader.value()->next(row).ok());
        QCOMPARE(source->times, 1);
    }
    /// The rows beside a damaged page were only kept where every other file of the block could be read.
    void aFileThatCannotBeReadAtAllCostTheRowsBesideADamagedPage()
    {
        auto config = test::configFor({ file("damaged-beside") });
        config.badFiles = BadFiles::LeaveOut;
        auto manager = test::openManager(config, folder_.path("cache-beside"), 10'000);
        QVERIFY2(manager.ok(), manager.ok() ? "" : manager.error().message.c_str());
        const auto planned = test::planAll(manager.value());
        QVERIFY2(planned.ok(), planned.ok() ? "" : planned.error().message.c_str());
        QCOMPARE(planned.value().size(), std::size_t(1));
        QCOMPARE(manager.value().prepare(planned.value().front()).error().code, ErrorCode::Corrupt);
        const auto rest = manager.value().withoutUnreadable(planned.value().front(), {});
        QVERIFY2(rest.ok(), rest.ok() ? "" : rest.error().message.c_str());
        QCOMPARE(rest.value().rows(), 5500);
        QCOMPARE(rest.value().rowsLeftOut(), 100 + 500);
        const auto made = manager.value().prepare(rest.value());
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
    }
    /// They counted as filtered, and nothing but the sentence of their block told why they were not trained.
    void rowsThatCannotBeReadCountedAsFiltered()
    {
        auto config = test::configFor({ file("damaged-beside") });
        config.badFiles = BadFiles::LeaveOut;
        auto manager = test::openManager(config, folder_.path("cache-counted"), 10'000);
        QVERIFY2(manager.ok(), manager.ok() ? "" : manager.error().message.c_str());
        const auto planned = test::planAll(manager.value());
        QVERIFY2(planned.ok(), planned.ok() ? "" : planned.error().message.c_str());
        const auto rest = manager.value().withoutUnreadable(planned.value().front(), {});
        QVERIFY2(rest.ok(), rest.ok() ? "" : rest.error().message.c_str());
        const auto read = BlockManager::fromPlan(rest.value().plan); // as the ledger keeps it
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message.c_str());
        QCOMPARE(read.value().rowsUnreadable(), 100 + 500);
        QVERIFY(read.value().segments == rest.value().segments);
        const auto made = manager.value().prepare(read.value());
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message.c_str());
        std::int64_t failed = 0, filtered = 0, samples = 0;
        for (const ChunkSummary& chunk : made.value().chunks) {
            failed += chunk.failed;
            filtered += chunk.filtered;
            samples += chunk.samples;
        }
        QCOMPARE(failed, 100 + 500);
        QCOMPARE(filtered, 0);
        QCOMPARE(samples, 4900);
        const auto prepared = manager.value().openBlock(made.value());
        QVERIFY2(prepared.ok(), prepared.ok() ? "" : prepared.error().message.c_str());
        const auto first = manager.value().firstUnreadable(read.value(), prepared.value());
        QVERIFY2(
            first.starts_with("100 rows from row ") && first.find("a.parquet") != std::string::npos && !first.isPlain(),
            first.c_str());
        for (const Segment& one : read.value().segments)
            QVERIFY(one.isLeftOut == one.isUnreadable());
    }
    /// The look at the data, too, called them filtered.
    void aProbeCalledDamagedRowsFiltered()
    {
        auto config = test::configFor({ file("damaged-flat.parquet") });
        config.badFiles = BadFiles::LeaveOut;
        const auto probe = probeData(config, *byteTokenizer(), 60'000);
        QVERIFY2(probe.ok(), probe.ok() ? "" : probe.error().message.c_str());
        QCOMPARE(probe.value().sampledRows, 5000);
        QCOMPARE(probe.value().sampledFailed, 100);
        QCOMPARE(probe.value().sampledFiltered, 0);
        QVERIFY2(probe.value().firstFailure.find("lies where the file is damaged") != std::string::npos,
            probe.value().firstFailure.c_str());
        for (const Message& remark : remarksOn(probe.value())) // 2 %, which a person takes with leave_out
            QVERIFY2(remark.find("the run would stop") == std::string::npos, remark.c_str());
    }
    void namesAFileWithDamagedPages()
    {
        auto texts = test::readAll(test::configFor({ file("pages.parquet") }), folder_.path("cache-bad"), 450);
        QVERIFY(!texts.ok());
        QVERIFY2(texts.error().message.find("pages.parquet") != std::string::npos, texts.error().message.c_str());
    }
};

QTEST_GUILESS_MAIN(TestParquet)
#include "tst_parquet.moc"
