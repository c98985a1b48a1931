#include "ui/pages/new_run/start_map.h"

#include "core/run/start/start_at.h"
#include "ui/models/core_words.h"
#include "ui/models/run_form.h"
#include "ui/models/words.h"
#include "ui/parts/page_parts.h"

#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kMapHeight = 132;
constexpr std::int64_t kMostChunks
    = 200'000; // 10 MB of cells; in a map of this size a click meets a dozen of more of them

const Setting& startSetting() { return *findSetting("start_at"); }

QString nameOf(const ChunkPlace& place) { return QStringLiteral("%1:%2").arg(place.block).arg(place.column); }

} // namespace

std::vector<ChunkCell> plannedChunks(const DataInspection& seen, std::int64_t chunkSamples)
{
    std::vector<ChunkCell> cells;
    for (std::int64_t block = 0; block < seen.blocks.value_or(0); ++block) {
        const std::int64_t rows = std::min(seen.samplesPerBlock, seen.rows - block * seen.samplesPerBlock);
        for (std::int32_t column = 0; column * chunkSamples < rows; ++column) {
            ChunkCell cell;
            cell.id = chunkIdOf({ 0, block, column });
            cell.block = block;
            cell.column = column;
            cells.push_back(cell);
        }
    }
    return cells;
}

StartMap::StartMap(RunForm& form, QWidget* parent)
    : QFrame(parent)
    , form_(form)
    , map_(new CoverageMap)
    , words_(makeLabel({}, TextTone::Secondary, TextSize::Small))
{
    setProperty("boxed", true);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(8, 5, 8, 5);
    column->setSpacing(4);
    buildHead();
    map_->setFixedHeight(kMapHeight);
    map_->setMinimapVisible(false);
    map_->setAccessibleName(tr("Chunk to start at"));
    column->addWidget(map_);
    connect(map_, &CoverageMap::chunkClicked, this, &StartMap::choose);
    connect(&form_, &RunForm::edited, this, [this](const QString& key) {
        if (key == QLatin1String("start_at"))
            refresh();
    });
    connect(&form_, &RunForm::replaced, this, &StartMap::refresh);
    clear();
}

void StartMap::buildHead()
{
    auto* head = new QHBoxLayout;
    words_->setWordWrap(true);
    words_->setToolTip(tr(
        "Planned from the number of samples. Where chunks would become larger than allowed they end earlier, so a block may have more of them."));
    head->addWidget(words_, 1);
    beginning_ = makeButton(tr("Choose none"));
    beginning_->setProperty("compact", true);
    beginning_->setToolTip(tr("Without a chunk the first epoch begins wherever its order begins."));
    connect(beginning_, &QPushButton::clicked, this, [this] { form_.setText(startSetting(), {}); });
    head->addWidget(beginning_);
    static_cast<QVBoxLayout*>(layout())->addLayout(head);
}

void StartMap::clear()
{
    showNothing(tr("Choose the data first: its blocks and chunks are shown here, to click the one to start at."));
}

void StartMap::setWaiting() { showNothing(tr("Looking at the data…")); }

void StartMap::setProbe(const ProbePtr& probe)
{
    const DataInspection& seen = probe->probe.inspection;
    if (!probe->problem.empty())
        showNothing(tr("The data cannot be read, so its chunks are not known."));
    else if (!seen.blocks || !seen.chunks)
        showNothing(tr(
            "How this data is cut into blocks and chunks is not known before the run, so there is no map. A chunk can be typed above."));
    else if (*seen.chunks > kMostChunks)
        showNothing(tr("The data has %1 chunks, too many for a map of this size. One can be typed above.")
                .arg(countText(*seen.chunks)));
    else
        showPlan(seen);
}

void StartMap::showNothing(const QString& why)
{
    blocks_ = 0;
    form_.setFinding(startSetting().key, {});
    map_->setCells({});
    map_->hide();
    beginning_->hide();
    words_->setText(why);
}

void StartMap::showPlan(const DataInspection& seen)
{
    blocks_ = *seen.blocks;
    map_->setCells(plannedChunks(seen, form_.config().chunkSamples));
    map_->show();
    beginning_->show();
    refresh();
}

void StartMap::choose(ChunkId chunk) { form_.setText(startSetting(), nameOf(placeOf(chunk))); }

void StartMap::refresh()
{
    if (blocks_ == 0)
        return;
    const auto start = parseChunkName(form_.config().startAt);
    // A block may have more chunks than planned, the data never has more blocks.
    form_.setFinding(startSetting().key, start ? startProblem(*start, blocks_, std::nullopt) : Message());
    const ChunkId chosen = start && start->block < blocks_ ? chunkIdOf({ 0, start->block, start->column }) : ChunkId {};
    map_->setSelected({ chosen }, chosen);
    const QString words = startWords();
    words_->setText(words);
    map_->setAccessibleDescription(words);
    beginning_->setEnabled(start.has_value());
}

QString StartMap::startWords() const
{
    const std::vector<ChunkCell>& cells = map_->cells();
    const QString extent = QStringLiteral("%1, %2.").arg(tr("%n block(s)", nullptr, static_cast<int>(blocks_)),
        tr("%n chunk(s)", nullptr, static_cast<int>(cells.size())));
    const auto start = parseChunkName(form_.config().startAt);
    if (!start)
        return tr("%1 No chunk is chosen. Click the one to start at, or move there with the arrow keys.").arg(extent);
    const auto chunks
        = std::count_if(cells.begin(), cells.end(), [&](const ChunkCell& cell) { return cell.block == start->block; });
    const Message problem
        = startProblem(*start, blocks_, chunks == 0 ? std::nullopt : std::optional<std::int64_t>(chunks));
    if (!problem.empty())
        return coreWords(problem);
    return tr("%1 The first epoch starts at %2 and ends with what comes before it.")
        .arg(extent, chunkTitle(start->block, start->column).toLower());
}

} // namespace furrow
