#include "ui/charts/map_legend.h"

#include "ui/charts/chart_data.h"
#include "ui/charts/chart_parts.h"
#include "ui/charts/coverage_map.h"
#include "ui/theme/theme.h"
#include "ui/widgets/worker_mark.h"

#include <QLocale>
#include <QPainter>
#include <QResizeEvent>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace furrow {
namespace {

constexpr double kRamp = 300;
constexpr double kTickRoom = 48; // of a number below the ramp
constexpr double kNarrowRamp = 190;
constexpr int kNarrow = 900; // below it the ramp is short and so are the words beside it
constexpr double kSide = 14;
constexpr double kTop = 8;
constexpr double kRampTall = 64;
constexpr double kBesideRamp = 20;
constexpr double kRow = 22; // of counts
constexpr double kLine = 20; // of the sentence below them
constexpr double kBottom = 12;
constexpr double kBeforeWord = 31; // a cell and what is between it and its word
constexpr double kBeforeNumber = 7;
constexpr double kLeastBetween = 10; // columns
constexpr double kBeforePhrase = 21; // with the dot in it

QFont wordFont() { return theme().font(FontRole::Small); }
QFont numberFont() { return theme().font(FontRole::Small, QFont::DemiBold); }
QString numberText(std::int64_t number) { return QLocale().toString(static_cast<qlonglong>(number)); }

} // namespace

/// A cell as the map draws it, with how many there are.
struct MapLegend::Count {
    CellLook look;
    QString word;
    std::int64_t number;
    double width() const
    {
        return kBeforeWord + QFontMetricsF(wordFont()).horizontalAdvance(word) + kBeforeNumber
            + tabularWidth(numberFont(), numberText(number));
    }
};

/// Part of the sentence below the counts. Without a number it explains the mark of an open block.
struct MapLegend::Phrase {
    QString word;
    std::optional<std::int64_t> number;
    bool isTrouble = false;
    double width() const
    {
        return QFontMetricsF(wordFont()).horizontalAdvance(word)
            + (number ? 5 + tabularWidth(numberFont(), numberText(*number)) : 10);
    }
};

/// Where everything is: counts beside the ramp while two columns of them fit, else below it.
struct MapLegend::Arrangement {
    QRectF ramp, counts;
    double title = 0; ///< width of the words above the ramp
    std::vector<double> columns; ///< widths
    std::vector<QPointF> phrases; ///< their places below the counts
    double height = 0;
};

MapLegend::MapLegend(CoverageMap& map, QWidget* parent)
    : QWidget(parent)
    , map_(map)
{
    connect(&map, &CoverageMap::summaryChanged, this, [this] {
        arrangeAnew();
        setAccessibleName(rampTitle());
        setAccessibleDescription(inWords());
    });
    arrangeAnew();
}

MapLegend::~MapLegend() = default;

void MapLegend::arrangeAnew()
{
    arranged_ = std::make_unique<const Arrangement>(arrange());
    setFixedHeight(static_cast<int>(arranged_->height));
    update();
}

void MapLegend::resizeEvent(QResizeEvent* event)
{
    if (event->size().width() != event->oldSize().width()) // the height is what was arranged
        arrangeAnew();
}

void MapLegend::setObjective(Objective objective)
{
    if (std::exchange(objective_, objective) == objective)
        return;
    setAccessibleName(rampTitle());
    arrangeAnew();
}

void MapLegend::setAudit(std::int64_t twice, std::int64_t missing)
{
    twice_ = twice;
    missing_ = missing;
    setAccessibleDescription(inWords());
    arrangeAnew();
}

void MapLegend::setOpenToo(std::vector<std::pair<std::int64_t, std::int64_t>> epochs)
{
    if (epochs == openToo_)
        return;
    openToo_ = std::move(epochs);
    setAccessibleDescription(inWords());
    arrangeAnew();
}

