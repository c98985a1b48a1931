"""What the generators of data files share: a case, texts by chance, encodings and compressions, and how Python reads a text file back."""
import dataclasses
import gzip
import pathlib
import re
import zlib

import pyarrow as pa

from tokenizer_texts import ODD, SCRIPTS

UNREADABLE = None  # a row that is counted as unreadable
REFUSED = "refused"  # instead of rows: the file is refused as a whole


@dataclasses.dataclass
class Case:
    """A file (or several), the settings to read it with, and the rows (bytes, or UNREADABLE) that a reference finds in it."""
    paths: list
    settings: dict
    rows: object
    note: str  # what it is, for a person who looks at a difference

    def config(self):
        return {"data": [str(path) for path in self.paths], **self.settings}


CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
ANYTHING = ODD + list(SCRIPTS.values())
PRINTED = [CONTROLS.sub("", text) for text in ANYTHING]  # much of the others in a file makes it binary, which is refused

# Prose that an encoding must be found from; every character is in all the encodings that its list is written in.
WESTERN = ["Le garçon a mangé une pomme près de la fenêtre de l'école.", "Où êtes-vous allés cet été, après la fête à Orléans?", "Die Mädchen hören schöne Lieder über größere Flüsse.",
           "Heute früh trank er für fünf Mark süßen Kaffee in München.", "El niño comió piña mañana en la montaña, ¿qué pasó después?", "São Paulo é uma cidade muito grande e não dorme às três."]
WINDOWS = WESTERN + ["“Voilà”, dit-il — l’été dernier, c’était déjà “fini”…", "Das kostet 20 € – „zu viel“, sagte Jürgen."]
JAPANESE = ["昨日は友達と一緒に新しいレストランで食事をしました。", "東京の天気は明日から雨になるでしょう。", "この本はとても面白かったので、もう一度読みたいです。", "電車が遅れたため、会議に間に合いませんでした。",
            "彼女は毎朝公園を走ってから仕事に行きます。", "カタカナとひらがなと漢字を使って文章を書きます。"]
CHINESE = ["昨天我和朋友一起去了一家新的餐厅吃饭。", "明天北京的天气会变得很冷，可能会下雪。", "这本书非常有意思，所以我想再读一遍。", "因为火车晚点了，所以我没有赶上会议。", "她每天早上先去公园跑步，然后再去上班。", "我们应该保护环境，节约用水。"]
RUSSIAN = ["Вчера мы с друзьями ходили в новый ресторан.", "Завтра в Москве будет холодно и пойдёт снег.", "Эта книга была очень интересной, я прочитаю её ещё раз."]
KOREAN = ["어제 친구와 함께 새로운 식당에서 밥을 먹었습니다.", "내일은 날씨가 추워지고 눈이 올 것입니다.", "이 책은 아주 재미있어서 다시 읽고 싶습니다."]


@dataclasses.dataclass
class Encoding:
    codec: str = "utf-8"  # as Python calls it
    setting: str = ""  # as Furrow is told; "": it finds it
    mark: bytes = b""
    prose: list = None  # None: any text can be written


FOUND = [Encoding("utf-16-le", mark=b"\xff\xfe"), Encoding("utf-16-be", mark=b"\xfe\xff"), Encoding("utf-32-le", mark=b"\xff\xfe\0\0"), Encoding("utf-32-be", mark=b"\0\0\xfe\xff"),
         Encoding("utf-16-le", prose=WESTERN), Encoding("utf-16-be", prose=WESTERN), Encoding("latin-1", prose=WESTERN), Encoding("cp1252", prose=WINDOWS), Encoding("shift_jis", prose=JAPANESE),
         Encoding("gb18030", prose=CHINESE)]
TOLD = [Encoding("utf-8", "utf-8"), Encoding("latin-1", "latin1", prose=WESTERN), Encoding("latin-1", "ISO-8859-1", prose=WESTERN), Encoding("cp1252", "windows-1252", prose=WINDOWS),
        Encoding("cp932", "shift_jis", prose=JAPANESE), Encoding("gb18030", "gb18030"), Encoding("utf-16-le", "utf-16le"), Encoding("utf-16-be", "utf-16be"), Encoding("utf-16-le", "utf-16", b"\xff\xfe"),
        Encoding("koi8-r", "koi8-r", prose=RUSSIAN), Encoding("cp1251", "windows-1251", prose=RUSSIAN), Encoding("euc-kr", "euc-kr", prose=KOREAN), Encoding("euc-jp", "euc-jp", prose=JAPANESE),
        Encoding("big5", "big5", prose=["昨天我和朋友一起去了餐廳。", "這本書很有意思。"]), Encoding("utf-32-le", "utf-32le")]


def encoding(r):
    kind = r.random()
    if kind < 0.55:
        return Encoding(mark=b"\xef\xbb\xbf") if r.random() < 0.2 else Encoding()
    return r.choice(FOUND) if kind < 0.8 else r.choice(TOLD)


def text(r, chosen=Encoding(), controls=False):
    """One text; now and then empty, long, or of several lines."""
    if chosen.prose is not None:
        return " ".join(r.choice(chosen.prose) for _ in range(r.randint(1, 4)))
    pool = ANYTHING if controls else PRINTED
    kind = r.random()
    if kind < 0.3:
        return r.choice(pool)
    if kind < 0.35:
        return ""
    if kind < 0.37:
        return "".join(r.choice(pool) for _ in range(r.randint(100, 400)))
    words = r.choice(pool).split(" ") + r.choice(pool).split(" ")
    return r.choice([" ", " ", "\n", ", ", '"', "\t"]).join(r.choice(words) for _ in range(r.randint(1, 12)))


