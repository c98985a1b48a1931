#include "core/config/gaussian_privacy.h"
#include "core/config/poisson_privacy.h"

#include <QTest>

#include <cmath>

using namespace furrow;

class TestGaussianPrivacy : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Numbers from mpmath with 40 digits: the hockey-stick divergence of N(mu, 1) and N(0, 1), by the formula and by
    /// integrating the densities, which agree to 12 digits.
    void epsilonIsThatOfTheExactMechanism_data()
    {
        QTest::addColumn<double>("mu");
        QTest::addColumn<double>("delta");
        QTest::addColumn<double>("epsilon");
        QTest::newRow("1") << 1.0 << 1e-5 << 4.37717809568122;
        QTest::newRow("0.5") << 0.5 << 1e-6 << 2.25408465021974;
        QTest::newRow("2") << 2.0 << 1e-5 << 9.9972561464343;
        QTest::newRow("0.1") << 0.1 << 1e-6 << 0.396857377644084;
        QTest::newRow("0.001") << 0.001 << 1e-6 << 0.002718219088814;
        QTest::newRow("5") << 5.0 << 1e-8 << 39.8911467050076;
        QTest::newRow("20") << 20.0 << 1e-5 << 284.391849497742;
        QTest::newRow("two times") << std::sqrt(2.0) << 1e-5 << 6.57297006703033;
    }
    void epsilonIsThatOfTheExactMechanism()
    {
        QFETCH(double, mu);
        QFETCH(double, delta);
        QFETCH(double, epsilon);
        const double ours = epsilonOf({ mu }, delta);
        QVERIFY2(std::abs(ours / epsilon - 1) < 1e-9, qPrintable(QString::number(ours, 'g', 15)));
        QVERIFY(std::abs(deltaOf({ mu }, epsilon) / delta - 1) < 1e-7);
    }

    void participationsAddUpBySquares()
    {
        QCOMPARE(lossOf(1, 0.5).mu, 2.0);
        QCOMPARE(lossOf(4, 1.0).mu, 2.0);
        QCOMPARE(lossOf(0, 1.0).mu, 0.0);
        QCOMPARE(epsilonOf(lossOf(0, 1.0), 1e-5), 0.0);
        QVERIFY(std::isinf(epsilonOf(lossOf(1, 0.0), 1e-5)));
        QVERIFY(epsilonOf({ 0.001 }, 0.1) == 0.0); // the chance alone covers it
    }

    /// Numbers from mpmath with 30 digits, which integrated the densities at each order. In the first two cases the
    /// best order is one that dp-accounting gives up.
    void epsilonOfDrawnStepsIsThatOfTheIntegrals_data()
    {
        QTest::addColumn<double>("rate");
        QTest::addColumn<double>("noise");
        QTest::addColumn<int>("steps");
        QTest::addColumn<double>("delta");
        QTest::addColumn<double>("epsilon");
        QTest::newRow("little noise") << 0.069665 << 0.668 << 201 << 1e-3 << 13.378125846283544;
        QTest::newRow("few steps") << 0.250993 << 1.549 << 7 << 1e-3 << 1.9066105137459683;
        QTest::newRow("usual") << 0.01 << 1.0 << 1000 << 1e-5 << 2.1013652716483855;
    }
    void epsilonOfDrawnStepsIsThatOfTheIntegrals()
    {
        QFETCH(double, rate);
        QFETCH(double, noise);
        QFETCH(int, steps);
        QFETCH(double, delta);
        QFETCH(double, epsilon);
        const double ours = poissonEpsilon({ rate, steps, noise }, delta);
        QVERIFY2(std::abs(ours / epsilon - 1) < 1e-9, qPrintable(QString::number(ours, 'g', 15)));
    }

    void stepsThatDrawNothingOrAll()
    {
        QCOMPARE(poissonEpsilon({ 0.1, 0, 1.0 }, 1e-5), 0.0);
        QVERIFY(std::isinf(poissonEpsilon({ 0.1, 1, 0.0 }, 1e-5)));
        // Who is in each step is not hidden by chance: the bound is near the exact mechanism, and never below it.
        const double bound = poissonEpsilon({ 1, 4, 2.0 }, 1e-5);
        const double exact = epsilonOf(lossOf(4, 2.0), 1e-5);
        QVERIFY2(bound >= exact && bound < 1.1 * exact, qPrintable(QString::number(bound)));
    }

    void limitsMeetTheirEdges()
    {
        for (const double noise : { 0.3, 1.0, 4.0, 20.0 })
            for (const double epsilon : { 0.5, 3.0, 50.0 }) {
                const std::int64_t most = mostParticipations(noise, epsilon, 1e-6);
                QVERIFY(epsilonOf(lossOf(most, noise), 1e-6) <= epsilon);
                QVERIFY(epsilonOf(lossOf(most + 1, noise), 1e-6) > epsilon);
                const double least = leastNoise(3, epsilon, 1e-6);
                QVERIFY(epsilonOf(lossOf(3, least), 1e-6) <= epsilon * (1 + 1e-9));
                QVERIFY(epsilonOf(lossOf(3, least * 0.9999), 1e-6) > epsilon);
            }
        RunConfig config;
        config.noiseMultiplier = 1;
        config.targetDelta = 1e-5;
        QCOMPARE(mostParticipations(config), 0); // no limit was asked for
        config.targetEpsilon = 7;
        QCOMPARE(mostParticipations(config), 2);
    }
};

QTEST_GUILESS_MAIN(TestGaussianPrivacy)
#include "tst_gaussian_privacy.moc"