/// The counts for who cannot see them: "committed 8, trained 2, sum 10".
QString MapLegend::inWords() const
{
    QStringList words;
    for (const Count& count : counts())
        words.append(QStringLiteral("%1 %2").arg(count.word, numberText(count.number)));
    for (const Phrase& phrase : phrases())
        if (phrase.number)
            words.append(QStringLiteral("%1 %2").arg(phrase.word, numberText(*phrase.number)));
    return words.join(QStringLiteral(", "));
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
        return (map_.colors().relativeTo() == RelativeTo::Trend ? tr("Loss above the trend, %1") : tr("Loss, %1"))
            .arg(lossUnit(objective_));
    case MapLayer::DeltaLoss: return tr("Loss against the other training, %1").arg(lossUnit(objective_));
    case MapLayer::Age: return tr("Minutes since training");
    case MapLayer::TimesTrained: return tr("Trainings, parts and lost ones included");
    case MapLayer::Epoch: return tr("Epoch");
    case MapLayer::Worker: return tr("Worker");
    case MapLayer::Attempt: return tr("Attempt");
    case MapLayer::Block: return tr("Where the data of each block is");
    case MapLayer::Parent: return tr("What the parent run had trained");
    case MapLayer::State: break;
    }
    return tr("State of each chunk");
}

std::vector<MapLegend::Count> MapLegend::counts() const
{
    constexpr double kHalfDone = 0.6; // so much of a sample is filled
    const MapSummary& s = map_.colors().summary();
    const auto palette = map_.colors().palette();
    CellLook look { CellKind::Committed, QColor::fromRgb(palette[kFirstValue + kValueSteps * 4 / 10]) };
    CellLook redone = look;
    redone.redone = true;
    look.worker = 0;
    std::vector<Count> all;
    for (const CellKind kind : { CellKind::Committed, CellKind::Trained, CellKind::Leased, CellKind::Free,
             CellKind::Lost, CellKind::Excluded, CellKind::Poisoned }) {
        look.kind = kind;
        look.progress = kind == CellKind::Leased ? kHalfDone : 0;
        // What is not prepared is drawn as free, and counted apart as everywhere.
        const auto apart = kind == CellKind::Free ? s.pending : 0;
        all.push_back({ look, cellWord(kind), s.kinds[static_cast<std::size_t>(kind)] - apart });
    }
    if (const auto partly = s.kinds[static_cast<std::size_t>(CellKind::Partly)]; partly > 0) {
        look.kind = CellKind::Partly;
        look.progress = kHalfDone;
        all.push_back({ look, cellWord(CellKind::Partly), partly });
    }
    if (s.lostInPart > 0) {
        look.kind = CellKind::Lost;
        look.progress = kHalfDone;
        all.push_back({ look, tr("of lost ones kept in part"), s.lostInPart });
    }
    if (const auto orphaned = s.kinds[static_cast<std::size_t>(CellKind::Orphaned)]; orphaned > 0) {
        look.kind = CellKind::Orphaned;
        all.push_back({ look, cellWord(CellKind::Orphaned), orphaned });
    }
    all.push_back({ redone, width() < kNarrow ? tr("trained again") : tr("trained again, work was lost"), s.redone });
    return all;
}

std::vector<MapLegend::Phrase> MapLegend::phrases() const
{
    const MapSummary& s = map_.colors().summary();
    std::vector<Phrase> all { { tr("sum"), s.total }, { tr("twice"), twice_, twice_ != 0 },
        { tr("missing"), missing_, missing_ != 0 } };
    if (s.pending > 0)
        all.push_back({ tr("not prepared"), s.pending });
    for (const auto& [epoch, left] : openToo_)
        all.push_back({ tr("epoch %1 is open too, to come").arg(epoch + 1), left });
    all.push_back({ tr("block open for claims"), std::nullopt });
    return all;
}

