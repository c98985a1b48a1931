#include "core/base/path.h"

#include "core/base/utf8.h"

#include <algorithm>

namespace furrow {

std::string utf8Text(const std::filesystem::path& path)
{
    const std::u8string text = path.u8string();
    return { text.begin(), text.end() };
}

std::filesystem::path pathFromUtf8(std::string_view text)
{
    return std::filesystem::path(std::u8string(text.begin(), text.end()));
}

bool isPlainName(std::string_view name)
{
    constexpr std::size_t kLongest = 255; // of most file systems
    constexpr unsigned char kFirstPrintable = 0x20;
    const auto leadsElsewhere
        = [](char c) { return c == '/' || c == '\\' || c == ':' || static_cast<unsigned char>(c) < kFirstPrintable; };
    return !name.empty() && name.size() <= kLongest && name != "." && name != ".." && isValidUtf8(name)
        && std::none_of(name.begin(), name.end(), leadsElsewhere);
}

} // namespace furrow
