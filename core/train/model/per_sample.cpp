#include "core/train/model/per_sample_torch.h"

#include "core/base/random.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <numbers>

// The gradient of a weight is the sum over tokens of (what came back) x (what went in). So its squared norm for one
// sample is the sum over pairs of tokens of (x x') (g g'): two small products in place of one as large as the weight.
// Where the sequence is long and the weight small, the gradient of one sample is the smaller one, and is made and
// forgotten.

namespace furrow {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The leaf's own gradient, which is a view of the flat one.
at::Tensor gradientOf(const at::Tensor& parameter) { return parameter.grad(); }

at::Tensor gradientOrZeros(const at::Tensor& leaf)
{
    return leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf);
}

at::Tensor rowsOf(const at::Tensor& x_BTI) { return x_BTI.reshape({ -1, x_BTI.size(-1) }).to(at::kFloat); }

/// gradient += sum over samples and tokens of factor * g x^T, in float32: a rounded sum may be longer than its bound.
void addProduct(
    const at::Tensor& weight_OI, const at::Tensor& x_BTI, const at::Tensor& gradient_BTO, const at::Tensor& factors_B)
{
    const at::Tensor scaled = gradient_BTO.to(at::kFloat) * factors_B.view({ -1, 1, 1 });
    gradientOf(weight_OI).addmm_(rowsOf(scaled).t(), rowsOf(x_BTI));
}

/// Squared gradient of the rows of a table, by sample: tokens that look up the same row add up before they are squared.
at::Tensor squaredRows(const at::Tensor& ids_BT, const at::Tensor& gradient_BTD, std::int64_t tableRows)
{
    const std::int64_t samples = ids_BT.size(0);
    const at::Tensor sample_B1 = at::arange(samples, ids_BT.options()).unsqueeze(1);
    const auto [own, places, counts] = at::_unique2((ids_BT + sample_B1 * tableRows).flatten(), true, true, false);
    const at::Tensor sums = at::zeros({ own.size(0), gradient_BTD.size(2) }, gradient_BTD.options())
                                .index_add_(0, places, gradient_BTD.reshape({ -1, gradient_BTD.size(2) }));
    return at::zeros({ samples }, gradient_BTD.options())
        .index_add_(0, own.floor_divide(tableRows), sums.square_().sum(1));
}

} // namespace

/// x W^T whose weight gets no gradient: what came back is kept.
struct PerSamplePass::Linear : public torch::autograd::Function<PerSamplePass::Linear> {
    static at::Tensor forward(
        AutogradContext* context, const at::Tensor& x, const at::Tensor& weight_OI, Product* product)
    {
        context->save_for_backward({ weight_OI });
        context->saved_data["product"] = reinterpret_cast<std::int64_t>(product);
        return at::linear(x, weight_OI);
    }

    static variable_list backward(AutogradContext* context, variable_list gradients)
    {
        auto* product = reinterpret_cast<Product*>(context->saved_data["product"].toInt());
        product->gradient_BTO = gradients[0];
        return { at::matmul(gradients[0], context->get_saved_variables()[0]), at::Tensor(), at::Tensor() };
    }
};

at::Tensor squaredGradients(const at::Tensor& x_BTI, const at::Tensor& gradient_BTO)
{
    const std::int64_t tokens = x_BTI.size(1);
    const std::int64_t in = x_BTI.size(2);
    const std::int64_t out = gradient_BTO.size(2);
    const at::Tensor x = x_BTI.to(at::kFloat);
    const at::Tensor g = gradient_BTO.to(at::kFloat);
    if (tokens * (in + out) <= in * out)
        return (at::bmm(x, x.transpose(1, 2)) * at::bmm(g, g.transpose(1, 2))).sum({ 1, 2 }).clamp_min_(0);
    std::vector<at::Tensor> squares;
    for (std::int64_t sample = 0; sample < x.size(0); ++sample)
        squares.push_back(at::mm(g[sample].t(), x[sample]).square_().sum());
    return at::stack(squares);
}

at::Tensor PerSamplePass::linear(const at::Tensor& x_BTI, const at::Tensor& weight_OI)
{
    const at::ScalarType type = scalarType(precision_);
    const at::Tensor x = x_BTI.to(type);
    Product& product = products_.emplace_back();
    product.weight_OI = weight_OI;
    product.x_BTI = x.detach();
    return Linear::apply(x, weight_OI.detach().to(type), &product);
}

at::Tensor PerSamplePass::copies(const at::Tensor& vector_D, std::int64_t samples, std::int64_t dimensions)
{
    at::Tensor own = vector_D.detach().expand({ samples, vector_D.size(0) }).contiguous();
    own.set_requires_grad(true);
    vectors_.push_back({ vector_D, own });
    std::vector<std::int64_t> shape(static_cast<std::size_t>(dimensions), 1);
    shape.front() = samples;
    shape.back() = vector_D.size(0);
    return own.view(shape);
}

