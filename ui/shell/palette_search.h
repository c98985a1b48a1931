#pragma once

#include <QString>
#include <functional>
#include <string>
#include <vector>

namespace furrow {

class Workbench;
struct SelectedChunk;

/// What the palette finds beside the commands.
struct PaletteFinding {
    QString name; ///< "Library: fineweb-124m"
    QString detail;
    QString tip;
    QString whyNot; ///< "": it can be opened
    std::function<void()> open;
};

/// Where what was found is shown.
struct PaletteTargets {
    std::function<void(const QString& folder)> run;
    std::function<void(const SelectedChunk& chunk)> chunk;
    std::function<void(const std::string& key)> setting;
};

/// The chunk that `words` name ("B3 C17", "3:17"), then runs of the library, then settings with all the words. Of each
/// a few.
/// @param words  as typed, not empty
std::vector<PaletteFinding> paletteFindings(Workbench& bench, const QString& words, const PaletteTargets& targets);

} // namespace furrow