def count(r):
    """How many rows: few, sometimes none, seldom many."""
    return r.choice([0, 1, 1, 2, 3, 5, 8, 8, 12, 20, 30, 40]) if r.random() < 0.9 else r.choice([99, 101, 300, 1024, 1025, 2500])


def decoded(chosen, data):
    """As Python reads it, in UTF-8 and without a byte order mark. Furrow keeps bytes that are not UTF-8 as they are, so they are not decoded here."""
    return (data if chosen.codec == "utf-8" else data.decode(chosen.codec).encode()).removeprefix(b"\xef\xbb\xbf")


def settings_of(chosen, plain):
    """What Furrow must be told of the encoding. Few bytes that are no ASCII say nothing about it: then it keeps them as they are."""
    little = chosen in FOUND and chosen.prose is not None and sum(not c.isascii() for c in plain) < 30
    told = chosen.setting or (chosen.codec if little else "")
    return {"encoding": told} if told else {}


def usual_column(paths):
    """The column that its name says, as the help of text_column has it: by name whatever its case, a list of that name, the two usual conversations, a nested column whose last part has the name. None: the amount of text decides."""
    usuals = "text", "txt", "content", "sentence", "document", "article", "body"
    for usual in usuals:
        for wanted in usual, usual + "[]":
            same = [path for path in paths if path == wanted] + [path for path in paths if path.lower() == wanted]
            if same:
                return same[0]
    nested = [path for usual in usuals for path in paths if last_part(path) == usual]
    return next((path for path in ["messages[].content", "conversations[].value"] + nested if path in paths), None)


def last_part(path):
    """Of a nested path: the name of its last member in lower case."""
    parts = re.split(r"(?<!\\)\.", re.sub(r"(?<!\\)\[\]", ".[]", path))
    names = [part for part in parts if part != "[]"]
    return re.sub(r"\\(.)", r"\1", names[-1]).lower() if len(parts) > 1 and names else None


# --- compression ---

def cut_at_will(r, data):
    """The bytes in one to four pieces, some of them empty."""
    places = sorted(r.randint(0, len(data)) for _ in range(r.choice([0, 0, 1, 3])))
    return [data[a:b] for a, b in zip([0] + places, places + [len(data)])]


def gzip_member(r, data):
    """One member, now and then with the name and the comment that gzip may keep, or stored without compression."""
    if r.random() < 0.7:
        return gzip.compress(data, r.randint(0, 9))
    body = zlib.compressobj(r.randint(0, 9), zlib.DEFLATED, -15)
    packed = body.compress(data[:len(data) // 2]) + body.flush(zlib.Z_FULL_FLUSH) + body.compress(data[len(data) // 2:]) + body.flush()
    flags, extra = 0, b""
    for bit, field in (4, b"\x05\0abcde"), (8, b"name.txt\0"), (16, b"a comment\0"):
        if r.random() < 0.5:
            flags, extra = flags | bit, extra + field
    return b"\x1f\x8b\x08" + bytes([flags]) + b"\0\0\0\0\0\xff" + extra + packed + zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xffffffff).to_bytes(4, "little")


def zstd_frame(r, data):
    if r.random() < 0.5:
        return pa.Codec("zstd", r.choice([1, 3, 9])).compress(data, asbytes=True)
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:  # a frame that does not say how much is in it
        out.write(data)
    return sink.getvalue().to_pybytes()


def packed(r, data):
    """The bytes as a file of one of the compressions, and how its name ends."""
    kind = r.random()
    if kind < 0.6:
        return data, ""
    if kind < 0.8:
        return b"".join(gzip_member(r, piece) for piece in cut_at_will(r, data)) + r.choice([b"", b"", b"\0" * 512]), r.choice([".gz", ".GZ", ".gzip"])
    skipped = b"\x52\x2a\x4d\x18\x03\0\0\0abc"
    return b"".join(r.choice([b"", b"", skipped]) + zstd_frame(r, piece) for piece in cut_at_will(r, data)), r.choice([".zst", ".zstd"])


def spoiled(r, data):
    """Compressed bytes, cut, or with a flipped bit behind the header of gzip, which has a checksum. (Behind its last member gzip ignores what is damaged, and Furrow too, but Python does not.)"""
    is_gzip = data.startswith(b"\x1f\x8b")
    data = data.rstrip(b"\0") if is_gzip else data
    if r.random() < 0.5 or len(data) < 19 or not is_gzip:
        return data[:r.randint(1, len(data) - 1)]
    at = r.randint(10, len(data) - 1)
    return data[:at] + bytes([data[at] ^ 1 << r.randint(0, 7)]) + data[at + 1:]


def unpacked(path):
    """What Python (gzip) and Arrow (zstd) read of a file; None when they refuse it."""
    data = pathlib.Path(path).read_bytes()
    ending = str(path).lower()
    try:
        if ending.endswith((".gz", ".gzip")):
            return gzip.decompress(data)
        if ending.endswith((".zst", ".zstd")):
            with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
                return stream.read()
    except (OSError, EOFError, zlib.error, pa.ArrowException):
        return None
    return data


def write(r, folder, name, chosen, plain, damage=0.0):
    """Writes a text file in an encoding and a compression. @return its path"""
    data = plain.encode(chosen.codec)
    if chosen.codec == "utf-8" and r.random() < 0.05:
        at = r.randint(0, len(data))
        data = data[:at] + b"\xff" + data[at:]
    data, ending = packed(r, chosen.mark + data)
    if ending and r.random() < damage:
        data = spoiled(r, data)
    if r.random() < 0.1:
        name = name.upper()
    path = folder / (name + ending)
    path.write_bytes(data)
    return path
