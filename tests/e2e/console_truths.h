#pragma once

#include "tests/truths.h"
#include "ui/models/workbench.h"
#include "ui/shell/appearance.h"
#include "ui/shell/main_window.h"

#include <QStringList>

/// The console, as a person sees it who has it read out: what its accessibility tree says of a run. One window for all
/// runs of a workspace, on whatever platform the test has.
class ConsoleTruths {
public:
    explicit ConsoleTruths(const QString& workspace);

    /// Opens the run, or looks again at the one that is open, and adds the numbers of its pages to `truths`, each under
    /// the name of the page.
    /// @param expected  what others say: the console reads a moment later, and is asked again until it has read that
    /// @return false: it never did; `truths` has what it says
    bool tell(const QString& run, const furrow::test::Truths& expected, furrow::test::Truths& truths);
    /// The same of a past moment of the run [ns since 1970], which the console replays: what its overview and its map
    /// say then. The present is shown again behind it.
    /// @return false: it has not read the run, or not until behind that moment
    bool tellOf(const QString& run, qint64 wallNs, furrow::test::Truths& truths);
    /// Whether the list of runs has the run in this state, a word of `furrowctl status`, when it has looked again.
    bool lists(const QString& run, const QString& state);

private:
    bool isRead(const QString& run);
    void addOverview(furrow::test::Truths& truths);
    void addMap(furrow::test::Truths& truths);
    void addBlocks(furrow::test::Truths& truths);
    void addCheckpoints(furrow::test::Truths& truths);

    furrow::Appearance appearance_ { false };
    furrow::Workbench bench_;
    furrow::MainWindow window_;
};
