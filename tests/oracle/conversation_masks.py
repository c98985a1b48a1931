#!/usr/bin/env python3
"""What Furrow makes of conversations: ids, and which of them are learnt, against transformers.

    python conversation_masks.py PROGRAM [WHEELS]     PROGRAM is conversation_tokens, WHEELS the folder that packaging/oracle-env.sh fills

A template with {% generation %} is held against apply_chat_template(return_assistant_tokens_mask=True); one without
against the texts that it writes for the messages before and up to each turn, with the tokenizer's own offsets. Exits
with 77 (skipped) where transformers is missing, 1 when anything differs.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import tokenizers
    import transformers
    from transformers.utils import chat_template_utils
except ImportError:
    print("transformers is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

from chat_templates import CALL_AS_TEXT, CONVERSATIONS, TOKENS, WEATHER, WHEELS, said, templates

PROGRAM = sys.argv[1]
SPECIAL = ["<s>", "</s>", "<pad>", "<unk>", "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]"]
TEXT = ["Hello there, how are you today?", "assistant user system tool model", "The weather is fine: 7 °C and no rain.", "Grüße aus Zürich 世界", '{"place": "Zürich"}'] * 20

MARKED = [
    # as trl and axolotl write theirs
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}{% if m.role == 'assistant' %}{% generation %}{{ m.content + '<|im_end|>' }}{% endgeneration %}{% else %}{{ m.content ~ '<|im_end|>' }}{% endif %}{{ '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% generation %}{{ m.content|trim }}<|eot_id|>{% endgeneration %}{% else %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content|string|trim + '<|eot_id|>' }}{% endif %}{% endfor %}",
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %} {% generation %}{{ m.content }}{{ eos_token }}{% endgeneration %}{% else %}[INST] {{ m.content }} [/INST]{% endif %}{% endfor %}",
    "{% for m in messages %}{{ m.role }}: {% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}\n{% endfor %}",
]
PLAIN = [
    "{{ bos_token }}{% for m in messages %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + m.content|string|trim + '<end_of_turn>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}",
    "{% for m in messages %}{% if m.role == 'assistant' %} {{ m.content }}{{ eos_token }}{% else %}{{ bos_token }}[INST] {{ m.content }} [/INST]{% endif %}{% endfor %}",
    "{% for m in messages %}{{ m.role }}: {{ '!' if loop.last else '' }}{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}",
]
ROWS = {name: {"messages": messages} for name, messages in CONVERSATIONS.items() if name in ("turns", "system", "unicode", "control", "roles", "thoughts", "call text")}
ROWS["tools"] = {"messages": [said("user", "Weather?"), said("assistant", "", tool_calls=[CALL_AS_TEXT]), said("tool", "rain", tool_call_id="abcDEF123"), said("assistant", "It rains.")], "tools": [WEATHER]}
ROWS["long"] = {"messages": [said("system", "Be brief.")] + [said(("user", "assistant")[i % 2], f"{i} Hello there, 7 °C" + "!" * i) for i in range(24)]}


def byte_level(folder):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=500, special_tokens=SPECIAL, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    return saved(tokenizer, folder / "bytes.json")


def like_llama(folder):
    """Spaces become a sign and one is put in front: the bytes of its tokens are not those of the text."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")])
    tokenizer.decoder = tokenizers.decoders.Sequence([tokenizers.decoders.Replace("▁", " "), tokenizers.decoders.ByteFallback(), tokenizers.decoders.Fuse(), tokenizers.decoders.Strip(" ", 1, 0)])
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=500, special_tokens=SPECIAL + [f"<0x{i:02X}>" for i in range(256)], show_progress=False)
    tokenizer.train_from_iterator(TEXT, trainer)
    path = saved(tokenizer, folder / "llama.json")
    written = json.loads(path.read_text())  # bytes are pieces of the vocabulary, not tokens found in text
    written["added_tokens"] = [token for token in written["added_tokens"] if not token["content"].startswith("<0x")]
    path.write_text(json.dumps(written, ensure_ascii=False))
    return path


