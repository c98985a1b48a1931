#include "core/config/settings/setting_table.h"

namespace furrow {

using C = RunConfig;
using enum ResumeRule;

void addModelSettings(SettingTable& table)
{
    table.group(SettingGroup::Model);

    table.choice("architecture", &C::architecture)
        .label("Architecture")
        .resume(Refused)
        .basic()
        .help("gpt: a transformer as GPT-2 or Llama. hrm: the hierarchical reasoning model.");

    table.integer("layers", &C::layers)
        .label("Layers")
        .range(1, 512)
        .resume(Refused)
        .basic()
        .help("Transformer blocks; for hrm the blocks of each of the two modules.");

    table.integer("width", &C::width)
        .label("Width")
        .range(8, 65536)
        .resume(Refused)
        .basic()
        .help("Size of the residual stream. The number of heads must divide it.");

    table.integer("heads", &C::heads).label("Heads").range(1, 1024).resume(Refused).basic().help("Attention heads.");

    table.integer("kv_heads", &C::kvHeads)
        .label("Key-value heads")
        .range(0, 1024)
        .zeroMeans("as many as heads")
        .resume(Refused)
        .help("Heads of keys and values in grouped-query attention.");

    table.integer("ff_width", &C::ffWidth)
        .label("Feed-forward width")
        .range(0, 1 << 20)
        .zeroMeans("the usual one for the activation")
        .resume(Refused)
        .help("Inner size of the feed-forward part.");

    table.integer("seq_len", &C::seqLen)
        .label("Context")
        .unit("tokens")
        .range(2, 1 << 20)
        .resume(Refused)
        .basic()
        .help("Tokens in one training window. With init_from at most the context of that model, which stays as it is.");

    table.choice("positions", &C::positions).label("Positions").resume(Refused).help("learned as in GPT-2, or rotary.");

    table.real("rope_theta", &C::ropeTheta)
        .label("Rotary base")
        .range(1, 1e9)
        .resume(Refused)
        .help("Base of the rotary angles: 10,000 in most models, 500,000 in Llama 3.");

    table.choice("norm", &C::norm).label("Norm").resume(Refused).help("Normalisation before each part of a block.");

    table.real("norm_epsilon", &C::normEpsilon)
        .label("Norm epsilon")
        .range(1e-12, 1)
        .resume(Refused)
        .help("Added to the variance in norms. 1e-5 in GPT-2, 1e-5 or 1e-6 in Llamas.");

    table.choice("activation", &C::activation)
        .label("Activation")
        .resume(Refused)
        .help("Inside the feed-forward part; the ones with glu have a gate. gelu is the form with tanh.");

    table.flag("bias", &C::bias)
        .label("Biases")
        .resume(Refused)
        .help("Bias vectors in linear layers and norms, as in GPT-2.");

    table.flag("tied_head", &C::tiedHead)
        .label("Tied head")
        .resume(Refused)
        .help("The output layer shares the embedding matrix.");

    table.real("dropout", &C::dropout)
        .label("Dropout")
        .range(0, 0.9)
        .resume(Unsafe)
        .help("Probability with which activations are dropped while training.");

    table.integer("moe_experts", &C::moeExperts)
        .label("Experts")
        .range(0, 256)
        .zeroMeans("one for all tokens")
        .resume(Refused)
        .help("Feed-forward parts to choose from in each block (mixture of experts).");

    table.integer("moe_active", &C::moeActive)
        .label("Active experts")
        .range(1, 256)
        .resume(Refused)
        .help("Experts that each token visits.");

    table.integer("hrm_low_layers", &C::hrmLowLayers)
        .label("Low layers")
        .range(0, 512)
        .zeroMeans("as many as layers")
        .resume(Refused)
        .help("hrm: blocks of the fast module.");

    table.real("hrm_expansion", &C::hrmExpansion)
        .label("Expansion")
        .range(0.1, 64)
        .resume(Refused)
        .help("hrm: size of the feed-forward part as a multiple of the width, before the factor 2/3 of SwiGLU.");

    table.integer("hrm_high_cycles", &C::hrmHighCycles)
        .label("High cycles")
        .range(1, 100)
        .resume(Refused)
        .help("hrm: turns of the slow module in a segment.");

    table.integer("hrm_low_cycles", &C::hrmLowCycles)
        .label("Low cycles")
        .range(1, 100)
        .resume(Refused)
        .help("hrm: turns of the fast module in each turn of the slow one.");

    table.integer("hrm_segments", &C::hrmSegments)
        .label("Segments, at most")
        .unit("segments")
        .range(1, 1000)
        .resume(Refused)
        .help("hrm: segments after which a row halts in any case.");

    table.real("hrm_exploration", &C::hrmExploration)
        .label("Exploration")
        .range(0, 1)
        .resume(Unsafe)
        .help("hrm: share of rows that must think for a random number of segments while training.");

    table.text("shape", &C::shape)
        .label("Shape")
        .resume(Refused)
        .help(
            "The whole shape of a model as JSON, for what has no setting of its own; init_from fills it in. Empty: the settings above.");

    table.text("init_from", &C::initFrom)
        .label("Start from")
        .resume(Refused)
        .help(
            "A checkpoint folder of a run, a Hugging Face folder with model.safetensors, a GGUF, or a model of the hub (hf://owner/name, which the command line brings to this machine first), whose weights the run starts from. Shape and tokenizer are taken from there. Empty: fresh weights.");

    table.choice("parent_chunks", &C::parentChunks)
        .label("Chunks of the parent")
        .resume(Refused)
        .help(
            "With init_from of a run on the same data: train everything in a new pass (again), or leave out of the first epoch what those weights have seen in a pass that was not over (skip).");

    table.integer("lora_rank", &C::loraRank)
        .label("LoRA rank")
        .range(0, 4096)
        .zeroMeans("train all weights")
        .resume(Refused)
        .help(
            "Train only a pair of small matrices beside each linear layer and keep the weights of init_from as they are.");

    table.real("lora_alpha", &C::loraAlpha)
        .label("LoRA alpha")
        .range(0, 65536)
        .zeroMeans("twice the rank")
        .resume(Refused)
        .help("The pairs are scaled by alpha / rank.");
}

} // namespace furrow
