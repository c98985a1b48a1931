#include "core/train/merge/merge_torch.h"

#include "core/base/sentence.h"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace furrow {

namespace {

Status checkMembers(const std::vector<MergeMember>& members)
{
    if (members.empty())
        return Error { ErrorCode::InvalidArgument, sentence("there is nothing to merge") };
    const auto& first = members.front();
    for (const auto& member : members) {
        const auto differs = [&](const Message& what) {
            return Error { ErrorCode::InvalidArgument,
                sentence("checkpoint %1 does not fit %2: %3", { member.name, first.name, what }) };
        };
        if (member.weights.size() != first.weights.size())
            return differs(sentence("it has %1 tensors, not %2",
                { std::to_string(member.weights.size()), std::to_string(first.weights.size()) }));
        for (std::size_t i = 0; i < member.weights.size(); ++i) {
            const auto& [name, tensor] = member.weights[i];
            if (name != first.weights[i].first || tensor.sizes() != first.weights[i].second.sizes())
                return differs(sentence("tensor %1 has no equal of its shape there", { name }));
            if (tensor.is_floating_point() && !torch::isfinite(tensor).all().item<bool>())
                return Error { ErrorCode::Corrupt,
                    sentence(
                        "checkpoint %1 cannot be merged: its tensor %2 has NaN or Inf. Go back to an earlier checkpoint of this replica.",
                        { member.name, name }) };
        }
    }
    return {};
}

std::vector<double> shares(const std::vector<MergeMember>& members)
{
    double total = 0;
    for (const auto& m : members)
        total += static_cast<double>(m.tokens);
    std::vector<double> share;
    for (const auto& m : members)
        share.push_back(total > 0 ? static_cast<double>(m.tokens) / total : 1.0 / static_cast<double>(members.size()));
    return share;
}

/// Weighted mean of tensor number `index` in float64.
at::Tensor mean64(const std::vector<MergeMember>& members, const std::vector<double>& share, std::size_t index)
{
    at::Tensor sum;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const auto term = members[i].weights[index].second.to(torch::kFloat64) * share[i];
        sum = sum.defined() ? sum.add_(term) : term;
    }
    return sum;
}

void warnOfOutliers(const NamedTensors& base, const std::vector<MergeMember>& members, Merged& merged)
{
    std::vector<double> ways;
    for (const auto& m : members)
        ways.push_back(driftNorm(base, m.weights));
    auto sorted = ways;
    std::sort(sorted.begin(), sorted.end());
    const double median = sorted[(sorted.size() - 1) / 2];
    for (std::size_t i = 0; i < ways.size(); ++i)
        if (median > 0 && ways[i] > 5 * median)
            merged.warnings.push_back("checkpoint " + members[i].name + " went " + std::to_string(ways[i] / median)
                + " times as far from the base as the median replica");
}

using WindowId = std::array<std::int64_t, 4>; // see counting_learner.cpp
/// In the order of the windows: two of them are walked side by side, and no window is searched for. A run that others
/// wait for merges some 100,000 windows of each replica.
using Counts = std::vector<std::pair<WindowId, std::int64_t>>;

Counts countsOf(const NamedTensors& tensors)
{
    Counts counts;
    const auto* ids = findTensor(tensors, "ids");
    const auto* values = findTensor(tensors, "counts");
    if (!ids || !values || ids->dim() != 2 || ids->size(1) != std::ssize(WindowId {})
        || values->sizes() != ids->sizes().slice(0, 1))
        return counts;
    const auto rows = ids->contiguous();
    const auto seen = values->contiguous();
    for (std::int64_t i = 0; i < rows.size(0); ++i) {
        const auto* row = rows.data_ptr<std::int64_t>() + i * std::ssize(WindowId {});
        counts.emplace_back(WindowId { row[0], row[1], row[2], row[3] }, seen.data_ptr<std::int64_t>()[i]);
    }
    if (!std::ranges::is_sorted(counts))
        std::ranges::sort(counts);
    return counts;
}

/// a + factor b, each window that one of them has.
Counts sumOf(const Counts& a, const Counts& b, std::int64_t factor)
{
    Counts sum;
    sum.reserve(std::max(a.size(), b.size()));
    auto x = a.begin();
    auto y = b.begin();
    while (x != a.end() || y != b.end()) {
        const bool inA = x != a.end() && (y == b.end() || x->first <= y->first);
        const bool inB = y != b.end() && (x == a.end() || y->first <= x->first);
        const std::int64_t before = inA ? x->second : 0;
        sum.emplace_back(inA ? x->first : y->first, inB ? before + factor * y->second : before);
        x += inA;
        y += inB;
    }
    return sum;
}

} // namespace

const at::Tensor* findTensor(const NamedTensors& tensors, const std::string& name)
{
    for (const auto& [key, tensor] : tensors)
        if (key == name)
            return &tensor;
    return nullptr;
}