def saved(tokenizer, path):
    tokenizer.save(str(path))
    return path


def render(template, row, count, prompt):
    compiled = chat_template_utils._cached_compile_jinja_template(template)
    text, _ = chat_template_utils._render_with_assistant_indices(compiled, row["messages"][:count], row.get("tools"), None, prompt, **TOKENS)
    return text


def differences(template, row, turns):
    """Characters that the assistant writes, or None where the texts do not line up."""
    messages, stretches = row["messages"], []
    text = render(template, row, len(messages), False)
    for i in reversed([i for i, message in enumerate(messages) if message["role"] == "assistant"]):
        before = render(template, row, i, True)
        after = render(template, row, i + 1, False) if i + 1 < len(messages) else text
        if not text.startswith(before) or not text.startswith(after):
            return None
        if len(after) > len(before):
            stretches.insert(0, (len(before), len(after)))
        if turns == "last":
            break
    return (text, stretches[-1:] if turns == "last" else stretches) if stretches else None


def expected(tokenizer, template, row, turns):
    """None: it is refused. "skip": transformers has no such mask."""
    try:
        if "generation %}" in template:
            if turns == "last" or not all(m["content"].strip() for m in row["messages"] if m["role"] == "assistant"):
                return "skip"  # of an empty stretch transformers marks a token before it
            out = tokenizer.apply_chat_template(row["messages"], tools=row.get("tools"), chat_template=template, tokenize=True, return_dict=True, return_assistant_tokens_mask=True, **TOKENS)
            return {"ids": out["input_ids"], "learnt": out["assistant_masks"]} if any(out["assistant_masks"]) else None
        found = differences(template, row, turns)
    except Exception:
        return None
    if found is None:
        return None
    text, stretches = found
    out = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    mask = [int(any(begin < b and end > a for a, b in stretches)) for begin, end in out["offset_mapping"]]
    return {"ids": out["input_ids"], "learnt": mask} if any(mask) else None


def usable(row):
    messages = [{k: v for k, v in m.items() if v is not None or k == "content"} for m in row["messages"]]
    texts = all(isinstance(m["content"], str) for m in messages)
    answers = texts and all(m["content"].strip() or m.get("tool_calls") for m in messages if m["role"] == "assistant")
    return {**row, "messages": messages} if answers and any(m["role"] == "assistant" for m in messages) else None


def main():
    rows = {name: usable(row) for name, row in ROWS.items()}
    rows = {name: row for name, row in rows.items() if row}
    named = [(f"marked {i}", source) for i, source in enumerate(MARKED)] + [(f"plain {i}", source) for i, source in enumerate(PLAIN)]
    if len(list(WHEELS.glob("*.whl"))) >= 2:
        named += list(templates())
    furrow = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    equal, refused, differing = 0, 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        for make in (byte_level, like_llama):
            path = make(pathlib.Path(temporary))
            tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>")
            for name, source in named:
                for turns in ("all", "last"):
                    furrow.stdin.write(json.dumps({"tokenizer": str(path), "template": source, "tokens": TOKENS, "turns": turns}) + "\n")
                    for title, row in rows.items():
                        wanted = expected(tokenizer, source, row, turns)
                        furrow.stdin.write(json.dumps(row) + "\n")
                        furrow.stdin.flush()
                        found = json.loads(furrow.stdout.readline())
                        if wanted == "skip":
                            continue
                        if wanted is None and "problem" in found:
                            refused += 1
                        elif wanted == found:
                            equal += 1
                        else:
                            differing += 1
                            if differing <= 20:
                                print(f"--- {path.name}, {name} ({title}, {turns})\n    transformers: {wanted}\n    furrow: {found}")
    print(f"{len(named)} templates, {len(rows)} conversations: {equal} are equal in ids and mask, {refused} are refused by both, {differing} differ")
    assert equal >= 100
    sys.exit(1 if differing else 0)


main()
