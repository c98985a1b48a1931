#include "ui/charts/map_legend.h"

#include "ui/charts/chart_parts.h"
#include "ui/charts/coverage_map.h"
#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QLocale>
#include <QPainter>
#include <algorithm>
#include <array>
#include <cmath>

namespace furrow {
namespace {

constexpr double kRamp = 300;
constexpr double kTickRoom = 48; // of a number below the ramp
constexpr double kNarrowRamp = 190;
constexpr int kNarrow = 900; // below it the ramp is short and so are words

} // namespace

MapLegend::MapLegend(CoverageMap& map, QWidget* parent)
    : QWidget(parent)
    , map_(map)
{
    setFixedHeight(84);
    connect(&map, &CoverageMap::summaryChanged, this, [this] {
        update();
        setAccessibleName(rampTitle());
    });
}

void MapLegend::setAudit(std::int64_t twice, std::int64_t missing)
{
    twice_ = twice;
    missing_ = missing;
    update();
}

void MapLegend::setMark(std::optional<double> value)
{
    mark_ = value;
    update();
}

QString MapLegend::rampTitle() const
{
    switch (map_.colors().layer()) {
    case MapLayer::Loss:
        return map_.colors().relativeTo() == RelativeTo::Trend ? tr("Loss above the trend, nats per token") : tr("Loss, nats per token");
    case MapLayer::DeltaLoss: return tr("Loss against the other training, nats per token");
    case MapLayer::Age: return tr("Minutes since the training");
    case MapLayer::TimesTrained: return tr("Times trained");
    case MapLayer::Epoch: return tr("Epoch");
    case MapLayer::Worker: return tr("Worker");
    case MapLayer::Attempt: return tr("Attempt");
    case MapLayer::Block: return tr("Where the data of each block is");
    case MapLayer::Parent: return tr("What the parent run had trained");
    case MapLayer::State: break;
    }
    return tr("State of each chunk");
}

void MapLegend::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.fillRect(rect(), theme().color(Token::Panel));
    p.fillRect(QRect(0, 0, width(), 1), theme().color(Token::Line));
    const double ramp = width() < kNarrow ? kNarrowRamp : kRamp;
    drawRamp(p, QRectF(14, 8, ramp, height() - 12));
    drawCounts(p, QRectF(ramp + 34, 8, width() - ramp - 44, height() - 12));
}

