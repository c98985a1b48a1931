#include "core/config/schema.h"

#include <algorithm>

namespace furrow {

namespace {

using C = RunConfig;
using G = SettingGroup;
constexpr auto Safe = ResumeRule::Safe;
constexpr auto Unsafe = ResumeRule::Unsafe;
constexpr auto Refused = ResumeRule::Refused;
constexpr double kNoLimit = -1; // as `max` below `min`

// Order here is the order of form, help and documentation.
std::vector<Setting> makeSettings()
{
    std::vector<Setting> all;
    const auto add = [&all](Setting setting) { all.push_back(std::move(setting)); };

    add({ "name", "Name", G::Run, &C::name, "", 0, 0, {}, Refused, true,
        "What the run is called in the library and in its folder name. Empty: made from preset and data." });

    add({ "data", "Source", G::Data, &C::data, "", 0, 0, {}, Refused, true,
        "Files, folders or globs with text (txt, csv, tsv, jsonl, json, parquet, arrow, warc; plain, .gz, .zst, .xz or .bz2; all but compressed Parquet and Arrow also inside .zip and .tar), or hf://owner/name[:config][:split][@revision]." });
    add({ "data_mode", "Rows from", G::Data, &C::dataMode, "", 0, 0,
        { "auto", "lines", "paragraphs", "span", "stream" }, Refused, false,
        "What a sample of a plain text file is: a line, a paragraph between blank lines, or a span of span_bytes with newlines kept. 'stream' takes random windows of one file and keeps no ledger; it exists for comparisons with other programs. 'auto' is lines." });
    add({ "text_column", "Text column", G::Data, &C::textColumn, "", 0, 0, {}, Refused, true,
        "Column that holds the text in csv, jsonl, json, parquet, arrow and WebDataset; meta.text, paragraphs[] and messages[].content name what is nested, and the texts of a list are joined by line breaks. In one JSON document data[].text names the list whose elements are rows. Empty: the first of text, content, sentence, document, article, body, whatever their case, else the first column with text." });
    add({ "encoding", "Encoding", G::Data, &C::encoding, "", 0, 0, {}, Refused, false,
        "How the characters of text files are stored: utf-8, windows-1252, utf-16le, shift_jis, gb18030 or any other name ICU knows. auto: found from the bytes and said; what is not UTF-8 is converted." });
    add({ "csv_delimiter", "CSV delimiter", G::Data, &C::csvDelimiter, "", 0, 0, {}, Refused, false,
        "What stands between the fields of csv files: one character, or comma, semicolon, tab, pipe, space. auto: found from the first records." });
    add({ "csv_quote", "CSV quote", G::Data, &C::csvQuote, "", 0, 0, {}, Refused, false,
        "What stands around fields of csv files that hold delimiters or line ends: one character, or none. auto: the double quote." });
    add({ "csv_escape", "CSV escape", G::Data, &C::csvEscape, "", 0, 0, {}, Refused, false,
        "A character that takes the meaning from the one behind it in csv files, or none (a quote inside quotes is doubled). auto: a backslash where the first records show it." });
    add({ "csv_header", "CSV header", G::Data, &C::csvHeader, "", 0, 0, {}, Refused, false,
        "The first record of a csv file names its columns. Off: it is data, and the columns are called 1, 2, 3." });
    add({ "tokenizer", "Tokenizer", G::Data, &C::tokenizer, "", 0, 0, {}, Refused, true,
        "byte, char (characters found in the data), gpt2, or the path of a tokenizer.json or sentencepiece .model." });
    add({ "samples_per_block", "Samples per block", G::Data, &C::samplesPerBlock, "samples", 1, 10'000'000, {}, Refused,
        true,
        "Consecutive samples that are prepared as one unit. Lowered by itself for small data, so that there are some blocks to shuffle." });
    add({ "chunk_samples", "Chunk size", G::Data, &C::chunkSamples, "samples", 1, 1'000'000, {}, Refused, true,
        "Samples that one worker claims at a time. It does not change GPU memory: batch size times sequence length does." });
    add({ "chunk_bytes", "Chunk size, at most", G::Data, &C::chunkBytes, "bytes", 1024, 1 << 30, {}, Refused, false,
        "A chunk ends early when its text would become larger than this." });
    add({ "span_bytes", "Span", G::Data, &C::spanBytes, "bytes", 16, 1 << 20, {}, Refused, false,
        "Length of a sample in data mode span." });
    add({ "held_out_percent", "Held out", G::Data, &C::heldOutPercent, "%", 0, 50, {}, Refused, false,
        "Share of the samples kept for evaluation, chosen by a hash of their text, so that equal texts fall on the same side." });
    add({ "eval_data", "Evaluation text", G::Data, &C::evalData, "", 0, 0, {}, Refused, false,
        "A file, folder or hub split to evaluate on, such as hf://wikitext:wikitext-2-raw-v1:validation. Nothing of the training data is held out then." });
    add({ "min_chars", "Shortest sample", G::Data, &C::minChars, "characters", 0, kNoLimit, {}, Refused, false,
        "Shorter samples are filtered, counted and never trained." });
    add({ "max_chars", "Longest sample", G::Data, &C::maxChars, "characters", 0, kNoLimit, {}, Refused, false,
        "Longer samples are filtered and counted. 0: no limit." });
    add({ "ascii_only", "ASCII only", G::Data, &C::asciiOnly, "", 0, 0, {}, Refused, false,
        "Filter samples with any other character." });
    add({ "duplicates", "Duplicate texts", G::Data, &C::duplicates, "", 0, 0, { "report", "skip" }, Refused, false,
        "report: texts that occur again are trained, and counted inside a block. skip: of equal texts in the whole data set only the first one is trained, the others are counted and left out. For that all data is read once before training begins; what comes from the hub is downloaded then, and once more where the cache is too small to keep it." });
    add({ "bad_files", "Changed or damaged files", G::Data, &C::badFiles, "", 0, 0, { "stop", "leave_out" }, Safe,
        false,
        "What happens when a file of the data is not any more what it was when the run was made, or its rest cannot be read: the run stops and says so (stop), or what of the file is not prepared yet is left out, by name (leave_out)." });
    add({ "max_unreadable_percent", "Unreadable rows, at most", G::Data, &C::maxUnreadablePercent, "%", 0, 100, {},
        Safe, false,
        "The run stops when more of the rows read so far cannot be read, and at least ten of them. 100: no limit." });
    add({ "shuffle", "Shuffle", G::Data, &C::shuffle, "", 0, 0, {}, Refused, false,
        "Claim chunks in an order drawn from seed and epoch; off: in source order." });
    add({ "shuffle_window_blocks", "Shuffle window", G::Data, &C::shuffleWindowBlocks, "blocks", 1, 4096, {}, Refused,
        false,
        "Chunks are shuffled inside groups of this many blocks: consecutive ones in the first epoch, blocks from anywhere in later ones. About two groups are kept prepared. From 24 on the order mixes within 5 % of a full shuffle." });
    add({ "start_at", "Start at", G::Data, &C::startAt, "", 0, 0, {}, Refused, false,
        "BLOCK:CHUNK, both from 0: the first epoch begins with this chunk, goes on with what lies behind it in the data and ends with what lies before it, so nothing is left out. Both parts are shuffled as usual; later epochs are as without it. The data is looked through up to there before training begins. Empty: at the beginning." });
    add({ "start_sample", "First sample", G::Data, &C::startSample, "samples", 0, kNoLimit, {}, Refused, false,
        "Skip this many samples at the start of each source (of its fraction). They do not belong to the epoch." });
    add({ "max_samples", "Samples, at most", G::Data, &C::maxSamples, "samples", 0, kNoLimit, {}, Refused, false,
        "Use only this many samples of each source. 0: all." });
    add({ "fraction", "Fraction", G::Data, &C::fraction, "", 0.000001, 1, {}, Refused, false,
        "Use only this share of each source, drawn with the seed: row by row in small files, else in stretches (row groups of Parquet, 64 KiB of text of the hub), so that the rest need not be read or downloaded." });
    add({ "data_weights", "Weights", G::Data, &C::dataWeights, "", 0, 0, {}, Refused, false,
        "With several sources: a number for each, how much text of it comes first in the first epoch relative to the others. It does not change how often a source is trained. Empty: sources end together." });
    add({ "exclude", "Leave out", G::Data, &C::exclude, "", 0, 0, {}, Refused, false,
        "A file that names what is not trained, one entry a line: chunk BLOCK:COLUMN, sample FINGERPRINT, pattern REGEX. It is counted and shown as excluded." });
    add({ "cache_gib", "Cache", G::Data, &C::cacheGiB, "GiB", 0.001, 100000, {}, Safe, false,
        "Disk that prepared blocks and downloads of this workspace may take." });
    add({ "prepare_ahead_blocks", "Prepare ahead", G::Data, &C::prepareAheadBlocks, "blocks", 1, 256, {}, Safe, false,
        "Blocks that are prepared before a worker asks for them." });
    add({ "transfers", "Transfers", G::Data, &C::transfers, "", 1, 16, {}, Safe, false,
        "Ranges of a file that the feeder of a run fetches from a server at once. More than a few are of use on slow or distant connections only, and a server may refuse them." });

    add({ "architecture", "Architecture", G::Model, &C::architecture, "", 0, 0, { "gpt", "hrm" }, Refused, true,
        "gpt: a transformer as GPT-2 or Llama. hrm: the hierarchical reasoning model." });
    add({ "layers", "Layers", G::Model, &C::layers, "", 1, 512, {}, Refused, true,
        "Transformer blocks; for hrm the blocks of each of the two modules." });
    add({ "width", "Width", G::Model, &C::width, "", 8, 65536, {}, Refused, true,
        "Size of the residual stream. The number of heads must divide it." });
    add({ "heads", "Heads", G::Model, &C::heads, "", 1, 1024, {}, Refused, true, "Attention heads." });
    add({ "kv_heads", "Key-value heads", G::Model, &C::kvHeads, "", 0, 1024, {}, Refused, false,
        "Heads of keys and values in grouped-query attention. 0: as many as heads." });
    add({ "ff_width", "Feed-forward width", G::Model, &C::ffWidth, "", 0, 1 << 20, {}, Refused, false,
        "Inner size of the feed-forward part. 0: the usual one for the activation." });
    add({ "seq_len", "Context", G::Model, &C::seqLen, "tokens", 2, 1 << 20, {}, Refused, true,
        "Tokens in one training window." });
    add({ "positions", "Positions", G::Model, &C::positions, "", 0, 0, { "learned", "rope" }, Refused, false,
        "learned as in GPT-2, or rotary." });
    add({ "rope_theta", "Rotary base", G::Model, &C::ropeTheta, "", 1, 1e9, {}, Refused, false,
        "Base of the rotary angles: 10,000 in most models, 500,000 in Llama 3." });
    add({ "norm", "Norm", G::Model, &C::norm, "", 0, 0, { "layernorm", "rmsnorm" }, Refused, false,
        "Normalisation before each part of a block." });
    add({ "norm_epsilon", "Norm epsilon", G::Model, &C::normEpsilon, "", 1e-12, 1, {}, Refused, false,
        "Added to the variance in norms. 1e-5 in GPT-2, 1e-5 or 1e-6 in Llamas." });
    add({ "activation", "Activation", G::Model, &C::activation, "", 0, 0, { "gelu", "swiglu" }, Refused, false,
        "Inside the feed-forward part." });
    add({ "bias", "Biases", G::Model, &C::bias, "", 0, 0, {}, Refused, false,
        "Bias vectors in linear layers and norms, as in GPT-2." });
    add({ "tied_head", "Tied head", G::Model, &C::tiedHead, "", 0, 0, {}, Refused, false,
        "The output layer shares the embedding matrix." });
    add({ "dropout", "Dropout", G::Model, &C::dropout, "", 0, 0.9, {}, Unsafe, false,
        "Probability with which activations are dropped while training." });
    add({ "moe_experts", "Experts", G::Model, &C::moeExperts, "", 0, 256, {}, Refused, false,
        "Feed-forward parts to choose from in each block (mixture of experts). 0: one, for all tokens." });
    add({ "moe_active", "Active experts", G::Model, &C::moeActive, "", 1, 256, {}, Refused, false,
        "Experts that each token visits." });
    add({ "hrm_low_layers", "Low layers", G::Model, &C::hrmLowLayers, "", 0, 512, {}, Refused, false,
        "hrm: blocks of the fast module. 0: as many as layers." });
    add({ "hrm_expansion", "Expansion", G::Model, &C::hrmExpansion, "", 0.1, 64, {}, Refused, false,
        "hrm: size of the feed-forward part as a multiple of the width, before the factor 2/3 of SwiGLU." });
    add({ "hrm_high_cycles", "High cycles", G::Model, &C::hrmHighCycles, "", 1, 100, {}, Refused, false,
        "hrm: turns of the slow module in a segment." });
    add({ "hrm_low_cycles", "Low cycles", G::Model, &C::hrmLowCycles, "", 1, 100, {}, Refused, false,
        "hrm: turns of the fast module in each turn of the slow one." });
    add({ "hrm_segments", "Segments, at most", G::Model, &C::hrmSegments, "segments", 1, 1000, {}, Refused, false,
        "hrm: segments after which a row halts in any case." });
    add({ "hrm_exploration", "Exploration", G::Model, &C::hrmExploration, "", 0, 1, {}, Unsafe, false,
        "hrm: share of rows that must think for a random number of segments while training." });
    add({ "init_from", "Start from", G::Model, &C::initFrom, "", 0, 0, {}, Refused, false,
        "A checkpoint folder of a run, or a Hugging Face folder with model.safetensors, whose weights the run starts from. Empty: fresh weights." });
    add({ "parent_chunks", "Chunks of the parent", G::Model, &C::parentChunks, "", 0, 0, { "again", "skip" }, Refused,
        false,
        "With init_from of a run on the same data: train everything in a new pass (again), or leave out of the first epoch what those weights have seen in a pass that was not over (skip)." });
    add({ "lora_rank", "LoRA rank", G::Model, &C::loraRank, "", 0, 4096, {}, Refused, false,
        "Train only a pair of small matrices beside each linear layer and keep the weights of init_from as they are. 0: train all weights." });
    add({ "lora_alpha", "LoRA alpha", G::Model, &C::loraAlpha, "", 0, 65536, {}, Refused, false,
        "The pairs are scaled by alpha / rank. 0: twice the rank." });

    add({ "batch_size", "Batch", G::Training, &C::batchSize, "sequences", 1, 65536, {}, Unsafe, true,
        "Windows in one micro-step of one worker." });
    add({ "grad_accum", "Accumulation", G::Training, &C::gradAccum, "micro-steps", 1, 4096, {}, Unsafe, true,
        "Micro-steps whose gradients make one optimiser step." });
    add({ "lr", "Peak learning rate", G::Training, &C::lr, "", 0, 10, {}, Unsafe, true,
        "Learning rate after warm-up." });
    add({ "min_lr", "Final learning rate", G::Training, &C::minLr, "", 0, 10, {}, Unsafe, false,
        "Where the schedule ends." });
    add({ "warmup_steps", "Warm-up", G::Training, &C::warmupSteps, "steps", 0, 10'000'000, {}, Unsafe, true,
        "Own optimiser steps of a worker over which the rate rises from 0." });
    add({ "schedule", "Schedule", G::Training, &C::schedule, "", 0, 0, { "cosine", "linear", "constant", "wsd" },
        Unsafe, true,
        "How the rate falls after warm-up. It follows the tokens of the whole run, so all workers are at the same place." });
    add({ "decay_tokens", "Schedule length", G::Training, &C::decayTokens, "tokens", 0, kNoLimit, {}, Unsafe, false,
        "Tokens of the run at which the final rate is reached. 0: as the stopping rules say, or the tokens of the epochs when they are known." });
    add({ "precision", "Precision", G::Training, &C::precision, "", 0, 0, { "auto", "fp32", "bf16", "fp16" }, Unsafe,
        true,
        "Of matrix products; weights are float32. auto: bf16 on GPUs, fp32 on CPUs; bf16 pays on AMD processors with AVX512-BF16. fp16 needs a GPU and scales the loss by itself." });
    add({ "tf32", "TF32", G::Training, &C::tf32, "", 0, 0, {}, Unsafe, false,
        "On a GPU, compute fp32 products with TF32: faster, with 10 bits of precision. Deterministic runs do without." });
    add({ "attention", "Attention kernel", G::Training, &C::attention, "", 0, 0,
        { "auto", "flash", "efficient", "math" }, Unsafe, false,
        "Which kernel computes attention. auto: the fastest one that fits." });
    add({ "cuda_graph", "CUDA graph", G::Training, &C::cudaGraph, "", 0, 0, {}, Unsafe, false,
        "On a GPU, replay what a micro-batch does as one CUDA graph: fewer launches, more memory. It is compared with an ordinary pass before it is used. Not for mixture of experts, recomputed activations, HRM and data-parallel training." });
    add({ "recompute", "Recompute activations", G::Training, &C::recompute, "", 0, 0, {}, Safe, false,
        "Compute each block again in backward and keep its inputs only: much less memory for about a third more time." });
    add({ "adaptive_lr", "Adaptive rate", G::Training, &C::adaptiveLr, "", 0, 0, {}, Unsafe, false,
        "Lower the rate by 30 % whenever the mean loss of 64 steps is clearly above that of the 64 before, and raise it again while it falls. Stays within 10 to 100 % of the schedule; each change is an event." });
    add({ "ema_decay", "Averaged weights", G::Training, &C::emaDecay, "", 0, 0.999999, {}, Refused, false,
        "Keep a moving average of the weights with this decay; evaluation, samples and exports use it. 0: none." });

    add({ "devices", "Devices", G::Devices, &C::devices, "", 0, 0, {}, Safe, true,
        "auto (all GPUs, else the CPU), a list of GPU numbers or UUIDs, or cpu:2 for two workers on the CPU." });
    add({ "workers", "Workers", G::Devices, &C::workers, "", 0, 256, {}, Safe, true,
        "Number of workers. 0: one for each device; on the CPU two, or one when they are never merged." });
    add({ "threads", "Threads a worker", G::Devices, &C::threads, "", 0, 1024, {}, Safe, false,
        "CPU threads of one worker. 0: cores divided by workers." });
    add({ "parallel", "Workers train", G::Devices, &C::parallel, "", 0, 0, { "independent", "data" }, Unsafe, false,
        "independent: each worker trains its own chunks and its own copy of the model, merged from time to time. data: all workers train one model; each step is split over them, as if one worker had a batch so many times as large." });
    add({ "rank_timeout", "Missing worker", G::Devices, &C::rankTimeout, "seconds", 1, 86400, {}, Safe, false,
        "With parallel data: how long the workers wait for one that does not take part in a step. Then all of them end, name it, and start again together from the last checkpoint." });
    add({ "max_restarts", "Restarts, at most", G::Devices, &C::maxRestarts, "", 0, 1000, {}, Safe, false,
        "How often a worker that died is started again in one attempt." });

    add({ "epochs", "Epochs", G::StopAndSave, &C::epochs, "epochs", 1, 100000, {}, Safe, true,
        "Passes over the data. The first stopping rule that is reached ends the run." });
    add({ "steps", "Steps", G::StopAndSave, &C::steps, "steps", 0, kNoLimit, {}, Safe, true,
        "Stop after this many optimiser steps, summed over the workers. 0: no limit." });
    add({ "tokens", "Tokens", G::StopAndSave, &C::tokens, "tokens", 0, kNoLimit, {}, Safe, false,
        "Stop after this many trained tokens. 0: no limit." });
    add({ "hours", "Hours", G::StopAndSave, &C::hours, "hours", 0, 100000, {}, Safe, false,
        "Stop after this much active time. 0: no limit." });
    add({ "stop_after_epoch", "Stop after epoch", G::StopAndSave, &C::stopAfterEpoch, "", 0, 0, {}, Safe, false,
        "End with the epoch that is being trained when the run starts or is resumed, also with iterate." });
    add({ "stop_after_blocks", "Stop after blocks", G::StopAndSave, &C::stopAfterBlocks, "blocks", 0, kNoLimit, {},
        Safe, false, "End when this many blocks are complete. 0: no limit." });
    add({ "iterate", "Iterate", G::StopAndSave, &C::iterate, "", 0, 0, {}, Safe, false,
        "Begin another epoch whenever one ends, until another rule stops the run." });
    add({ "checkpoint_minutes", "Checkpoint every", G::StopAndSave, &C::checkpointMinutes, "minutes", 0.01, 10000, {},
        Safe, true, "Work that a crash can cost. 'minutes' of training between two checkpoints of a worker." });
    add({ "checkpoint_steps", "Checkpoint every", G::StopAndSave, &C::checkpointSteps, "steps", 0, kNoLimit, {}, Safe,
        false,
        "Also save after this many own steps of a worker; at the end of its chunk where that is at most five seconds away. 0: by time only." });
    add({ "keep_last", "Keep", G::StopAndSave, &C::keepLast, "checkpoints", 2, 10000, {}, Safe, false,
        "Newest checkpoints kept for each replica; the best one and pinned ones stay as well." });

    add({ "optimizer", "Optimizer", G::Optimiser, &C::optimizer, "", 0, 0, { "adamw", "adamw8bit", "adamatan2", "sgd" },
        Refused, false,
        "adamw, adamw8bit (its moments take a quarter of the memory), adamatan2 (no epsilon, scale free) or sgd with momentum beta1." });
    add({ "weight_decay", "Weight decay", G::Optimiser, &C::weightDecay, "", 0, 10, {}, Unsafe, false,
        "Decoupled, on matrices only." });
    add({ "beta1", "Beta 1", G::Optimiser, &C::beta1, "", 0, 0.99999, {}, Unsafe, false,
        "Decay of the mean of gradients." });
    add({ "beta2", "Beta 2", G::Optimiser, &C::beta2, "", 0, 0.99999, {}, Unsafe, false,
        "Decay of the mean of squared gradients." });
    add({ "epsilon", "Epsilon", G::Optimiser, &C::epsilon, "", 0, 1, {}, Unsafe, false,
        "Added to the root of the second moment." });
    add({ "clip", "Gradient clip", G::Optimiser, &C::clip, "", 0, 1e6, {}, Unsafe, false,
        "Largest norm of the gradient. 0: no clipping." });
    add({ "nan_limit", "Bad steps, at most", G::Optimiser, &C::nanLimit, "steps", 1, 10000, {}, Safe, false,
        "Steps in a row with NaN or Inf, each left out, before the worker goes back to its last checkpoint." });

    add({ "eval_steps", "Evaluate every", G::Evaluation, &C::evalSteps, "steps", 0, kNoLimit, {}, Safe, true,
        "Own steps of a worker between two evaluations on held-out text. 0: only at the end." });
    add({ "eval_batches", "Batches", G::Evaluation, &C::evalBatches, "batches", 1, 100000, {}, Safe, false,
        "Batches of one evaluation, at most; always the same ones." });
    add({ "sample_steps", "Sample every", G::Evaluation, &C::sampleSteps, "steps", 0, kNoLimit, {}, Safe, false,
        "Own steps of worker 0 between two text samples. 0: never." });
    add({ "sample_prompt", "Prompt", G::Evaluation, &C::samplePrompt, "", 0, 0, {}, Safe, false,
        "Beginning of the text samples." });
    add({ "expected_loss", "Expected loss", G::Evaluation, &C::expectedLoss, "", 0.01, 10, {}, Safe, false,
        "What fresh weights are expected to need for new text after the first megabyte, as a multiple of what zstd needs for it. Learnt from runs of the presets on prose, code, licences, tables and logs." });
    add({ "expected_loss_fall", "Expected loss, fall", G::Evaluation, &C::expectedLossFall, "", 0, 1, {}, Safe, false,
        "How the expected loss falls with the text that was trained: megabytes to the power of minus this." });
    add({ "loss_alarm", "Loss alarm below", G::Evaluation, &C::lossAlarm, "", 0, 1, {}, Safe, false,
        "An alarm is raised when the loss on new text lies below this share of the expected one: labels may not be shifted, or the data holds itself again. 0: never." });

    add({ "merge", "Merge", G::Merging, &C::merge, "", 0, 0, { "none", "average", "diloco" }, Safe, true,
        "How the replicas of the workers become one model: average of weights by tokens, DiLoCo (average with outer momentum; the last round keeps what evaluates best of outer step and plain average), or none: N models." });
    add({ "merge_tokens", "Merge every", G::Merging, &C::mergeTokens, "tokens", 0, kNoLimit, {}, Safe, true,
        "Tokens of the run between two merges. 0: ten times an epoch of known length, but not before each worker has done 250 steps. There is always one at the end." });
    add({ "outer_lr", "Outer rate", G::Merging, &C::outerLr, "", 0, 10, {}, Safe, false,
        "DiLoCo: rate of the outer step." });
    add({ "outer_momentum", "Outer momentum", G::Merging, &C::outerMomentum, "", 0, 0.9999, {}, Safe, false,
        "DiLoCo: Nesterov momentum of the outer step." });

    add({ "seed", "Seed", G::Seeds, &C::seed, "", 0, 4294967295.0, {}, Refused, true,
        "Of weights, order and sampling." });
    add({ "deterministic", "Deterministic", G::Seeds, &C::deterministic, "", 0, 0, {}, Safe, false,
        "Same claims, same bytes on a GPU too. Slower there; the CPU is always deterministic." });
    return all;
}

} // namespace

const std::vector<Setting>& settings()
{
    static const std::vector<Setting> all = makeSettings();
    return all;
}

const Setting* findSetting(std::string_view key)
{
    const auto found
        = std::find_if(settings().begin(), settings().end(), [key](const Setting& s) { return s.key == key; });
    return found == settings().end() ? nullptr : &*found;
}

std::string Setting::option() const
{
    std::string text = "--" + key;
    std::replace(text.begin(), text.end(), '_', '-');
    return text;
}

std::string toString(SettingGroup group)
{
    switch (group) {
    case G::Run: return "Run";
    case G::Data: return "Data";
    case G::Model: return "Model";
    case G::Training: return "Training";
    case G::Devices: return "Devices";
    case G::StopAndSave: return "Stop and save";
    case G::Optimiser: return "Optimiser";
    case G::Evaluation: return "Evaluation and sampling";
    case G::Merging: return "Merging";
    case G::Seeds: return "Seeds and determinism";
    }
    return "";
}

} // namespace furrow
