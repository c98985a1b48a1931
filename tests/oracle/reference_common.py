"""What all references share: weights and tokens from an integer formula, schedules, optimizers written out, digests."""
import math

import torch

STEPS = 20


def pattern(index, salt):
    """Exact in float32 on every machine: an integer hash of (index, salt) mapped to thousandths in [-1, 1]."""
    h = (index * 2654435761 + salt * 40503 + 12345) % 2**32
    h = (h ^ (h >> 15)) * 2246822519 % 2**32
    h ^= h >> 13
    return (h % 2001 - 1000) / 1000.0


def fill_pattern(shapes):
    """Matrices 0.05 * pattern (larger than an initialisation, so that errors show), gains 1 + 0.1 * pattern, biases 0.02 * pattern."""
    parameters = {}
    for name, shape in shapes:
        salt = sum((i + 1) * ord(letter) for i, letter in enumerate(name))
        count = math.prod(shape)
        values = torch.tensor([pattern(i, salt) for i in range(count)], dtype=torch.float64)
        if len(shape) >= 2:
            values = values * 0.05
        elif name.endswith(".weight"):
            values = 1.0 + 0.1 * values
        else:
            values = values * 0.02
        parameters[name] = values.to(torch.float32).view(shape).requires_grad_(True)
    return parameters


def pattern_tokens(step, micro, batch, length, vocabulary, masked):
    """Inputs and labels (inputs shifted by one); every `masked`-th label is -1 when masked > 0."""
    salt = 1000 + step % 3 * 10 + micro
    flat = [int(round(abs(pattern(i, salt)) * 1000)) % vocabulary for i in range(batch * (length + 1))]
    rows = torch.tensor(flat).view(batch, length + 1)
    inputs, labels = rows[:, :-1].contiguous(), rows[:, 1:].clone()
    if masked:
        labels.view(-1)[::masked] = -1
    return inputs, labels


def learning_rate(kind, step, position, peak, floor, warmup, until):
    share = min(max(position / until, 0.0), 1.0)
    rate = peak
    if kind == "cosine":
        rate = floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * share))
    elif kind == "linear":
        rate = peak - (peak - floor) * share
    elif kind == "wsd":
        rate = peak - (peak - floor) * max(0.0, (share - 0.8) / 0.2)
    return rate * (step + 1) / (warmup + 1) if step < warmup else rate


class AtanAdam:
    def __init__(self, groups, betas):
        self.groups, self.betas, self.t, self.state = groups, betas, 0, {}

    def step(self, lr):
        self.t += 1
        b1, b2 = self.betas
        for group in self.groups:
            for w in group["params"]:
                m, v = self.state.setdefault(w, (torch.zeros_like(w), torch.zeros_like(w)))
                m.mul_(b1).add_(w.grad, alpha=1 - b1)
                v.mul_(b2).addcmul_(w.grad, w.grad, value=1 - b2)
                w.data.mul_(1 - lr * group["weight_decay"])
                w.data.sub_(lr / (1 - b1**self.t) * torch.atan2(m, v.sqrt() / math.sqrt(1 - b2**self.t)))


class PlainSgd:
    def __init__(self, groups, momentum):
        self.groups, self.momentum, self.state = groups, momentum, {}

    def step(self, lr):
        for group in self.groups:
            for w in group["params"]:
                buffer = self.state.setdefault(w, torch.zeros_like(w))
                buffer.mul_(self.momentum).add_(w.grad)
                w.data.mul_(1 - lr * group["weight_decay"])
                w.data.sub_(buffer, alpha=lr)


class TorchAdamW:
    def __init__(self, groups, betas, eps):
        self.inner = torch.optim.AdamW(groups, lr=1.0, betas=betas, eps=eps)

    def step(self, lr):
        for group in self.inner.param_groups:
            group["lr"] = lr
        self.inner.step()