void MapLegend::drawRamp(QPainter& p, const QRectF& area) const
{
    const Theme& t = theme();
    const MapSummary& s = map_.colors().summary();
    p.setFont(t.font(FontRole::Axis));
    p.setPen(t.color(Token::Text2));
    p.drawText(QRectF(area.left(), area.top(), area.width(), 14), Qt::AlignVCenter, rampTitle());
    const MapLayer layer = map_.colors().layer();
    if (layer == MapLayer::Worker || layer == MapLayer::Attempt) {
        for (int i = 0; i < 8; ++i) {
            const double x = area.left() + i * 36;
            drawWorkerMarker(p, { x + 6, area.top() + 34 }, i);
            p.setPen(t.color(Token::Text2));
            p.drawText(QPointF(x + 15, area.top() + 38), QString::number(layer == MapLayer::Attempt ? i + 1 : i));
        }
        return;
    }
    if (!named().empty()) {
        drawNamed(p, area);
        return;
    }
    if (!s.hasValues)
        return;
    const double base = area.top() + 36;
    const auto most = std::max<std::int64_t>(1, *std::max_element(s.histogram.begin(), s.histogram.end()));
    const double bin = area.width() / static_cast<double>(s.histogram.size());
    for (std::size_t i = 0; i < s.histogram.size(); ++i) {
        if (s.histogram[i] == 0)
            continue;
        const double h = std::max(1.0, 20.0 * static_cast<double>(s.histogram[i]) / static_cast<double>(most));
        p.fillRect(QRectF(area.left() + bin * static_cast<double>(i), base - h, std::max(1.0, bin - 1), h), t.color(Token::Text3));
    }
    const auto palette = map_.colors().palette();
    for (int x = 0; x < static_cast<int>(area.width()); ++x) {
        const int entry = kFirstValue + x * (kValueSteps - 1) / static_cast<int>(area.width() - 1);
        p.fillRect(QRectF(area.left() + x, base + 2, 1, 9), QColor::fromRgb(palette[static_cast<std::size_t>(std::min(255, entry))]));
    }
    if (mark_) {
        const double x = area.left() + std::clamp((*mark_ - s.low) / (s.high - s.low), 0.0, 1.0) * area.width();
        p.fillRect(QRectF(x, base - 20, 1.5, 31), t.color(Token::Accent));
    }
    p.setPen(t.color(Token::Text3));
    const double step = std::pow(10, std::floor(std::log10(s.high - s.low)));
    double used = step;
    for (const double factor : { 0.2, 0.5, 1.0, 2.0, 5.0 }) {
        used = step * factor;
        if ((s.high - s.low) / used <= std::min(7.0, area.width() / kTickRoom))
            break;
    }
    const bool sign = layer == MapLayer::DeltaLoss || (layer == MapLayer::Loss && map_.colors().relativeTo() == RelativeTo::Trend);
    for (double v = std::ceil(s.low / used) * used; v <= s.high + used * 1e-6; v += used) {
        const double value = std::abs(v) < used * 1e-6 ? 0 : v;
        const double x = area.left() + (value - s.low) / (s.high - s.low) * area.width();
        QString text = tickText(value, used);
        if (sign && value > 0)
            text.prepend(QLatin1Char('+'));
        const double wide = tabularWidth(p.font(), text);
        drawTabular(p, QRectF(std::clamp(x - wide / 2, area.left(), area.right() - wide), base + 13, wide, 14), Qt::AlignLeft, text);
    }
}

std::vector<std::pair<QString, std::uint8_t>> MapLegend::named() const
{
    const MapColors& c = map_.colors();
    switch (c.layer()) {
    case MapLayer::Block:
        return { { tr("remote"), c.entryOf(BlockPlace::Remote) }, { tr("fetching"), c.entryOf(BlockPlace::Fetching) }, { tr("evicted"), c.entryOf(BlockPlace::Evicted) },
            { tr("prepared"), c.entryOf(BlockPlace::Prepared) } };
    case MapLayer::Parent:
        return { { tr("new here"), c.entryOf(Inherited::Nothing) }, { tr("trained again"), c.entryOf(Inherited::Seen) }, { tr("left out"), c.entryOf(Inherited::Skipped) } };
    default: return {};
    }
}

void MapLegend::drawNamed(QPainter& p, const QRectF& area) const
{
    int i = 0;
    for (const auto& [word, entry] : named()) {
        const QPointF at(area.left() + (i % 2) * area.width() / 2, area.top() + 20 + (i / 2) * 22);
        ++i;
        p.fillRect(QRectF(at.x(), at.y(), 24, 14), map_.colors().colorOf(entry));
        p.setPen(QPen(theme().color(Token::Line2), 1));
        p.setBrush(Qt::NoBrush);
        p.drawRect(QRectF(at.x() + 0.5, at.y() + 0.5, 23, 13));
        p.setPen(theme().color(Token::Text2));
        p.drawText(QRectF(at.x() + 31, at.y(), area.width() / 2 - 31, 14), Qt::AlignVCenter, word);
    }
}

