#include "core/base/random.h"
#include "core/train/cpu/kernels.h"
#include "tests/must_have.h"

#include <QtTest>

#include <cmath>
#include <cstring>
#include <vector>

namespace furrow::cpu {

const Kernels& kernelsAvx2();
const Products& productsAvx512Pairs();
const Products& productsAvx512Tiles();
const Products& productsSoftwareTiles();

} // namespace furrow::cpu

using namespace furrow;
using namespace furrow::cpu;

namespace {

/// To the nearest bfloat16, ties to even.
float roundedToBFloat16(float value)
{
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bits = (bits + 0x7fffU + ((bits >> 16) & 1U)) & 0xffff0000U;
    std::memcpy(&value, &bits, sizeof(bits));
    return value;
}

struct Format {
    const Products* products;
    bool rounds;
};

/// Those that this processor can run.
std::vector<std::pair<const char*, Format>> formats()
{
    std::vector<std::pair<const char*, Format>> all;
    all.push_back({ "AVX2 float32", { &kernelsAvx2().float32, false } });
    all.push_back({ "AVX2 rounded", { &kernelsAvx2().bfloat16, true } });
    if (kernels()->level == CpuLevel::Avx512) {
        all.push_back({ "AVX-512 float32", { &kernels()->float32, false } });
        all.push_back({ "chosen for bfloat16", { &kernels()->bfloat16, true } });
        if (__builtin_cpu_supports("avx512bf16")) {
            all.push_back({ "pairs", { &productsAvx512Pairs(), true } });
            all.push_back({ "software tiles", { &productsSoftwareTiles(), true } });
        }
    }
    if (bfloat16Unit() == BFloat16Unit::Tiles)
        all.push_back({ "tiles", { &productsAvx512Tiles(), true } });
    return all;
}

std::vector<float> randomMatrix(std::int64_t rows, std::int64_t columns, std::uint64_t seed)
{
    std::vector<float> matrix(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < matrix.size(); ++i)
        matrix[i] = static_cast<float>(mixSeed({ seed, i }) >> 40) / static_cast<float>(1 << 23) - 1.0F;
    return matrix;
}

/// sum over p of a(i, p) * b(p, j), in double.
template <class A, class B>
std::vector<double> reference(std::int64_t m, std::int64_t n, std::int64_t k, bool rounds, const A& a, const B& b)
{
    const auto in = [&](float value) { return static_cast<double>(rounds ? roundedToBFloat16(value) : value); };
    std::vector<double> c(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t p = 0; p < k; ++p)
                c[static_cast<std::size_t>(i * n + j)] += in(a(i, p)) * in(b(p, j));
    return c;
}

double worstDifference(const std::vector<float>& ours, const std::vector<double>& expected)
{
    double worst = 0;
    for (std::size_t i = 0; i < ours.size(); ++i)
        worst = std::max(worst, std::isfinite(ours[i]) ? std::abs(static_cast<double>(ours[i]) - expected[i]) : 1e9);
    return worst;
}

constexpr double kTolerance = 1e-4; // sums of up to 600 products of numbers below 1, in float32

} // namespace

/// Products against double precision, at sizes that fill vectors, tiles and caches and at sizes that do not.
class TestCpuProducts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void multipliesPackedMatrices_data();
    void multipliesPackedMatrices();
    void addsOuterProducts_data();
    void addsOuterProducts();
    void anInfiniteWeightStaysInItsColumn_data();
    void anInfiniteWeightStaysInItsColumn();
};

void TestCpuProducts::initTestCase()
{
    SKIP_WITHOUT("avx2", kernels() != nullptr, "This processor has neither AVX2 nor AVX-512.");
}

void TestCpuProducts::multipliesPackedMatrices_data()
{
    QTest::addColumn<Format>("format");
    QTest::addColumn<std::int64_t>("m");
    QTest::addColumn<std::int64_t>("n");
    QTest::addColumn<std::int64_t>("k");
    for (const auto& [name, format] : formats())
        for (const auto& [m, n, k] : std::initializer_list<std::array<std::int64_t, 3>> { { 1, 1, 1 }, { 3, 16, 2 },
                 { 16, 32, 32 }, { 37, 65, 33 }, { 64, 48, 96 }, { 65, 80, 70 }, { 130, 130, 384 } })
            QTest::addRow("%s, %d x %d x %d", name, int(m), int(n), int(k)) << format << m << n << k;
}

