#pragma once

#include <QMap>
#include <QString>

namespace furrow::test {

/// Number -> view -> what it says.
using Truths = QMap<QString, QMap<QString, qint64>>;

/// The first number that two views tell differently, in words; "": there is none.
inline QString disagreement(const Truths& truths)
{
    for (auto number = truths.begin(); number != truths.end(); ++number)
        for (auto view = number->begin(); view != number->end(); ++view)
            if (*view != number->first())
                return QStringLiteral("%1: %2 says %3, %4 says %5")
                    .arg(number.key(), number->firstKey())
                    .arg(number->first())
                    .arg(view.key())
                    .arg(*view);
    return {};
}

} // namespace furrow::test
