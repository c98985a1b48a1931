#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Field `index` of one csv record, unquoted into `out`. false: the record has fewer fields.
bool csvField(std::string_view record, char delimiter, int index, std::string& out);

std::vector<std::string> csvFields(std::string_view record, char delimiter);

} // namespace furrow
