#include "core/data/tokenizer/unicode_classes.h"

#include <array>
#include <memory>

namespace furrow {

namespace {

struct Run {
    char32_t first;
    Category category;
};

using enum Category;
constexpr Run kRuns[] = {
#include "core/data/tokenizer/unicode_ranges.inc"
};

CharClass classOf(char32_t c, Category category)
{
    if ((c >= 9 && c <= 13) || c == 0x85 || category == Zs || category == Zl || category == Zp)
        return CharClass::Space;
    if (category >= Lu && category <= Lo)
        return CharClass::Letter;
    if (category >= Nd && category <= No)
        return CharClass::Number;
    return CharClass::Other;
}

using Table = std::array<std::uint8_t, kInvalidByte + 1>;

std::unique_ptr<Table> makeTable()
{
    auto table = std::make_unique<Table>();
    std::size_t run = 0;
    for (char32_t c = 0; c < kInvalidByte; ++c) {
        while (run + 1 < std::size(kRuns) && kRuns[run + 1].first <= c)
            ++run;
        const auto category = kRuns[run].category;
        (*table)[c]
            = static_cast<std::uint8_t>(static_cast<int>(category) | static_cast<int>(classOf(c, category)) << 5);
    }
    (*table)[kInvalidByte] = static_cast<std::uint8_t>(static_cast<int>(CharClass::Other) << 5);
    return table;
}

} // namespace

const std::uint8_t* codePointTable()
{
    static const std::unique_ptr<Table> table = makeTable();
    return table->data();
}

} // namespace furrow