at::Tensor PerSamplePass::lookUp(const at::Tensor& weight_VD, const at::Tensor& ids_BT)
{
    at::Tensor rows = at::embedding(weight_VD.detach(), ids_BT);
    rows.set_requires_grad(true);
    rows_.push_back({ weight_VD, ids_BT.to(at::kLong), rows });
    return rows;
}

std::int64_t PerSamplePass::headGroup() const
{
    const auto& parts = head_.x_BTD.is_cuda() ? kGpuLogits : kCpuLogits;
    const std::int64_t logits = head_.x_BTD.size(1) * head_.weight_VD.size(0);
    return std::clamp<std::int64_t>(parts.piece / std::max<std::int64_t>(logits, 1), 1, head_.x_BTD.size(0));
}

at::Tensor PerSamplePass::headGradients(std::int64_t begin, std::int64_t count, const at::Tensor& losses_BT) const
{
    const at::ScalarType type = scalarType(precision_);
    const at::Tensor labels_BT = head_.labels_BT.narrow(0, begin, count);
    const at::Tensor logits_BTV
        = at::linear(head_.x_BTD.narrow(0, begin, count).to(type), head_.weight_VD.detach().to(type)).to(at::kFloat);
    const std::int64_t vocabulary = logits_BTV.size(2);
    at::Tensor gradients_BTV = at::empty_like(logits_BTV);
    at::Tensor losses = at::empty({ labels_BT.numel() }, logits_BTV.options());
    HeadLoss options;
    options.cap = head_.cap;
    crossEntropy(logits_BTV.view({ -1, vocabulary }), labels_BT.reshape({ -1 }), options, losses,
        gradients_BTV.view({ -1, vocabulary }));
    losses_BT.narrow(0, begin, count).copy_(losses.view(labels_BT.sizes()));
    const at::Tensor learnt_B = labels_BT.ne(kIgnoreLabel).sum(1).clamp_min(1).to(at::kFloat);
    return gradients_BTV.div_(learnt_B.view({ -1, 1, 1 }));
}

at::Tensor PerSamplePass::backward(const at::Tensor& x_BTD, const at::Tensor& weight_VD, const at::Tensor& labels_BT,
    const at::Tensor& inputs_BT, double logitCap)
{
    const at::ScalarType type = scalarType(precision_);
    const std::int64_t samples = x_BTD.size(0);
    const std::int64_t tokens = x_BTD.size(1);
    const auto isTable = [&](const Rows& rows) { return rows.weight_VD.is_same(weight_VD); };
    const bool isTied = std::any_of(rows_.begin(), rows_.end(), isTable);
    head_ = { weight_VD, x_BTD.detach(), labels_BT.to(at::kLong), logitCap, {}, {}, {} };
    at::Tensor losses_BT = at::empty(labels_BT.sizes(), x_BTD.options().dtype(at::kFloat));
    at::Tensor gradX_BTD = at::empty(x_BTD.sizes(), losses_BT.options());
    head_.squares_B = at::zeros({ samples }, losses_BT.options());
    const bool isKept = losses_BT.numel() * weight_VD.size(0) <= kMostLogitsKept;
    if (isKept)
        head_.gradients_BTV = at::empty({ samples, tokens, weight_VD.size(0) }, losses_BT.options());
    if (isTied)
        head_.tied_BTT = at::empty({ samples, tokens, tokens }, losses_BT.options());
    {
        const at::NoGradGuard guard;
        const std::int64_t group = headGroup();
        for (std::int64_t begin = 0; begin < samples; begin += group) {
            const std::int64_t count = std::min(group, samples - begin);
            const auto part = [&](const at::Tensor& all) { return all.narrow(0, begin, count); };
            const at::Tensor gradients = headGradients(begin, count, losses_BT);
            part(gradX_BTD).copy_(at::matmul(gradients.to(type), weight_VD.detach().to(type)));
            if (!weight_VD.requires_grad())
                continue;
            part(head_.squares_B).copy_(squaredGradients(part(head_.x_BTD), gradients));
            if (isKept)
                part(head_.gradients_BTV).copy_(gradients);
            if (isTied)
                part(head_.tied_BTT)
                    .copy_(gradients.gather(
                        2, part(inputs_BT.to(at::kLong)).unsqueeze(1).expand({ count, tokens, tokens })));
        }
    }
    torch::autograd::backward({ x_BTD }, { gradX_BTD.to(x_BTD.scalar_type()) });
    if (!weight_VD.requires_grad())
        head_.weight_VD = at::Tensor();
    return losses_BT;
}

at::Tensor PerSamplePass::norms() const
{
    const at::NoGradGuard guard;
    at::Tensor squares_B = head_.squares_B.clone();
    for (const Product& product : products_)
        squares_B.add_(squaredGradients(product.x_BTI, product.gradient_BTO));
    for (const Vector& vector : vectors_)
        squares_B.add_(gradientOrZeros(vector.copies_BD).square().sum(1));
    for (const Rows& rows : rows_) {
        const at::Tensor gradient = gradientOrZeros(rows.rows_BTD);
        squares_B.add_(squaredRows(rows.ids_BT, gradient, rows.weight_VD.size(0)));
        // (a + b)^2 of a tied table: twice the product of both, which is small without either of them.
        if (head_.tied_BTT.defined() && rows.weight_VD.is_same(head_.weight_VD))
            squares_B.add_(
                (head_.tied_BTT * at::bmm(head_.x_BTD.to(at::kFloat), gradient.transpose(1, 2))).sum({ 1, 2 }), 2.0);
    }
    return squares_B.clamp_min_(0).sqrt_();
}

