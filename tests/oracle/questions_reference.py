#!/usr/bin/env python3
"""`furrowctl eval MODEL --tasks FILE`, and the same questions during a run, against a reader and a scorer of its own, as lm-evaluation-harness scores its local tasks, with transformers' logits.

    python questions_reference.py FURROWCTL
Exits with 77 (skipped) where transformers or tokenizers is missing.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import torch

try:
    import tokenizers
    import transformers as t
except ImportError as error:
    print(f"{error.name} is not installed (run packaging/oracle-env.sh): skipped")
    sys.exit(77)

TOLERANCE = 1e-3  # nats, of a whole answer
CONTEXT = 96
WORDS = "the small river runs past an old mill where Zoë keeps bees; 42 of them, naïve and 快乐, sing".split()


def make_model(folder):
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=400, special_tokens=["<|endoftext|>"], initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([" ".join(WORDS)] * 20, trainer)
    fast = t.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>", bos_token="<|endoftext|>")
    fast.save_pretrained(folder)
    torch.manual_seed(26)
    end = fast.eos_token_id
    model = t.GPT2LMHeadModel(t.GPT2Config(vocab_size=len(fast), n_positions=CONTEXT, n_embd=32, n_layer=2, n_head=4, initializer_range=0.4, bos_token_id=end, eos_token_id=end)).eval()
    model.save_pretrained(folder)
    return fast, model


def encode(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False) or [tokenizer.eos_token_id]


def log_likelihood(tokenizer, model, context, answer):
    kept = context.rstrip()
    answer, context = context[len(kept):] + answer, kept
    whole = encode(tokenizer, context + answer)
    head = encode(tokenizer, context)
    if not context:
        whole = head + whole
    inputs = whole[-(CONTEXT + 1):][:-1]
    length = len(whole) - len(head)
    with torch.no_grad():
        logits = torch.log_softmax(model(torch.tensor([inputs])).logits[0].double(), -1)
    return sum(logits[len(inputs) - length + i, token].item() for i, token in enumerate(whole[-length:]))


def written(tokenizer, model, context, tokens):
    ids, new = encode(tokenizer, context), []
    while len(new) < tokens:
        with torch.no_grad():
            token = model(torch.tensor([ids + new])).logits[0, -1].argmax().item()
        if token == tokenizer.eos_token_id:
            break
        new.append(token)
        text = tokenizer.decode(new)
        start = len(text) - len(text.lstrip())
        if "\n" in text[start:]:
            return text[:text.index("\n", start)].strip()
    return tokenizer.decode(new).strip()


def furrow(furrowctl, *arguments):
    done = subprocess.run([furrowctl, "eval", *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or done.stdout.strip())
    return json.loads(done.stdout)


def phrase(r, least, most):
    return " ".join(r.choice(WORDS) for _ in range(r.randint(least, most)))


def check_choices(furrowctl, folder, tokenizer, model, few):
    r = random.Random(few)
    rows = []
    for number in range(40):
        choices = [phrase(r, 1, 5) for _ in range(r.randint(2, 5))]
        gold = r.randrange(len(choices))
        layout = number % 4
        question = phrase(r, 0 if number == 7 else 3, 12 if number % 9 else 60) + (" " if number % 5 == 0 else "")
        if layout == 0:
            row = {"question": question, "choices": choices, "gold": gold}
        elif layout == 1:
            row = {"question": question, "choices": {"text": choices, "label": [chr(65 + i) for i in range(len(choices))]}, "answerKey": chr(65 + gold)}
        elif layout == 2:
            row = {"ctx": question, "endings": choices, "label": str(gold)}
        else:
            row = {"query": question, "options": choices, "answer": choices[gold]}
            gold = choices.index(choices[gold])
        rows.append((row, question, choices, gold))
    file = folder / f"choices{few}.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=bool(few)) + "\n" for row, *_ in rows) + '{"question": "no choices", "choices": []}\n')
    result = furrow(furrowctl, folder / "model", "--tasks", file, "--few-shot", few)
    shown = "".join(f"{question} {choices[gold]}\n\n" for _, question, choices, gold in rows[:few])
    right = normalised = 0
    for (_, question, choices, gold), answer in zip(rows[few:], result["answers"], strict=True):
        expected = [log_likelihood(tokenizer, model, shown + question, " " + choice) for choice in choices]
        assert max(abs(a - b) for a, b in zip(expected, answer["log_likelihoods"], strict=True)) < TOLERANCE, (question, expected, answer)
        assert answer["gold"] == gold, answer
        by_length = [value / len(choice) for value, choice in zip(expected, choices)]
        for values, chosen in ((expected, answer["chosen"]), (by_length, answer["chosen_normalised"])):
            assert max(values) - values[chosen] < TOLERANCE, (values, chosen)
        right += answer["chosen"] == gold
        normalised += answer["chosen_normalised"] == gold
    count = len(rows) - few
    assert abs(result["accuracy"] - right / count) < 1e-9 and abs(result["accuracy_normalised"] - normalised / count) < 1e-9, result
    error = (right / count * (1 - right / count) / (count - 1)) ** 0.5
    assert abs(result["standard_error"] - error) < 1e-9 and result["questions"] == count and result["unusable"] == 1, result
    print(f"{count} questions with choices, {few} shown: accuracy {right / count:.3f}, by length {normalised / count:.3f}")
    return file, rows


def check_written(furrowctl, folder, tokenizer, model):
    r = random.Random(3)
    asked = {prompt: written(tokenizer, model, prompt, 3) for prompt in (phrase(r, 3, 12) for _ in range(300))}
    asked = {prompt: answer for prompt, answer in asked.items() if answer.isprintable() and "\ufffd" not in answer}  # a random model writes bytes that are no characters
    prompts = list(asked)[:12]
    assert len(prompts) == 12, len(prompts)
    answers = [asked[prompt] if number % 2 == 0 else "never this" for number, prompt in enumerate(prompts)]
    file = folder / "written.jsonl"
    file.write_text("".join(json.dumps({"question": prompt, "answer": f" {answer}\n"}) + "\n" for prompt, answer in zip(prompts, answers)))
    result = furrow(furrowctl, folder / "model", "--tasks", file, "--tokens", 3)
    for prompt, answer, found in zip(prompts, answers, result["answers"], strict=True):
        assert found["written"] == asked[prompt], (prompt, found)
        assert found["right"] == (answer != "never this"), found
    assert result["exact_match"] == 0.5, result
    print(f"{len(prompts)} written answers: exact match {result['exact_match']}")


def check_run(furrowctl, folder, tokenizer, file, rows):
    """What a run says of its questions while it trains, against transformers on the model that it ends with."""
    r = random.Random(5)
    data = folder / "train.txt"
    data.write_text("".join(phrase(r, 8, 16) + "\n" for _ in range(400)))
    run, out = folder / "run", folder / "trained"
    settings = {"init-from": folder / "model", "data": data, "eval-tasks": file, "eval-steps": 5, "seq-len": 32, "batch-size": 4, "steps": 20, "lr": 0.01, "warmup-steps": 1, "devices": "cpu:1", "out": run}
    for command in (["run", *(f"--{name}={value}" for name, value in settings.items())], ["export", run, "--format", "huggingface", "--out", out]):
        done = subprocess.run([furrowctl, *map(str, command)], capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    told = json.loads(subprocess.run([furrowctl, "status", str(run), "--json"], capture_output=True, text=True, check=True).stdout)["eval_tasks"]
    model = t.AutoModelForCausalLM.from_pretrained(out).eval()
    right = close = 0
    for _, question, choices, gold in rows:
        values = [log_likelihood(tokenizer, model, question, " " + choice) for choice in choices]
        best, second = sorted(values)[:-3:-1]
        right += values.index(best) == gold
        close += best - second < TOLERANCE
    assert told["questions"] == len(rows) and told["step"] == 20 and told["kind"] == "multiple_choice", told
    assert abs(told["accuracy"] * len(rows) - right) <= close + 1e-9, (told, right, close)
    print(f"{len(rows)} questions that a run was asked: accuracy {told['accuracy']:.3f}")


def main(furrowctl):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tokenizer, model = make_model(folder / "model")
        asked = [check_choices(furrowctl, folder, tokenizer, model, few) for few in (0, 2)]
        check_written(furrowctl, folder, tokenizer, model)
        check_run(furrowctl, folder, tokenizer, *asked[0])


if __name__ == "__main__":
    main(sys.argv[1])
