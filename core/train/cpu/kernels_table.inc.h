#pragma once

// Builds the table of one instruction set; included last by each kernels_*.cpp.

#include "core/train/cpu/elementwise.inc.h"
#include "core/train/cpu/float32_words.inc.h"
#include "core/train/cpu/rounded_words.inc.h"

namespace {

furrow::cpu::Kernels makeTable(furrow::CpuLevel level)
{
    furrow::cpu::Kernels table;
    table.level = level;
    table.float32 = makeProducts<Float32Words>(gemm<Float32Words>);
    table.bfloat16 = makeProducts<RoundedWords>(gemmRounded<RoundedWords>);
    table.normForward = normForward;
    table.normBackward = normBackward;
    table.geluForward = geluForward;
    table.geluBackward = geluBackward;
    table.swigluForward = swigluForward;
    table.swigluBackward = swigluBackward;
    table.softmaxRow = softmaxRow;
    table.softmaxAgainRow = softmaxAgainRow;
    table.softmaxBackwardRow = softmaxBackwardRow;
    table.crossEntropyRow = crossEntropyRow;
    table.drop = drop;
    table.addColumnSums = addColumnSums;
    table.add = add;
    table.squaredSum = squaredSum;
    table.adamW = adamW;
    return table;
}

} // namespace
