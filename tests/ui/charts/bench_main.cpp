// ui_bench [frame|map|open|scrub|all]: prints each figure with its target.
#include "ui/bench/ui_bench.h"
#include "ui/theme/theme.h"

#include <QApplication>
#include <cstdio>

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    furrow::theme().apply(furrow::ThemeKind::Dark);
    const auto results = furrow::runUiBench(argc > 1 ? QString::fromLocal8Bit(argv[1]) : QStringLiteral("all"));
    for (const auto& r : results)
        std::printf("%-34s %10.3f %-3s target %8.2f %s\n", qPrintable(r.name), r.value, qPrintable(r.unit), r.target,
            r.met ? "met" : "NOT met");
    return results.empty() ? 2 : 0;
}