/// Widths of the most columns of counts, up to `most`, that fit into a room; empty: not even two do.
std::vector<double> MapLegend::columnsWithin(double room, std::size_t most) const
{
    const std::vector<Count> all = counts();
    for (std::size_t n = most; n > 1; --n) {
        std::vector<double> columns(n, 0);
        for (std::size_t i = 0; i < all.size(); ++i)
            columns[i % n] = std::max(columns[i % n], all[i].width());
        if (std::accumulate(columns.begin(), columns.end(), kLeastBetween * static_cast<double>(n - 1)) <= room)
            return columns;
    }
    return {};
}

MapLegend::Arrangement MapLegend::arrange() const
{
    constexpr std::size_t kMostColumns = 4;
    Arrangement all;
    all.ramp = QRectF(kSide, kTop, width() < kNarrow ? kNarrowRamp : kRamp, kRampTall);
    const double title = std::ceil(QFontMetricsF(theme().font(FontRole::Axis)).horizontalAdvance(rampTitle())) + 1;
    all.title = std::min(std::max(all.ramp.width(), title), width() - 2 * kSide);
    const double beside = all.ramp.left() + all.title + kBesideRamp;
    all.counts = QRectF(beside, kTop, width() - beside - kSide, 0);
    all.columns = columnsWithin(all.counts.width(), kMostColumns);
    if (all.columns.empty()) {
        all.counts = QRectF(kSide, all.ramp.bottom() + kBottom, width() - 2 * kSide, 0);
        all.columns = columnsWithin(all.counts.width(), kMostColumns);
    }
    if (all.columns.empty())
        all.columns = { all.counts.width() };
    const std::size_t rows = (counts().size() + all.columns.size() - 1) / all.columns.size();
    all.counts.setHeight(static_cast<double>(rows) * kRow);
    QPointF at(all.counts.left(), all.counts.bottom() + 1);
    for (const Phrase& phrase : phrases()) {
        if (at.x() > all.counts.left() && at.x() + phrase.width() > all.counts.right())
            at = { all.counts.left(), at.y() + kLine };
        all.phrases.push_back(at);
        at.rx() += phrase.width() + kBeforePhrase;
    }
    all.height = std::max(all.ramp.bottom(), at.y() + kLine) + kBottom - 1;
    return all;
}

void MapLegend::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.fillRect(rect(), theme().color(Token::Panel));
    p.fillRect(QRect(0, 0, width(), 1), theme().color(Token::Line));
    drawRamp(p, arranged_->ramp);
    drawCounts(p, *arranged_);
    drawPhrases(p, *arranged_);
}

