#!/usr/bin/env python3
"""Fails when a text for people is not made by sentence() (core/base/sentence.h), so that the console cannot say it in the language of the person: a literal
with words in an Error, or in the call of a function that makes an Error or takes a Message, core/trials apart, which speaks English only. Or when a sentence
is not in translations/*.ts."""
import functools, html, json, pathlib, re, subprocess, sys, tempfile

ROOT = pathlib.Path(sys.argv[1])
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|[A-Za-z_]\w*|\d[\w\'.]*|::|->|\s+|.', re.DOTALL)
OPEN = {"(": ")", "{": "}", "[": "]"}
SPEAKS = {"string", "string_view", "Message", "withFullStop"}  # what is inside of their brackets is said as it is
LANGUAGE = {"if", "for", "while", "switch", "return", "catch"}
MESSAGE = re.compile(r"(?:^|, )(?:const )?(?:furrow :: )?Message (?:& )?\w*(?: = [^,]*)?(?:,|$)")  # a parameter
CODE = re.compile(r"\{ (?:ErrorCode ::|\w+(?: \. \w+(?: \( \))?)* \. code ,)")  # how an Error begins whose type is not named


def tokens(text):
    """Each with its line; without comments and white space."""
    found, line = [], 1
    for match in TOKEN.finditer(text):
        if not match[0].isspace() and not match[0].startswith(("//", "/*")):
            found.append((match[0], line))
        line += match[0].count("\n")
    return found


def end_of(code, begin):
    """Behind the bracket that closes the one at `begin`."""
    depth = 0
    for at in range(begin, len(code)):
        depth += (code[at][0] in OPEN) - (code[at][0] in OPEN.values())
        if depth == 0:
            return at + 1
    return len(code)


def begin_of_capture(code, end):
    """Of the lambda whose capture ends at `end`."""
    depth = 0
    for at in range(end, -1, -1):
        depth += (code[at][0] == "]") - (code[at][0] == "[")
        if depth == 0:
            return at
    return 0


def makers(code):
    """Names of the functions and lambdas declared here that return an Error or take a Message."""
    names = set()
    for at in range(2, len(code)):
        if code[at][0] != "(":
            continue
        inside = " ".join(token for token, _ in code[at + 1:end_of(code, at) - 1]).replace(" ,", ",")
        name, before = code[at - 1][0], [token for token, _ in code[max(0, at - 6):at - 1]]
        if name == "]":
            capture = begin_of_capture(code, at - 1)
            behind = [token for token, _ in code[end_of(code, at):end_of(code, at) + 3]]
            if code[capture - 1][0] == "=" and (MESSAGE.search(inside) or behind == ["{", "return", "Error"]):
                names.add(code[capture - 2][0])
        elif name[0].isalpha() and name not in LANGUAGE | SPEAKS:
            while before[-2:-1] and before[-1] == "::":  # RankRoll::error
                del before[-2:]
            if before and before[-1] == "Error" or MESSAGE.search(inside) and before and re.match(r"\w|[>&*]", before[-1]):
                names.add(name)
    return names


def is_error(code, at):
    """Whether an Error is made of what is in the bracket at `at`."""
    before = [token for token, _ in code[max(0, at - 3):at]]
    if code[at][0] == "(":
        return before[-1:] == ["Error"] and before[-2:-1] not in (["."], ["->"])
    if code[at][0] != "{" or "struct" in before:
        return False
    named = before[-1:] == ["Error"] or (before[-2:-1] == ["Error"] and re.match(r"\w", before[-1]) and before[-1] != "const")
    return named or CODE.match(" ".join(token for token, _ in code[at:at + 14])) is not None


def literals(code, begin, end):
    """What is said between the two places: the literals that no other call reads."""
    at = begin + 1
    while at < end:
        token = code[at][0]
        isCall = token in "([" and (re.match(r"\w|[>\])]", code[at - 1][0]) and code[at - 1][0] not in SPEAKS | LANGUAGE or token == "[")
        if isCall:
            at = end_of(code, at)
            continue
        if token.startswith('"'):
            yield code[at][1], re.sub(r"\\.", "", token)
        at += 1


