#include "core/base/path.h"
#include "core/trials/bench/bench_tools.h"
#include "tests/must_have.h"

#include <QTemporaryDir>
#include <QtTest>
#include <nlohmann/json.hpp>

using namespace furrow;

class TestHubBytes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// With the default shuffle one row group of 60 MB was downloaded many times; of other shapes what lies between the
    /// pages of the text came too, a resume began anew, and each of several runs fetched all for itself.
    void parquetOfAnyShapeCostsItsTextColumnOnce()
    {
        qputenv("HF_HOME", "/nonexistent");
        const QTemporaryDir folder;
        auto scratch = ScratchFolder::make(pathFromUtf8(folder.path().toStdString()));
        QVERIFY(scratch.ok());
        const auto table = benchHubBytes(scratch.value(), 0.3);
        QVERIFY2(table.ok(), table.ok() ? "" : table.error().message.c_str());
        SKIP_WITHOUT("parquet", table.value().is_array(), table.value().dump().c_str());
        QCOMPARE(table.value().size(), std::size_t(36));
        for (const auto& row : table.value()) {
            const double ratio = row["ratio"];
            const bool isTight = row["way"] == "shuffled, cache of 2 blocks"; // blocks come from anywhere, and nothing
                                                                              // can be kept of their neighbours
            QVERIFY2(ratio >= 0.99 && (isTight || ratio <= 1.02), row.dump().c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestHubBytes)
#include "tst_hub_bytes.moc"
