#include "core/data/source/parquet_columns.h"

#include "core/base/sentence.h"

#include <functional>
#include <initializer_list>
#include <vector>

namespace furrow {

namespace {

bool isList(const parquet::schema::Node& node)
{
    return (node.logical_type() && node.logical_type()->is_list())
        || node.converted_type() == parquet::ConvertedType::LIST;
}

/// The repeated part of a list has one member, which is the element, in the layout of today; in older ones it is the
/// element.
bool wrapsElement(const parquet::schema::Node& repeated)
{
    if (!repeated.is_group() || repeated.name() == "array" || repeated.name().ends_with("_tuple"))
        return false;
    return static_cast<const parquet::schema::GroupNode&>(repeated).field_count() == 1;
}

} // namespace

bool holdsText(const parquet::ColumnDescriptor& column)
{
    if (column.physical_type() != parquet::Type::BYTE_ARRAY)
        return false;
    const auto& logical = column.logical_type();
    return !logical || logical->is_none() || logical->is_string() || logical->is_JSON() || logical->is_enum();
}

ColumnPath pathOf(const parquet::ColumnDescriptor& column)
{
    std::vector<const parquet::schema::Node*> nodes; // from the root down, without it
    for (const auto* node = column.schema_node().get(); node->parent() != nullptr; node = node->parent())
        nodes.insert(nodes.begin(), node);
    ColumnPath path;
    bool isElement = false; // of a list: its name says nothing
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!isElement)
            path = path.member(nodes[i]->name());
        isElement = false;
        if (isList(*nodes[i]) && i + 1 < nodes.size() && nodes[i + 1]->is_repeated()) {
            path = path.each();
            isElement = wrapsElement(*nodes[++i]);
        } else if (nodes[i]->is_repeated()) {
            path = path.each();
        }
    }
    return path;
}

Result<int> findColumn(const parquet::FileMetaData& metadata, const DataFile& file, const std::string& name)
{
    const auto isPath = [&](const parquet::ColumnDescriptor& column) { return pathOf(column).text() == name; };
    const auto isWrittenSo = [&](const parquet::ColumnDescriptor& column) {
        return column.max_repetition_level() == 0 && column.path()->ToDotString() == name;
    };
    for (const auto& fits :
        std::initializer_list<std::function<bool(const parquet::ColumnDescriptor&)>> { isPath, isWrittenSo }) {
        for (int i = 0; i < metadata.schema()->num_columns(); ++i) {
            const auto* column = metadata.schema()->Column(i);
            if (!fits(*column))
                continue;
            if (!holdsText(*column))
                return Error { ErrorCode::InvalidArgument,
                    sentence("%1: the column '%2' holds no text.", { file.path, name }) };
            return i;
        }
    }
    return Error { ErrorCode::InvalidArgument, sentence("%1 has no column '%2'.", { file.path, name }) };
}

int16_t levelOfElements(const parquet::ColumnDescriptor& column)
{
    int16_t above = 0; // optional parts below the innermost list
    for (const auto* node = column.schema_node().get(); node->parent() != nullptr && !node->is_repeated();
        node = node->parent())
        above = static_cast<int16_t>(above + (node->is_optional() ? 1 : 0));
    return static_cast<int16_t>(column.max_definition_level() - above);
}

} // namespace furrow