def breaches(code, names):
    for at, (token, _) in enumerate(code):
        if token not in "({":
            continue
        error = is_error(code, at)
        if error or (token == "(" and at > 0 and code[at - 1][0] in names):
            for line, literal in literals(code, at, end_of(code, at)):
                if re.search(r"[A-Za-z]", literal) and (error or " " in literal):  # a function may be given a name
                    yield line, literal


FAULTS = [
    'return Error { ErrorCode::Io, "gone" };',
    'return Error { ErrorCode::Io,\n    name + " is gone" };',
    'return Error(ErrorCode::Io, std::string("gone: ") + why);',
    'return { error.code, (isThere ? "it is there" : "it is gone") };',
    'return fail({ ErrorCode::NotFound, "The folder " + o.folder + " is not there." }, o.json);',
    'const Error wrong { ErrorCode::Io, file + " is no list." };',
    'const auto wrong = [](const char* why) { return Error { ErrorCode::Io, why }; };\nreturn wrong("it is cut");',
    'Error Reader::broken(const char* why) const;\nreturn broken("it is cut");',
    'Status endAttempt(AttemptId attempt, const Message& detail, int code = 0);\nendAttempt(attempt, "it is " + name);',
    'struct Error { Error in(const Message& context) const; };\nreturn read.error().in("reading " + name);',
]
FINE = [
    'return Error { ErrorCode::Io, sentence("%1 is gone (%2)", { name, "the disk" }) };',
    'return Error { ErrorCode::Io, path + ": " + json["what it said"].get<std::string>() };',
    '// return Error { ErrorCode::Io, "gone" };\nstruct Error { std::string text = "nothing is wrong"; };',
    'Error wrongName(const std::string& name);\nreturn wrongName("zip");',
    'void say(const Message& text);\nif (const auto said = say(tr("It is said.")); !said)\n    log("It is not said.");',
]
for planted, wanted in [(text, True) for text in FAULTS] + [(text, False) for text in FINE]:
    code = tokens(planted)
    if any(breaches(code, makers(code))) != wanted:
        sys.exit(f"This check {'overlooks' if wanted else 'refuses'}:\n{planted}")

sources = [path for room in ("core", "app", "ui") for path in sorted((ROOT / room).rglob("*")) if path.suffix in (".h", ".cpp", ".cu")]
texts = {path: path.read_text(encoding="utf-8") for path in sources if ROOT / "core" / "trials" not in path.parents}


@functools.cache
def included(path):
    """The files that this one reads, itself too."""
    found, new = {path}, [path]
    while new:
        new = [ROOT / name for one in new for name in re.findall(r'#include "([^"]+)"', texts[one]) if ROOT / name in texts and ROOT / name not in found]
        found |= set(new)
    return found


@functools.cache
def makers_of(path):
    return makers(tokens(texts[path]))


found = 0
for path, text in texts.items():
    names = set().union(*map(makers_of, included(path)))
    for line, literal in breaches(tokens(text), names):
        found += 1
        print(f"{path.relative_to(ROOT)}:{line}: {literal} is said without sentence(), so nobody can read it in another language")

with tempfile.TemporaryDirectory() as folder:
    rooms = [ROOT / room for room in ("core", "app", "ui")]
    collected = pathlib.Path(folder) / "sentences.cpp"
    subprocess.run([sys.executable, ROOT / "translations" / "core_texts.py", *rooms, collected], check=True)
    quoted = re.findall(r'NOOP\("Core", ("(?:[^"\\]|\\.)*")\)', collected.read_text(encoding="utf-8"))
sentences = {json.loads(literal) for literal in quoted}
for path in sorted((ROOT / "translations").glob("*.ts")):
    own = path.read_text(encoding="utf-8").partition("<name>Core</name>")[2].partition("</context>")[0]
    known = {html.unescape(source) for source in re.findall(r"<source>([^<]*)</source>", own)}
    for missing in sorted(sentences - known):
        found += 1
        print(f"{path.relative_to(ROOT)} lacks: {missing}")
sys.exit(1 if found or not texts or not sentences else 0)