double driftNorm(const NamedTensors& base, const NamedTensors& weights)
{
    double squares = 0;
    for (const auto& [name, tensor] : weights)
        if (const auto* from = findTensor(base, name);
            from && tensor.is_floating_point() && from->sizes() == tensor.sizes())
            squares += (tensor.to(torch::kFloat64) - from->to(torch::kFloat64)).pow(2).sum().item<double>();
    return std::sqrt(squares);
}

double weightNorm(const NamedTensors& weights)
{
    double squares = 0;
    for (const auto& [name, tensor] : weights)
        if (tensor.is_floating_point())
            squares += tensor.to(torch::kFloat64).pow(2).sum().item<double>();
    return std::sqrt(squares);
}

Result<Merged> mergeAverage(const std::vector<MergeMember>& members)
{
    FURROW_TRY(checkMembers(members));
    const torch::NoGradGuard noGrad;
    const auto share = shares(members);
    Merged merged;
    for (std::size_t i = 0; i < members.front().weights.size(); ++i) {
        const auto& [name, tensor] = members.front().weights[i];
        merged.weights.emplace_back(
            name, tensor.is_floating_point() ? mean64(members, share, i).to(tensor.scalar_type()) : tensor.clone());
    }
    return merged;
}

Result<Merged> mergeDiloco(const NamedTensors& base, const std::vector<MergeMember>& members,
    const NamedTensors& momentum, double outerLr, double outerMomentum)
{
    FURROW_TRY(checkMembers(members));
    const torch::NoGradGuard noGrad;
    const auto share = shares(members);
    Merged merged;
    for (std::size_t i = 0; i < members.front().weights.size(); ++i) {
        const auto& [name, tensor] = members.front().weights[i];
        const auto* from = findTensor(base, name);
        if (!from || from->sizes() != tensor.sizes())
            return Error { ErrorCode::InvalidArgument,
                sentence("the base of this merge lacks the tensor %1: its members do not grow from it", { name }) };
        if (!tensor.is_floating_point()) {
            merged.weights.emplace_back(name, tensor.clone());
            continue;
        }
        const auto base64 = from->to(torch::kFloat64);
        const auto delta = base64 - mean64(members, share, i);
        auto v = delta.clone();
        if (const auto* old = findTensor(momentum, name); old && old->sizes() == tensor.sizes())
            v.add_(old->to(torch::kFloat64), outerMomentum);
        merged.weights.emplace_back(name, (base64 - outerLr * (delta + outerMomentum * v)).to(tensor.scalar_type()));
        merged.momentum.emplace_back(name, v.to(torch::kFloat32));
    }
    warnOfOutliers(base, members, merged);
    return merged;
}

namespace {

NamedTensors tensorsOf(const Counts& all)
{
    const auto n = static_cast<std::int64_t>(all.size());
    auto ids = torch::empty({ n, std::ssize(WindowId {}) }, torch::kInt64);
    auto counts = torch::empty({ n }, torch::kInt64);
    for (std::int64_t row = 0; row < n; ++row) {
        const auto& [id, count] = all[static_cast<std::size_t>(row)];
        std::ranges::copy(id, ids.data_ptr<std::int64_t>() + row * std::ssize(id));
        counts.data_ptr<std::int64_t>()[row] = count;
    }
    return { { "ids", ids }, { "counts", counts } };
}

/// What several members have in common, when the weights they grew from are lost: their increments are disjoint, so at
/// most one of them is above the base at any window.
Counts leastOf(const std::vector<MergeMember>& members)
{
    Counts least = countsOf(members.front().weights);
    for (std::size_t i = 1; i < members.size(); ++i) {
        const Counts other = countsOf(members[i].weights);
        auto at = other.begin();
        std::erase_if(least, [&](auto& one) {
            at = std::find_if(at, other.end(), [&](const auto& its) { return its.first >= one.first; });
            const bool isInBoth = at != other.end() && at->first == one.first;
            if (isInBoth)
                one.second = std::min(one.second, at->second);
            return !isInBoth;
        });
    }
    return least;
}

} // namespace

Result<Merged> mergeCounts(const NamedTensors& base, const std::vector<MergeMember>& members)
{
    const Counts from = base.empty() ? leastOf(members) : countsOf(base);
    Counts sum = from;
    for (const auto& member : members)
        sum = sumOf(sum, sumOf(countsOf(member.weights), from, -1), 1);
    return Merged { tensorsOf(sum), {}, {} };
}

NamedTensors outerMomentumOfCounts(const NamedTensors& base, const NamedTensors& merged, const NamedTensors& momentum)
{
    Counts sum = sumOf(sumOf(countsOf(momentum), countsOf(merged), 1), countsOf(base), -1);
    std::erase_if(sum, [](const auto& one) { return one.second == 0; });
    return tensorsOf(sum);
}

} // namespace furrow
