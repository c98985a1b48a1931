#include "helper_process.h"

#include "core/base/hash.h"

using namespace furrow;

class TestHash : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void sha256MatchesPublishedVectors_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("digest");
        // NIST FIPS 180-4 examples
        QTest::newRow("empty") << QByteArray() << "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        QTest::newRow("abc") << QByteArray("abc") << "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        QTest::newRow("448 bits") << QByteArray("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                                  << "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
        QTest::newRow("a million a") << QByteArray(1000000, 'a')
                                     << "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    }
    void sha256MatchesPublishedVectors()
    {
        QFETCH(QByteArray, bytes);
        QTEST(QString::fromStdString(sha256Hex(bytes.toStdString())), "digest");
    }

    void piecesGiveTheSameDigest()
    {
        Sha256 hash;
        hash.update("a");
        Sha256 moved = std::move(hash);
        moved.update("b");
        moved.update("");
        moved.update("c");
        QCOMPARE(moved.hex(), sha256Hex("abc"));
    }

    void hashesAFileLargerThanOnePiece()
    {
        const QTemporaryDir folder;
        const std::string bytes(3'000'001, 'q');
        const auto path = test::inFolder(folder, "large");
        QVERIFY(writeFileDurably(realFileSystem(), path, bytes).ok());
        QCOMPARE(sha256File(path).value(), sha256Hex(bytes));
    }

    void aFileIsNotReadToItsEndWhenNobodyWaits()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "large");
        QVERIFY(writeFileDurably(realFileSystem(), path, std::string(3'000'001, 'q')).ok());
        std::stop_source stopping;
        QVERIFY(sha256File(path, stopping.get_token()).ok());
        stopping.request_stop();
        QCOMPARE(sha256File(path, stopping.get_token()).error().code, ErrorCode::Cancelled);
    }

    void missingFileIsAnError() { QCOMPARE(sha256File("/nowhere/at/all").error().code, ErrorCode::NotFound); }

    void xxh3MatchesTheReference()
    {
        // xxHash 0.8: XXH3_64bits of these inputs (xxhsum -H3)
        QCOMPARE(xxh3(""), std::uint64_t(0x2D06800538D394C2));
        QCOMPARE(xxh3("abc"), std::uint64_t(0x78AF5F94892F3950));
        QVERIFY(xxh3("abc", 1) != xxh3("abc"));
        QCOMPARE(xxh3("abc", 0), xxh3("abc"));
    }
};

QTEST_GUILESS_MAIN(TestHash)
#include "tst_hash.moc"
