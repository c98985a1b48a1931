#pragma once

#include <QString>
#include <QStringList>

namespace furrow {

/// What a person meant who typed a number in the language of the console: "1.500.000" and "0,5" in Spanish,
/// "1,500,000" and "0.5" in English, "1e6" in both. Whatever the console shows is read back as the same number.
struct TypedNumber {
    QString plain; ///< as core reads it: "1500000", "0.5"; empty: the text is no number or not surely one
    QStringList meanings; ///< where plain is empty: how to write what it may have meant, the likeliest first
};

/// @param isWhole  only a whole number is wanted, so "1.000" in Spanish is a thousand. Where it need not be one that
/// text is refused, because "0.5" is understood everywhere and so it could be 1 as well.
TypedNumber typedNumber(const QString& text, bool isWhole);

/// What a number may be.
struct NumberRange {
    bool isWhole = false;
    double least = 0;
    double most = -1; ///< below least: there is no largest

    bool has(double value) const;
};
/// What is wrong with a number that was typed, in the language of the person.
QString numberProblem(const QString& label, const QString& typed, const NumberRange& range);

} // namespace furrow