void PerSamplePass::leaveOut(const at::Tensor& isOut_B)
{
    const at::NoGradGuard guard;
    const auto clear = [&](at::Tensor tensor) {
        std::vector<std::int64_t> shape(static_cast<std::size_t>(tensor.dim()), 1);
        shape.front() = isOut_B.size(0);
        tensor.masked_fill_(isOut_B.view(shape), 0.0);
        return tensor;
    };
    for (Product& product : products_) {
        product.x_BTI = clear(product.x_BTI.clone()); // autograd and other products may hold it too
        product.gradient_BTO = clear(product.gradient_BTO.clone());
    }
    for (Vector& vector : vectors_)
        clear(gradientOrZeros(vector.copies_BD));
    for (Rows& rows : rows_)
        clear(gradientOrZeros(rows.rows_BTD));
    head_.x_BTD = clear(head_.x_BTD.clone());
    if (head_.gradients_BTV.defined())
        clear(head_.gradients_BTV);
}

void PerSamplePass::addScaled(const at::Tensor& factors_B)
{
    const at::NoGradGuard guard;
    for (const Product& product : products_)
        addProduct(product.weight_OI, product.x_BTI, product.gradient_BTO, factors_B);
    for (const Vector& vector : vectors_)
        gradientOf(vector.vector_D).add_((gradientOrZeros(vector.copies_BD) * factors_B.unsqueeze(1)).sum(0));
    for (const Rows& rows : rows_) {
        const at::Tensor scaled = gradientOrZeros(rows.rows_BTD) * factors_B.view({ -1, 1, 1 });
        gradientOf(rows.weight_VD).index_add_(0, rows.ids_BT.flatten(), rowsOf(scaled));
    }
    if (!head_.weight_VD.defined())
        return;
    if (head_.gradients_BTV.defined()) {
        addProduct(head_.weight_VD, head_.x_BTD, head_.gradients_BTV, factors_B);
        return;
    }
    const at::Tensor losses_BT = at::empty(head_.labels_BT.sizes(), factors_B.options());
    const std::int64_t group = headGroup();
    for (std::int64_t begin = 0; begin < factors_B.size(0); begin += group) {
        const std::int64_t count = std::min(group, factors_B.size(0) - begin);
        addProduct(head_.weight_VD, head_.x_BTD.narrow(0, begin, count), headGradients(begin, count, losses_BT),
            factors_B.narrow(0, begin, count));
    }
}

namespace {

constexpr std::int64_t kNoisePiece = 1 << 16; // even; each has a generator of its own, so threads change nothing

/// Box and Muller 1958, in double: pairs from 53-bit numbers reach to 8.5 deviations.
at::Tensor normalPiece(std::int64_t count, std::uint64_t seed)
{
    const std::int64_t pairs = (count + 1) / 2;
    at::Tensor uniform = at::empty({ 2, pairs }, at::kDouble);
    auto* to = uniform.data_ptr<double>();
    Random random(seed);
    for (std::int64_t i = 0; i < 2 * pairs; ++i)
        to[i] = random.uniform();
    const at::Tensor radius = (1.0 - uniform[0]).log_().mul_(-2.0).sqrt_(); // of numbers in (0, 1]
    const at::Tensor angle = uniform[1] * (2.0 * std::numbers::pi);
    return at::stack({ radius * angle.cos(), radius * angle.sin() }).flatten().narrow(0, 0, count);
}

} // namespace

void addNoise(const at::Tensor& flat, double deviation, std::uint64_t seed)
{
    const at::NoGradGuard guard;
    if (!flat.is_cpu()) {
        at::Generator generator = at::globalContext().defaultGenerator(flat.device()).clone();
        generator.set_current_seed(seed);
        at::Tensor noise = at::empty_like(flat);
        flat.add_(noise.normal_(0.0, 1.0, generator), deviation);
        return;
    }
    const std::int64_t pieces = (flat.numel() + kNoisePiece - 1) / kNoisePiece;
    at::parallel_for(0, pieces, 1, [&](std::int64_t begin, std::int64_t end) {
        const at::NoGradGuard own;
        for (std::int64_t piece = begin; piece < end; ++piece) {
            const std::int64_t count = std::min(kNoisePiece, flat.numel() - piece * kNoisePiece);
            const at::Tensor noise = normalPiece(count, mixSeed({ seed, static_cast<std::uint64_t>(piece) }));
            flat.narrow(0, piece * kNoisePiece, count).add_(noise.mul_(deviation).to(at::kFloat));
        }
    });
}

} // namespace furrow