void MapLegend::drawRamp(QPainter& p, const QRectF& area) const
{
    const Theme& t = theme();
    const MapSummary& s = map_.colors().summary();
    p.setFont(t.font(FontRole::Axis));
    p.setPen(t.color(Token::Text2));
    const double room = arranged_->title;
    p.drawText(QRectF(area.left(), area.top(), room, 14), Qt::AlignVCenter,
        QFontMetricsF(p.font()).elidedText(rampTitle(), Qt::ElideRight, room));
    const MapLayer layer = map_.colors().layer();
    if (layer == MapLayer::Worker || layer == MapLayer::Attempt) {
        for (int i = 0; i < 8; ++i) {
            const double x = area.left() + i * std::min(36.0, area.width() / 8);
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
        p.fillRect(QRectF(area.left() + bin * static_cast<double>(i), base - h, std::max(1.0, bin - 1), h),
            t.color(Token::Text3));
    }
    const auto palette = map_.colors().palette();
    for (int x = 0; x < static_cast<int>(area.width()); ++x) {
        const int entry = kFirstValue + x * (kValueSteps - 1) / static_cast<int>(area.width() - 1);
        p.fillRect(QRectF(area.left() + x, base + 2, 1, 9),
            QColor::fromRgb(palette[static_cast<std::size_t>(std::min(255, entry))]));
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
    const bool sign
        = layer == MapLayer::DeltaLoss || (layer == MapLayer::Loss && map_.colors().relativeTo() == RelativeTo::Trend);
    for (double v = std::ceil(s.low / used) * used; v <= s.high + used * 1e-6; v += used) {
        const double value = std::abs(v) < used * 1e-6 ? 0 : v;
        const double x = area.left() + (value - s.low) / (s.high - s.low) * area.width();
        QString text = tickText(value, used);
        if (sign && value > 0)
            text.prepend(QLatin1Char('+'));
        const double wide = tabularWidth(p.font(), text);
        drawTabular(p, QRectF(std::clamp(x - wide / 2, area.left(), area.right() - wide), base + 13, wide, 14),
            Qt::AlignLeft, text);
    }
}

std::vector<std::pair<QString, std::uint8_t>> MapLegend::named() const
{
    const MapColors& c = map_.colors();
    switch (c.layer()) {
    case MapLayer::Block:
        return { { tr("remote"), c.entryOf(BlockPlace::Remote) }, { tr("fetching"), c.entryOf(BlockPlace::Fetching) },
            { tr("evicted"), c.entryOf(BlockPlace::Evicted) }, { tr("prepared"), c.entryOf(BlockPlace::Prepared) } };
    case MapLayer::Parent:
        return { { tr("new here"), c.entryOf(Inherited::Nothing) }, { tr("trained again"), c.entryOf(Inherited::Seen) },
            { tr("left out"), c.entryOf(Inherited::Skipped) } };
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

void MapLegend::drawCounts(QPainter& p, const Arrangement& where) const
{
    const Theme& t = theme();
    const std::vector<Count> all = counts();
    const double free = where.counts.width() - std::accumulate(where.columns.begin(), where.columns.end(), 0.0);
    const double between = where.columns.size() < 2
        ? 0
        : std::clamp(free / static_cast<double>(where.columns.size() - 1), kLeastBetween, 40.0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t column = i % where.columns.size();
        const double x
            = std::accumulate(where.columns.begin(), where.columns.begin() + static_cast<std::ptrdiff_t>(column),
                where.counts.left() + between * static_cast<double>(column));
        const double y = where.counts.top() + kRow * static_cast<double>(i / where.columns.size());
        drawChunkCell(p, QRectF(x, y, 24, 14), all[i].look);
        const double wide = QFontMetricsF(wordFont()).horizontalAdvance(all[i].word);
        p.setPen(t.color(Token::Text2));
        p.setFont(wordFont());
        p.drawText(QRectF(x + kBeforeWord, y - 2, wide + 2, 18), Qt::AlignVCenter, all[i].word);
        p.setPen(t.color(Token::Text1));
        p.setFont(numberFont());
        drawTabular(
            p, QRectF(x + kBeforeWord + wide + kBeforeNumber, y - 2, 90, 18), Qt::AlignLeft, numberText(all[i].number));
    }
}

void MapLegend::drawPhrases(QPainter& p, const Arrangement& where) const
{
    const Theme& t = theme();
    const std::vector<Phrase> all = phrases();
    for (std::size_t i = 0; i < all.size(); ++i) {
        double x = where.phrases[i].x();
        const double y = where.phrases[i].y();
        const bool begins = x <= where.counts.left();
        p.setFont(wordFont());
        p.setPen(t.color(Token::Text3));
        if (!begins && all[i].number)
            p.drawText(QRectF(x - kBeforePhrase, y, kBeforePhrase, 18), Qt::AlignCenter, QStringLiteral("·"));
        if (!all[i].number) {
            p.fillRect(QRectF(x, y + 3, 3, 12), t.color(Token::Accent));
            x += 10;
        }
        const double wide = QFontMetricsF(p.font()).horizontalAdvance(all[i].word);
        p.setPen(t.color(Token::Text2));
        p.drawText(QRectF(x, y, wide + 2, 18), Qt::AlignVCenter, all[i].word);
        if (!all[i].number)
            continue;
        p.setFont(numberFont());
        p.setPen(t.color(all[i].isTrouble ? Token::Error : Token::Text1));
        drawTabular(p, QRectF(x + wide + 5, y, 90, 18), Qt::AlignLeft, numberText(*all[i].number));
    }
}

} // namespace furrow
