#include "core/config/settings/setting_table.h"

namespace furrow {

using C = RunConfig;
using enum ResumeRule;

void addTrainingSettings(SettingTable& table)
{
    table.group(SettingGroup::Training);

    table.choice("objective", &C::objective)
        .label("Trained for")
        .resume(Refused)
        .help(
            "next_token: to go on with texts and conversations. dpo: direct preference optimisation (arXiv:2305.18290); the rows are pairs of a chosen and a rejected answer, and the model learns to make the chosen one likelier than its start weights make it, as against the other one. It needs lora_rank: the start weights, with the pairs of LoRA switched off, are the reference.");

    table.real("dpo_beta", &C::dpoBeta)
        .label("DPO beta")
        .range(0.0001, 100)
        .resume(Refused)
        .help(
            "With objective dpo: how closely the model is held to its start weights. The smaller, the further it may go. 0.05 to 0.5 is usual; with dpo_normalise length 2 to 10.");

    table.choice("dpo_normalise", &C::dpoNormalise)
        .label("DPO by length")
        .resume(Refused)
        .help(
            "With objective dpo: what is compared of two answers. none: the log-probability of the whole answer against that of the reference (loss_type sigmoid of trl). length: the same divided by the tokens of the answer, so that a long answer does not count for its length (sigmoid_norm of trl).");

    table.integer("batch_size", &C::batchSize)
        .label("Batch")
        .unit("sequences")
        .range(1, 65536)
        .resume(Unsafe)
        .basic()
        .help("Windows in one micro-step of one worker.");

    table.integer("grad_accum", &C::gradAccum)
        .label("Accumulation")
        .unit("micro-steps")
        .range(1, 4096)
        .resume(Unsafe)
        .basic()
        .help("Micro-steps whose gradients make one optimiser step.");

    table.real("lr", &C::lr)
        .label("Peak learning rate")
        .range(0, 10)
        .resume(Unsafe)
        .basic()
        .help("Learning rate after warm-up.");

    table.real("min_lr", &C::minLr)
        .label("Final learning rate")
        .range(0, 10)
        .resume(Unsafe)
        .help("Where the schedule ends.");

    table.integer("warmup_steps", &C::warmupSteps)
        .label("Warm-up")
        .unit("steps")
        .range(0, 10'000'000)
        .resume(Unsafe)
        .basic()
        .help("Own optimiser steps of a worker over which the rate rises from 0.");

    table.choice("schedule", &C::schedule)
        .label("Schedule")
        .resume(Unsafe)
        .basic()
        .help(
            "How the rate falls after warm-up. It follows the tokens of the whole run, so all workers are at the same place.");

    table.integer("decay_tokens", &C::decayTokens)
        .label("Schedule length")
        .unit("tokens")
        .atLeast(0)
        .zeroMeans("as the stopping rules or the epochs say")
        .resume(Unsafe)
        .help("Tokens of the run at which the final rate is reached.");

    table.choice("precision", &C::precision)
        .label("Precision")
        .resume(Unsafe)
        .basic()
        .help(
            "Of matrix products; weights are float32. auto: bf16 on GPUs, fp32 on CPUs; bf16 pays on AMD processors with AVX512-BF16. fp16 needs a GPU and scales the loss by itself.");

    table.flag("tf32", &C::tf32)
        .label("TF32")
        .resume(Unsafe)
        .help(
            "On a GPU, compute fp32 products with TF32: faster, with 10 bits of precision. Deterministic runs do without.");

    table.choice("attention", &C::attention)
        .label("Attention kernel")
        .resume(Unsafe)
        .help("Which kernel computes attention. auto: the fastest one that fits.");

    table.flag("cuda_graph", &C::cudaGraph)
        .label("CUDA graph")
        .resume(Unsafe)
        .help(
            "On a GPU, replay what a micro-batch does as one CUDA graph: fewer launches, more memory. It is compared with an ordinary pass before it is used. Not for mixture of experts, recomputed activations, HRM, preferences and data-parallel training.");

    table.flag("recompute", &C::recompute)
        .label("Recompute activations")
        .resume(Safe)
        .help(
            "Compute each block again in backward and keep its inputs only: much less memory for about a third more time.");

    table.flag("adaptive_lr", &C::adaptiveLr)
        .label("Adaptive rate")
        .resume(Unsafe)
        .help(
            "Lower the rate by 30 % whenever the mean loss of 64 steps is clearly above that of the 64 before, and raise it again while it falls. Stays within 10 to 100 % of the schedule; each change is an event.");

    table.real("ema_decay", &C::emaDecay)
        .label("Averaged weights")
        .range(0, 0.999999)
        .zeroMeans("none")
        .resume(Refused)
        .help("Keep a moving average of the weights with this decay; evaluation, samples and exports use it.");
}

void addOptimiserSettings(SettingTable& table)
{
    table.group(SettingGroup::Optimiser);

    table.choice("optimizer", &C::optimizer)
        .label("Optimiser")
        .resume(Refused)
        .help(
            "adamw, adamw8bit (its moments take a quarter of the memory), adamatan2 (no epsilon, scale free) or sgd with momentum beta1.");

    table.real("weight_decay", &C::weightDecay)
        .label("Weight decay")
        .range(0, 10)
        .resume(Unsafe)
        .help("Decoupled, on matrices only.");

    table.real("beta1", &C::beta1)
        .label("Beta 1")
        .range(0, 0.99999)
        .resume(Unsafe)
        .help("Decay of the mean of gradients.");

    table.real("beta2", &C::beta2)
        .label("Beta 2")
        .range(0, 0.99999)
        .resume(Unsafe)
        .help("Decay of the mean of squared gradients.");

    table.real("epsilon", &C::epsilon)
        .label("Epsilon")
        .range(0, 1)
        .resume(Unsafe)
        .help("Added to the root of the second moment.");

    table.real("clip", &C::clip)
        .label("Gradient clip")
        .range(0, 1e6)
        .zeroMeans("no clipping")
        .resume(Unsafe)
        .help("Largest norm of the gradient.");

    table.integer("nan_limit", &C::nanLimit)
        .label("Bad steps, at most")
        .unit("steps")
        .range(1, 10000)
        .resume(Safe)
        .help("Steps in a row with NaN or Inf, each left out, before the worker goes back to its last checkpoint.");
}

void addEvaluationSettings(SettingTable& table)
{
    table.group(SettingGroup::Evaluation);

    table.integer("eval_steps", &C::evalSteps)
        .label("Evaluate every")
        .unit("steps")
        .atLeast(0)
        .zeroMeans("only at the end")
        .resume(Safe)
        .basic()
        .help("Own steps of a worker between two evaluations on held-out text.");

    table.integer("eval_batches", &C::evalBatches)
        .label("Batches")
        .unit("batches")
        .range(1, 100000)
        .resume(Safe)
        .help("Batches of one evaluation, at most; always the same ones.");

    table.text("eval_tasks", &C::evalTasks)
        .label("Questions")
        .resume(Refused)
        .help(
            "A JSONL file of questions with known answers, a multiple choice (question, choices, gold) or written (question, answer), that each evaluation puts to the model too, as 'furrowctl eval --tasks' does afterwards; the share of right answers is told beside the loss. The run keeps a copy. Empty: none.");

    table.integer("eval_tasks_limit", &C::evalTasksLimit)
        .label("Questions, at most")
        .unit("questions")
        .atLeast(0)
        .zeroMeans("all")
        .resume(Safe)
        .help("First questions of eval_tasks that one evaluation asks. Training waits meanwhile.");

    table.integer("sample_steps", &C::sampleSteps)
        .label("Sample every")
        .unit("steps")
        .atLeast(0)
        .zeroMeans("never")
        .resume(Safe)
        .help("Own steps of worker 0 between two text samples.");

    table.text("sample_prompt", &C::samplePrompt)
        .label("Prompt")
        .resume(Safe)
        .help("Beginning of the text samples; empty: a text of its own.");

    table.real("expected_loss", &C::expectedLoss)
        .label("Expected loss")
        .range(0.01, 10)
        .resume(Safe)
        .help(
            "What fresh weights are expected to need for new text after the first megabyte, as a multiple of what zstd needs for it. Learnt from runs of the presets on prose, code, licences, tables and logs.");

    table.real("expected_loss_fall", &C::expectedLossFall)
        .label("Expected loss, fall")
        .range(0, 1)
        .resume(Safe)
        .help("How the expected loss falls with the text that was trained: megabytes to the power of minus this.");

    table.real("loss_alarm", &C::lossAlarm)
        .label("Loss alarm below")
        .range(0, 1)
        .zeroMeans("never")
        .resume(Safe)
        .help(
            "An alarm is raised when the loss on new text lies below this share of the expected one: labels may not be shifted, or the data contains copies of itself.");
}

void addMergingSettings(SettingTable& table)
{
    table.group(SettingGroup::Merging);

    table.choice("merge", &C::merge)
        .label("Merge")
        .resume(Safe)
        .basic()
        .help(
            "How the replicas of the workers become one model: average of weights by tokens, DiLoCo (average with outer momentum; the last round keeps what evaluates best of outer step and plain average), or none: N models.");

    table.integer("merge_tokens", &C::mergeTokens)
        .label("Merge every")
        .unit("tokens")
        .atLeast(0)
        .zeroMeans("ten times an epoch")
        .resume(Safe)
        .basic()
        .help(
            "Tokens of the run between two merges. With 0 none comes before each worker has done 250 steps. There is always one at the end.");

    table.real("outer_lr", &C::outerLr)
        .label("Outer rate")
        .range(0, 10)
        .resume(Safe)
        .help("DiLoCo: rate of the outer step.");

    table.real("outer_momentum", &C::outerMomentum)
        .label("Outer momentum")
        .range(0, 0.9999)
        .resume(Safe)
        .help("DiLoCo: Nesterov momentum of the outer step.");
}

void addSeedSettings(SettingTable& table)
{
    table.group(SettingGroup::Seeds);

    table.integer("seed", &C::seed)
        .label("Seed")
        .range(0, 4294967295.0)
        .resume(Refused)
        .basic()
        .help("Of weights, order and sampling.");

    table.flag("deterministic", &C::deterministic)
        .label("Deterministic")
        .resume(Safe)
        .help("Same claims, same bytes on a GPU too. Slower there; the CPU is always deterministic.");
}

} // namespace furrow
