#!/usr/bin/env python3
"""Writes core/data/tokenizer/newer_code_points.inc and proven_properties.inc: by which character an older Oniguruma sees what the reference sees.

    pip install -r packaging/requirements-oracle.txt
    python tests/oracle/tokenizer_newer.py core/data/tokenizer

Every property that a split pattern may name is asked, for every code point, of the tokenizers library (Unicode 16) and of this system's libonig. A code
point that differs anywhere gets the nearest one that libonig sees as the reference sees the first, in all properties and among neighbours under \\X.
Where there is none (a few letters of new scripts) the script may differ. To be run with the oldest Oniguruma that is supported (6.9.8).
"""
import bisect
import collections
import ctypes
import ctypes.util
import pathlib
import sys

from tokenizers import Regex, pre_tokenizers

CATEGORIES = "L M N P S Z C Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cn Co".split()
PROPERTIES = "Alphabetic Uppercase Lowercase White_Space Emoji Extended_Pictographic Ideographic Unified_Ideograph ASCII Hex_Digit Any Assigned".split()
SCRIPTS = """Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal
Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs
Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Hiragana Imperial_Aramaic
Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Katakana Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu
Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao
Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari New_Tai_Lue Newa Nko Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic
Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic
Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian Sora_Sompeng Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa
Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Unknown Vai Vithkuqi Wancho Warang_Citi Yezidi Yi""".split()
BRACKETS = "alnum alpha ascii blank cntrl digit graph lower print space upper xdigit word".split()
PATTERNS = [r"\p{%s}" % name for name in CATEGORIES + PROPERTIES + SCRIPTS] + [r"\w", r"\d", r"\s", r"\h", "(?i)[[:upper:]]", r"(?i)\p{Ll}"] + ["[[:%s:]]" % name for name in BRACKETS]
AMONG = [lambda c: "a" + c, lambda c: c + "a", lambda c: c + "\u0301", lambda c: c + "\u200d\U0001f469", lambda c: "\U0001f469\u200d" + c, lambda c: c + "\u093f", lambda c: "\u0915" + c]
POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


class Library:
    """This system's Oniguruma."""

    class Region(ctypes.Structure):
        _fields_ = [("allocated", ctypes.c_int), ("count", ctypes.c_int), ("begin", ctypes.POINTER(ctypes.c_int)), ("end", ctypes.POINTER(ctypes.c_int))]

    def __init__(self):
        self.onig = ctypes.CDLL(ctypes.util.find_library("onig"))
        self.utf8 = ctypes.addressof(ctypes.c_char.in_dll(self.onig, "OnigEncodingUTF8"))
        self.syntax = ctypes.c_void_p.in_dll(self.onig, "OnigDefaultSyntax")
        self.onig.onig_region_new.restype = ctypes.POINTER(self.Region)
        encodings = (ctypes.c_void_p * 1)(self.utf8)
        self.onig.onig_initialize(encodings, 1)

    def matches(self, pattern, text):
        """(begin, end) in bytes of each match that is not empty."""
        code = ctypes.c_void_p()
        data = pattern.encode()
        begin = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value
        if self.onig.onig_new(ctypes.byref(code), ctypes.c_void_p(begin), ctypes.c_void_p(begin + len(data)), 0, ctypes.c_void_p(self.utf8), self.syntax, None):
            sys.exit(f"libonig does not know {pattern}")
        region = self.onig.onig_region_new()
        subject = ctypes.create_string_buffer(text, len(text))
        first, at = ctypes.addressof(subject), 0
        while at < len(text):
            where = [ctypes.c_void_p(first + i) for i in (0, len(text), at, len(text))]
            if self.onig.onig_search(code, *where, region, 0) < 0:
                break
            at = region.contents.end[0]
            yield region.contents.begin[0], at
        self.onig.onig_region_free(region, 1)
        self.onig.onig_free(code)


def of_library(library, pattern, text):
    return {ord(c) for begin, end in library.matches(f"(?:{pattern})+", text) for c in text[begin:end].decode()}


def of_reference(pattern):
    split = pre_tokenizers.Split(Regex(pattern), "removed", True)
    text = [chr(c) for c in POINTS]
    return {ord(c) for i in range(0, len(text), 20000) for piece, _ in split.pre_tokenize_str("".join(text[i : i + 20000])) for c in piece}


def main(folder):
    library = Library()
    text = "".join(map(chr, POINTS)).encode()
    here, there, different = collections.defaultdict(set), collections.defaultdict(set), set()
    for number, pattern in enumerate(PATTERNS):
        ours, theirs = of_library(library, pattern, text), of_reference(pattern)
        different |= ours ^ theirs
        for sets, found in (here, ours), (there, theirs):
            for c in found:
                sets[c].add(number)
    clusters = pre_tokenizers.Split(Regex(r"\X"), "isolated", False)
    neighbours = lambda c: tuple(len(clusters.pre_tokenize_str(around(chr(c)))) for around in AMONG)
    neighbours_here = lambda c: tuple(len(list(library.matches(r"\X", around(chr(c)).encode()))) for around in AMONG)
    alike, of_category = collections.defaultdict(list), collections.defaultdict(list)
    category = lambda numbers: frozenset(n for n in numbers if n < len(CATEGORIES))
    for c in POINTS:
        if c not in different:
            alike[frozenset(here[c])].append(c)
            of_category[category(here[c])].append(c)

    def shown_as(c):
        same = alike[frozenset(there[c])]
        at = bisect.bisect(same, c)
        near = [x for x in same[max(0, at - 400) : at + 400] if neighbours_here(x) == neighbours(c)]
        if near:
            return min(near, key=lambda x: abs(x - c))
        near = sorted(of_category[category(there[c])], key=lambda x: (len(here[x] ^ there[c]), abs(x - c)))[:400]
        best = min(near, key=lambda x: (len(here[x] ^ there[c]) + 5 * (neighbours_here(x) != neighbours(c)), abs(x - c)))
        return best if len(here[best] ^ there[c]) < len(here[c] ^ there[c]) else c

    runs = []
    for c in sorted(different):
        kind = (frozenset(there[c]), neighbours(c))
        if runs and runs[-1][1] == c - 1 and runs[-1][2] == kind:
            runs[-1][1] = c
        else:
            runs.append([c, c, kind])
    rows = ["{0x%X, 0x%X, 0x%X}, " % (first, last, shown_as(first)) for first, last, _ in runs if shown_as(first) != first]
    head = "// Made by tests/oracle/tokenizer_newer.py; do not edit. "
    wrapped = lambda items, count: "\n".join("".join(items[i : i + count]).rstrip() for i in range(0, len(items), count)) + "\n"
    (folder / "newer_code_points.inc").write_text(
        head + "Code points that an Oniguruma older than 6.9.10 does not know or knows otherwise: first, last,\n"
        "// and a code point that every supported version sees as the reference sees these.\n" + wrapped(rows, 8), encoding="ascii")
    (folder / "proven_properties.inc").write_text(
        head + "Properties of which every code point was compared with the reference.\n"
        + wrapped(['"%s", ' % name for name in sorted(CATEGORIES + PROPERTIES + SCRIPTS)], 12), encoding="ascii")
    print(len(different), "code points in", len(rows), "runs")


main(pathlib.Path(sys.argv[1]))