void MapLegend::drawCounts(QPainter& p, const QRectF& area) const
{
    const Theme& t = theme();
    const MapSummary& s = map_.colors().summary();
    const auto palette = map_.colors().palette();
    const auto count = [&s](CellKind kind) { return s.kinds[static_cast<std::size_t>(kind)]; };
    const QLocale locale;
    CellLook filled { CellKind::Committed, QColor::fromRgb(palette[kFirstValue + kValueSteps * 4 / 10]) };
    struct Entry {
        CellLook look;
        QString word;
        std::int64_t count;
    };
    std::vector<Entry> entries;
    for (const CellKind kind : { CellKind::Committed, CellKind::Trained, CellKind::Leased, CellKind::Free, CellKind::Lost, CellKind::Excluded, CellKind::Poisoned }) {
        CellLook look = filled;
        look.kind = kind;
        look.worker = 0;
        look.progress = 0.6;
        entries.push_back({ look, cellWord(kind), count(kind) });
    }
    CellLook redone = filled;
    redone.redone = true;
    entries.push_back({ redone, width() < kNarrow ? tr("redone") : tr("redone after a crash"), s.redone });
    p.setFont(t.font(FontRole::Small));
    constexpr std::size_t kColumns = 4;
    std::array<double, kColumns> wides {}; // each column as wide as it needs, what is left between them
    double left = area.width();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const double need = 31 + QFontMetricsF(t.font(FontRole::Small)).horizontalAdvance(entries[i].word) + 7
            + tabularWidth(t.font(FontRole::Small, QFont::DemiBold), locale.toString(static_cast<qlonglong>(entries[i].count)));
        left -= std::max(0.0, need - wides[i % kColumns]);
        wides[i % kColumns] = std::max(wides[i % kColumns], need);
    }
    const double between = std::clamp(left / (kColumns - 1), 6.0, 40.0);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        double x = area.left();
        for (std::size_t before = 0; before < i % kColumns; ++before)
            x += wides[before] + between;
        const double y = area.top() + 22 * static_cast<double>(i / 4);
        drawChunkCell(p, QRectF(x, y, 24, 14), entries[i].look);
        p.setPen(t.color(Token::Text2));
        p.setFont(t.font(FontRole::Small));
        const double wide = QFontMetricsF(p.font()).horizontalAdvance(entries[i].word);
        p.drawText(QRectF(x + 31, y - 2, wide + 2, 18), Qt::AlignVCenter, entries[i].word);
        p.setFont(t.font(FontRole::Small, QFont::DemiBold));
        p.setPen(t.color(Token::Text1));
        drawTabular(p, QRectF(x + 31 + wide + 7, y - 2, 90, 18), Qt::AlignLeft, locale.toString(static_cast<qlonglong>(entries[i].count)));
    }
    p.setFont(t.font(FontRole::Small));
    double x = area.left();
    const double y = area.top() + 45;
    const auto word = [&](const QString& text, Token token, QFont::Weight weight, double gap) {
        p.setFont(t.font(FontRole::Small, weight));
        p.setPen(t.color(token));
        const double wide = QFontMetricsF(p.font()).horizontalAdvance(text);
        p.drawText(QRectF(x, y, wide + 2, 18), Qt::AlignVCenter, text);
        x += wide + gap;
    };
    const auto pair = [&](const QString& name, std::int64_t number, Token token) {
        word(name, Token::Text2, QFont::Normal, 5);
        word(locale.toString(static_cast<qlonglong>(number)), token, QFont::DemiBold, 8);
    };
    pair(tr("sum"), s.total, Token::Text1);
    word(QStringLiteral("·"), Token::Text3, QFont::Normal, 8);
    pair(tr("twice"), twice_, twice_ == 0 ? Token::Text1 : Token::Error);
    word(QStringLiteral("·"), Token::Text3, QFont::Normal, 8);
    pair(tr("missing"), missing_, missing_ == 0 ? Token::Text1 : Token::Error);
    if (s.pending > 0) {
        word(QStringLiteral("·"), Token::Text3, QFont::Normal, 8);
        pair(tr("free, block not prepared"), s.pending, Token::Text1);
    }
    x += 12;
    p.fillRect(QRectF(x, y + 3, 3, 12), t.color(Token::Accent));
    x += 10;
    word(tr("block open for claims"), Token::Text2, QFont::Normal, 0);
}

} // namespace furrow