void TestCpuProducts::multipliesPackedMatrices()
{
    QFETCH(Format, format);
    QFETCH(std::int64_t, m);
    QFETCH(std::int64_t, n);
    QFETCH(std::int64_t, k);
    const std::vector<float> a = randomMatrix(m, k, 1);
    const std::vector<float> b = randomMatrix(k, n, 2);
    const std::vector<float> turned = randomMatrix(n, k, 3);
    const std::vector<float> bias = randomMatrix(1, n, 4);
    const auto ofA = [&](std::int64_t i, std::int64_t p) { return a[static_cast<std::size_t>(i * k + p)]; };
    const auto product = [&](std::vector<float>& packed, std::vector<float>& c, bool accumulate) {
        GemmArguments g;
        g.a = a.data();
        g.rowStride = k;
        g.packed = packed.data();
        g.c = c.data();
        g.cStride = n;
        g.bias = bias.data();
        g.m = m;
        g.n = n;
        g.k = k;
        g.accumulate = accumulate;
        format.products->gemm(g);
    };
    std::vector<float> packed(static_cast<std::size_t>(format.products->packedCount(k, n)));

    format.products->packRows({ b.data(), k, n, n }, packed.data());
    std::vector<float> c(static_cast<std::size_t>(m * n), 7.0F);
    product(packed, c, false);
    std::vector<double> expected = reference(m, n, k, format.rounds, ofA,
        [&](std::int64_t p, std::int64_t j) { return b[static_cast<std::size_t>(p * n + j)]; });
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] += static_cast<double>(bias[i % static_cast<std::size_t>(n)]);
    QVERIFY2(worstDifference(c, expected) < kTolerance, qPrintable(QString::number(worstDifference(c, expected))));

    format.products->packColumns({ turned.data(), n, k, k }, packed.data());
    product(packed, c, true);
    const std::vector<double> second = reference(m, n, k, format.rounds, ofA,
        [&](std::int64_t p, std::int64_t j) { return turned[static_cast<std::size_t>(j * k + p)]; });
    for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] += second[i] + static_cast<double>(bias[i % static_cast<std::size_t>(n)]);
    QVERIFY2(worstDifference(c, expected) < kTolerance, qPrintable(QString::number(worstDifference(c, expected))));
}

void TestCpuProducts::addsOuterProducts_data()
{
    QTest::addColumn<Format>("format");
    QTest::addColumn<std::int64_t>("steps");
    QTest::addColumn<std::int64_t>("m");
    QTest::addColumn<std::int64_t>("n");
    for (const auto& [name, format] : formats())
        for (const auto& [steps, m, n] : std::initializer_list<std::array<std::int64_t, 3>> {
                 { 1, 1, 1 }, { 32, 32, 48 }, { 77, 29, 65 }, { 128, 64, 96 }, { 300, 50, 33 }, { 600, 33, 80 } })
            QTest::addRow("%s, %d steps, %d x %d", name, int(steps), int(m), int(n)) << format << steps << m << n;
}

void TestCpuProducts::addsOuterProducts()
{
    QFETCH(Format, format);
    QFETCH(std::int64_t, steps);
    QFETCH(std::int64_t, m);
    QFETCH(std::int64_t, n);
    const std::vector<float> a = randomMatrix(steps, m, 5);
    const std::vector<float> b = randomMatrix(steps, n, 6);
    std::vector<float> c(static_cast<std::size_t>(m * n), 0.5F);
    // What a scratch holds from before must not matter.
    std::vector<float> scratch(
        static_cast<std::size_t>(format.products->outerScratch(n)), std::numeric_limits<float>::quiet_NaN());
    format.products->outerProduct({ a.data(), steps, m, m }, { b.data(), steps, n, n }, c.data(), n, scratch.data());
    std::vector<double> expected = reference(
        m, n, steps, format.rounds,
        [&](std::int64_t i, std::int64_t p) { return a[static_cast<std::size_t>(p * m + i)]; },
        [&](std::int64_t p, std::int64_t j) { return b[static_cast<std::size_t>(p * n + j)]; });
    for (double& number : expected)
        number += 0.5;
    QVERIFY2(worstDifference(c, expected) < kTolerance, qPrintable(QString::number(worstDifference(c, expected))));
}

void TestCpuProducts::anInfiniteWeightStaysInItsColumn_data()
{
    QTest::addColumn<Format>("format");
    for (const auto& [name, format] : formats())
        QTest::newRow(name) << format;
}

void TestCpuProducts::anInfiniteWeightStaysInItsColumn()
{
    QFETCH(Format, format);
    constexpr std::int64_t kSide = 40;
    const std::vector<float> a = randomMatrix(kSide, kSide, 7);
    std::vector<float> b = randomMatrix(kSide, kSide, 8);
    b[17] = std::numeric_limits<float>::infinity();
    std::vector<float> packed(static_cast<std::size_t>(format.products->packedCount(kSide, kSide)));
    format.products->packRows({ b.data(), kSide, kSide, kSide }, packed.data());
    std::vector<float> c(kSide * kSide);
    format.products->gemm(
        { a.data(), kSide, 1, packed.data(), c.data(), kSide, nullptr, kSide, kSide, kSide, 0, 0, false });
    for (std::size_t i = 0; i < c.size(); ++i)
        QCOMPARE(std::isfinite(c[i]), i % kSide != 17);
}

QTEST_GUILESS_MAIN(TestCpuProducts)
#include "tst_cpu_products.moc"
