#include "core/data/source/column_path.h"

namespace furrow {

namespace {

constexpr std::string_view kEach = "[]";

std::string escaped(const std::string& name)
{
    std::string out;
    for (const char c : name) {
        if (c == '.' || c == '[' || c == '\\')
            out += '\\';
        out += c;
    }
    return out;
}

} // namespace

ColumnPath ColumnPath::parse(std::string_view text)
{
    std::vector<Move> moves;
    std::string name;
    bool named = false; // a name is being read
    const auto endName = [&] {
        if (named)
            moves.push_back({ false, std::move(name) });
        name.clear();
        named = false;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto rest = text.substr(i);
        const auto behind = rest.size() > kEach.size() ? rest[kEach.size()] : '.';
        if (rest[0] == '\\' && rest.size() > 1) {
            name += rest[1];
            named = true;
            ++i;
        } else if (rest.starts_with(kEach) && (named || !moves.empty()) && (behind == '.' || behind == '[')) {
            endName();
            moves.push_back({ true, {} });
            i += kEach.size() - 1;
        } else if (rest[0] == '.' && rest.size() > 1 && (named || (!moves.empty() && moves.back().each))) {
            endName();
        } else {
            name += rest[0];
            named = true;
        }
    }
    endName();
    return ColumnPath(std::move(moves));
}

ColumnPath ColumnPath::ofName(std::string name) { return ColumnPath({ Move { false, std::move(name) } }); }

std::string ColumnPath::text() const
{
    std::string out;
    for (const auto& move : moves_) {
        if (move.each)
            out += kEach;
        else
            out += (out.empty() ? "" : ".") + escaped(move.name);
    }
    return out;
}

ColumnPath ColumnPath::member(std::string name) const
{
    auto moves = moves_;
    moves.push_back({ false, std::move(name) });
    return ColumnPath(std::move(moves));
}

ColumnPath ColumnPath::each() const
{
    auto moves = moves_;
    moves.push_back({ true, {} });
    return ColumnPath(std::move(moves));
}

} // namespace furrow