class Adam8bit:
    """AdamW whose moments lie as 8-bit codes with one scale for 256 numbers of all parameters in a row, matrices first."""

    def __init__(self, groups, betas, eps):
        self.groups, self.betas, self.eps, self.t = groups, betas, eps, 0
        self.words = [w for group in groups for w in group["params"]]
        self.maps = self.tree(True), self.tree(False)
        blocks = -(-sum(w.numel() for w in self.words) // 256)
        self.mean, self.root = ((torch.zeros(blocks, 256, dtype=torch.long), torch.zeros(blocks, 1)) for _ in range(2))

    @staticmethod
    def tree(signed):
        values = [0.0, 1.0]
        for decade in range(7):
            count = 2**decade * (1 if signed else 2)
            for i in range(count):
                value = 10.0 ** (decade - 6) * (0.1 + 0.9 * (i + 0.5) / count)
                values += [value, -value] if signed else [value]
        return torch.tensor(sorted(values))

    def code(self, values, tree):
        scale = values.abs().amax(1, keepdim=True)
        return torch.bucketize(values / scale.clamp_min(1e-38), (tree[1:] + tree[:-1]) * 0.5, right=True), scale

    def step(self, lr):
        self.t += 1
        b1, b2 = self.betas
        flat = torch.cat([w.grad.flatten() for w in self.words])
        g = torch.nn.functional.pad(flat, (0, -len(flat) % 256)).view(-1, 256)
        mean = torch.lerp(self.maps[0][self.mean[0]] * self.mean[1], g, 1 - b1)
        root = ((self.maps[1][self.root[0]] * self.root[1]) ** 2 * b2 + g * g * (1 - b2)).sqrt()
        self.mean, self.root = self.code(mean, self.maps[0]), self.code(root, self.maps[1])
        update = ((mean / (1 - b1**self.t)) / (root / math.sqrt(1 - b2**self.t) + self.eps)).flatten()
        at = 0
        for group in self.groups:
            for w in group["params"]:
                w.data.mul_(1 - lr * group["weight_decay"])
                w.data.sub_(update[at:at + w.numel()].view_as(w), alpha=lr)
                at += w.numel()


def make_optimizer(settings, parameters):
    groups = [{"params": [w for w in parameters.values() if w.dim() >= 2], "weight_decay": 0.1},
              {"params": [w for w in parameters.values() if w.dim() < 2], "weight_decay": 0.0}]
    kind = settings["kind"]
    if kind == "adamw":
        return TorchAdamW(groups, (0.9, 0.99), 1e-8)
    if kind == "adamw8bit":
        return Adam8bit(groups, (0.9, 0.99), 1e-8)
    return AtanAdam(groups, (0.9, 0.99)) if kind == "adamatan2" else PlainSgd(groups, 0.9)


def tensor_digest(tensor):
    """Sum, 2-norm and a few numbers: enough to notice any difference, small enough to commit."""
    flat = tensor.detach().double().flatten()
    picks = [int(i) for i in torch.linspace(0, len(flat) - 1, min(5, len(flat))).long()]
    return {"sum": float(flat.sum()), "norm": float(flat.norm()), "at": picks, "values": [float(flat[i]) for i in picks]}


def train(case, parameters, loss_sum):
    """20 steps: accumulate, mean per token of the whole accumulated batch, clip, schedule, update."""
    peak, clip, accumulate = case.get("peak_lr", 3e-3), case.get("clip", 1.0), case.get("accumulate", 1)
    optimizer = make_optimizer(case["optimizer"], parameters)
    average = {k: v.detach().clone() for k, v in parameters.items()} if case.get("ema") else None
    losses, norms = [], []
    for step in range(STEPS):
        for w in parameters.values():
            w.grad = None
        parts = [loss_sum(step, micro) for micro in range(accumulate)]
        tokens = sum(count for _, count, _ in parts)
        for part, _, extra in parts:
            ((part if extra is None else part + extra) / tokens).backward()
        losses.append(float(sum(part.detach() for part, _, _ in parts)) / tokens)
        norms.append(float(torch.nn.utils.clip_grad_norm_(parameters.values(), clip)))
        optimizer.step(learning_rate(case.get("schedule", "cosine"), step, float(step), peak, peak / 10, 4, float(STEPS)))
        if average is not None:
            for k, w in parameters.items():
                average[k].lerp_(w.detach(), 1 - case["ema"])
    result = {"losses": losses, "norms": norms, "weights": {k: tensor_digest(v) for k, v in parameters.items()}}
    if average is not None:
        result["average"] = {k: tensor_digest(v) for k, v in average.items()}
    return result
