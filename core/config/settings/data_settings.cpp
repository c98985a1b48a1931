#include "core/config/settings/setting_table.h"

namespace furrow {

using C = RunConfig;
using enum ResumeRule;

void addDataSettings(SettingTable& table)
{
    table.group(SettingGroup::Data);

    table.list("data", &C::data)
        .label("Source")
        .resume(Refused)
        .basic()
        .help(
            "Files, folders or globs with text (txt, csv, tsv, jsonl, json, parquet, arrow, warc; plain, .gz, .zst, .xz or .bz2; all but compressed Parquet and Arrow also inside .zip and .tar), or hf://owner/name[:config][:split][@revision], https://host/file, s3://bucket/key, gs://bucket/key (a folder that ends in /, a pattern).");

    table.choice("data_mode", &C::dataMode)
        .label("Rows from")
        .resume(Refused)
        .help(
            "What a sample of a plain text file is: a line, a paragraph between blank lines, or a span of span_bytes with newlines kept. 'stream' takes random windows of one file and keeps no ledger; it exists for comparisons with other programs. 'auto' is lines.");

    table.text("text_column", &C::textColumn)
        .label("Text column")
        .resume(Refused)
        .basic()
        .help(
            "Column that holds the text in csv, jsonl, json, parquet, arrow and WebDataset; meta.text, paragraphs[] and messages[].content name what is nested, and the texts of a list are joined by line breaks. In one JSON document data[].text names the list whose elements are rows. Empty: the first of text, txt, content, sentence, document, article, body, whatever their case, also as the last part of a nested name (meta.text), else the column with the most text, by the first 100 rows.");

    table.text("chat_template", &C::chatTemplate)
        .label("Chat template")
        .resume(Refused)
        .basic()
        .help(
            "How rows that are conversations (messages, ShareGPT, Alpaca, prompt and completion; found by their columns) become text: chatml, the file of a template, or the folder of a model that has one. Empty: that of the model of init_from, and without one the rows are plain text. none: plain text in any case.");

    table.choice("chat_loss", &C::chatLoss)
        .label("Answers that are learnt")
        .resume(Refused)
        .help(
            "Which turns of the assistant count in the loss; everything else is read but not learnt. A turn is what the template marks with {% generation %} or, without such marks, what it adds when the turn is there.");

    table.choice("long_samples", &C::longSamples)
        .label("Longer than a window")
        .resume(Refused)
        .help(
            "What becomes of samples that are longer than seq_len, with the end-of-text after each: they go on in the next window (split), their end is cut off (cut), or they are not trained (leave_out). Those that are cut or left out are counted. Of a pair of answers each with its prompt may have half of seq_len, and split leaves out what is longer.");

    table.choice("document_masks", &C::documentMasks)
        .label("Samples apart")
        .resume(Refused)
        .help(
            "Whether a sample reads nothing of the samples before it in the same window: attention stays inside it and positions begin anew, as if it were trained alone; held-out loss is measured so too. auto: for conversations with architecture gpt. off: a window is one text.");

    table.choice("packing", &C::packing)
        .label("Samples in windows")
        .resume(Refused)
        .help(
            "How samples come to lie in the windows of a chunk. end_to_end: one after the other, and what does not fit goes on in the next window; there is no padding but in the last. best_fit: a sample is whole in one window if it fits into one, the longest first, each where the least room is left over; the rest of a window is padding, whose share is shown. single: each sample begins a window of its own. auto: best_fit for conversations that are kept apart (document_masks), else end_to_end.");

    table.text("encoding", &C::encoding)
        .label("Encoding")
        .resume(Refused)
        .help(
            "How the characters of text files are stored: utf-8, windows-1252, utf-16le, shift_jis, gb18030 or any other name ICU knows. auto: found from the bytes and said; what is not UTF-8 is converted.");

    table.text("csv_delimiter", &C::csvDelimiter)
        .label("CSV delimiter")
        .resume(Refused)
        .help(
            "What stands between the fields of csv files: one character, or comma, semicolon, tab, pipe, space. auto: found from the first records.");

    table.text("csv_quote", &C::csvQuote)
        .label("CSV quote")
        .resume(Refused)
        .help(
            "What stands around fields of csv files that hold delimiters or line ends: one character, or none. auto: the double quote.");

    table.text("csv_escape", &C::csvEscape)
        .label("CSV escape")
        .resume(Refused)
        .help(
            "A character that takes the meaning from the one after it in csv files, or none (a quote inside quotes is doubled). auto: a backslash where the first records show it.");

    table.flag("csv_header", &C::csvHeader)
        .label("CSV header")
        .resume(Refused)
        .help("The first record of a csv file names its columns. Off: it is data, and the columns are called 1, 2, 3.");

    table.text("tokenizer", &C::tokenizer)
        .label("Tokenizer")
        .resume(Refused)
        .basic()
        .help(
            "byte, char (characters found in the data), gpt2, or the path of a tokenizer.json or sentencepiece .model. A special token (<s>) that stands in a text of the data is plain text; in conversations it is the token, as where transformers applies the template.");

    table.integer("samples_per_block", &C::samplesPerBlock)
        .label("Samples per block")
        .unit("samples")
        .range(1, 10'000'000)
        .resume(Refused)
        .basic()
        .help(
            "Consecutive samples that are prepared as one unit. Lowered by itself for small data, so that there are some blocks to shuffle.");

    table.integer("chunk_samples", &C::chunkSamples)
        .label("Chunk size")
        .unit("samples")
        .range(1, 1'000'000)
        .resume(Refused)
        .basic()
        .help(
            "Samples that one worker claims at a time. It does not change GPU memory: batch size times sequence length does.");

    table.integer("chunk_bytes", &C::chunkBytes)
        .label("Chunk size, at most")
        .unit("bytes")
        .range(1024, 1 << 30)
        .resume(Refused)
        .help("A chunk ends early when its text would become larger than this.");

    table.integer("span_bytes", &C::spanBytes)
        .label("Span")
        .unit("bytes")
        .range(16, 1 << 20)
        .resume(Refused)
        .help("Length of a sample in data mode span.");

    table.real("held_out_percent", &C::heldOutPercent)
        .label("Held out")
        .unit("%")
        .range(0, 50)
        .resume(Refused)
        .help(
            "Share of the samples kept for evaluation, chosen by a hash of their text, so that equal texts fall on the same side.");

    table.text("eval_data", &C::evalData)
        .label("Evaluation text")
        .resume(Refused)
        .help(
            "A file, folder or hub split to evaluate on, such as hf://wikitext:wikitext-2-raw-v1:validation. Nothing of the training data is held out then.");

    table.integer("min_chars", &C::minChars)
        .label("Shortest sample")
        .unit("characters")
        .atLeast(0)
        .resume(Refused)
        .help("Shorter samples are filtered, counted and never trained.");

    table.integer("max_chars", &C::maxChars)
        .label("Longest sample")
        .unit("characters")
        .atLeast(0)
        .zeroMeans("no limit")
        .resume(Refused)
        .help("Longer samples are filtered and counted.");

    table.flag("ascii_only", &C::asciiOnly)
        .label("ASCII only")
        .resume(Refused)
        .help("Filter samples with any other character.");

    table.choice("duplicates", &C::duplicates)
        .label("Duplicate texts")
        .resume(Refused)
        .help(
            "report: texts that occur again are trained, and counted inside a block. skip: of equal texts in the whole data set only the first one is trained, the others are counted and left out. For that all data is read once before training begins; what comes from the hub is downloaded then, and once more where the cache is too small to keep it.");

    table.choice("bad_files", &C::badFiles)
        .label("Changed or damaged files")
        .resume(Safe)
        .help(
            "What happens when a file of the data is not any more what it was when the run was made, or its rest cannot be read: the run stops and says so (stop), or what of the file is not prepared yet is left out, by name (leave_out). Rows that are left out because they cannot be read count as unreadable, but not towards max_unreadable_percent.");

    table.real("max_unreadable_percent", &C::maxUnreadablePercent)
        .label("Unreadable rows, at most")
        .unit("%")
        .range(0, 100)
        .resume(Safe)
        .help(
            "The run stops when a larger share of the rows read so far cannot be read, and at least ten of them. Those that bad_files leaves out do not count. 100: no limit.");

    table.flag("shuffle", &C::shuffle)
        .label("Shuffle")
        .resume(Refused)
        .help("Claim chunks in an order drawn from seed and epoch; off: in source order.");

    table.integer("shuffle_window_blocks", &C::shuffleWindowBlocks)
        .label("Shuffle window")
        .unit("blocks")
        .range(1, 4096)
        .resume(Refused)
        .help(
            "Chunks are shuffled inside groups of this many blocks: consecutive ones in the first epoch, blocks from anywhere in later ones. About two groups are kept prepared. From 24 on the order mixes within 5 % of a full shuffle.");

    table.text("start_at", &C::startAt)
        .label("Start at")
        .resume(Refused)
        .help(
            "BLOCK:CHUNK, both from 0: the first epoch begins with this chunk, goes on with what comes after it in the data and ends with what comes before it, so nothing is left out. Both parts are shuffled as usual; later epochs are as without it. The data is looked through up to there before training begins. Empty: at the beginning.");

    table.integer("start_sample", &C::startSample)
        .label("First sample")
        .unit("samples")
        .atLeast(0)
        .resume(Refused)
        .help("Skip this many samples at the start of each source (of its fraction). They do not belong to the epoch.");

    table.integer("max_samples", &C::maxSamples)
        .label("Samples, at most")
        .unit("samples")
        .atLeast(0)
        .zeroMeans("all")
        .resume(Refused)
        .help("Use only this many samples of each source.");

    table.real("fraction", &C::fraction)
        .label("Fraction")
        .range(0.000001, 1)
        .resume(Refused)
        .help(
            "Use only this share of each source, drawn with the seed: row by row in small files, else in stretches (row groups of Parquet, 64 KiB of text of the hub), so that the rest need not be read or downloaded.");

    table.list("data_weights", &C::dataWeights)
        .label("Weights")
        .resume(Refused)
        .help(
            "With several sources: a number for each, how much text of it comes first in the first epoch relative to the others. It does not change how often a source is trained. Empty: sources end together.");

    table.text("exclude", &C::exclude)
        .label("Leave out")
        .resume(Refused)
        .help(
            "A file that names what is not trained, one entry a line: chunk BLOCK:COLUMN, sample FINGERPRINT, pattern REGEX. Chunks are counted as left out, samples as filtered.");

    table.real("cache_gib", &C::cacheGiB)
        .label("Cache")
        .unit("GiB")
        .range(0.001, 100000)
        .resume(Safe)
        .help("Disk that prepared blocks and downloads of this workspace may take.");

    table.integer("prepare_ahead_blocks", &C::prepareAheadBlocks)
        .label("Prepare ahead")
        .unit("blocks")
        .range(1, 256)
        .resume(Safe)
        .help("Blocks that are prepared before a worker asks for them.");

    table.integer("transfers", &C::transfers)
        .label("Transfers")
        .range(1, 16)
        .resume(Safe)
        .help(
            "Ranges of a file that the feeder of a run fetches from a server at once. More than a few are of use on slow or distant connections only, and a server may refuse them.");
}

} // namespace furrow
