#include "core/data/csv_fields.h"

#include <cstring>

namespace furrow {

namespace {

/// Reads the field at the front of `record` into `out` (may be null) and leaves the rest; false when it was the last.
bool takeField(std::string_view& record, char delimiter, std::string* out)
{
    if (out != nullptr)
        out->clear();
    if (!record.empty() && record.front() == '"') {
        record.remove_prefix(1);
        for (;;) {
            const auto quote = record.find('"');
            if (out != nullptr)
                out->append(record.substr(0, quote));
            if (quote == std::string_view::npos) {
                record = {};
                return false;
            }
            record.remove_prefix(quote + 1);
            if (record.empty() || record.front() != '"')
                break;
            if (out != nullptr)
                out->push_back('"');
            record.remove_prefix(1);
        }
    }
    const auto end = record.find(delimiter);
    if (out != nullptr)
        out->append(record.substr(0, end)); // what follows a closing quote is kept, as other readers do
    if (end == std::string_view::npos) {
        record = {};
        return false;
    }
    record.remove_prefix(end + 1);
    return true;
}

} // namespace

bool csvField(std::string_view record, char delimiter, int index, std::string& out)
{
    for (int i = 0; i < index; ++i)
        if (!takeField(record, delimiter, nullptr))
            return false;
    takeField(record, delimiter, &out);
    return true;
}

std::vector<std::string> csvFields(std::string_view record, char delimiter)
{
    std::vector<std::string> fields;
    bool more = true;
    while (more) {
        fields.emplace_back();
        more = takeField(record, delimiter, &fields.back());
    }
    return fields;
}

} // namespace furrow
