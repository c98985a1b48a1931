"""200 texts in 30 scripts and in between, for comparing tokenizers. The same on every machine and with every version of Python."""
import random

# A sentence or two of each script; the words are those of the first article of the Universal Declaration of Human Rights or of daily life.
SCRIPTS = {
    "Latin": "All human beings are born free and equal. It's NAÏVE, isn't it? Größe, Übermut, Straße; œuvre façade; İstanbul ısı; Tiếng Việt rất đẹp.",
    "Greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι. ΣΊΣΥΦΟΣ, ΟΔΟΣ· ἀρχὴ ἥμισυ παντός;",
    "Cyrillic": "Все люди рождаются свободными и равными. Ёж, ЙОД, ґанок, Ђорђе; ѣ ѳ ѵ 1917 г.",
    "Armenian": "Բոլոր մարդիկ ծնվում են ազատ ու հավասար։ Եւ այո՛, ՀԱՅԱՍՏԱՆ և",
    "Georgian": "ყველა ადამიანი იბადება თავისუფალი. ᲥᲐᲠᲗᲣᲚᲘ ⴀⴁⴂ",
    "Hebrew": "כל בני האדם נולדו בני חורין. שָׁלוֹם עֲלֵיכֶם! 'תל־אביב'",
    "Arabic": "يولد جميع الناس أحراراً متساوين. السَّلَامُ عَلَيْكُمْ، ٢٠٢٤؟ ﷺ ﻻ",
    "Syriac": "ܟܠ ܒܪܢܫܐ ܐܬܝܠܕܘܢ ܚܐܪܐ. ܫܠܳܡܳܐ",
    "Thaana": "ހުރިހާ އިންސާނުން ވެސް އުފަންވަނީ، މިނިވަންކަން",
    "Devanagari": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता। क्षत्रिय १२३ ज़्यादा",
    "Bengali": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা নিয়ে জন্মগ্রহণ করে। ৭৮৯ ক্ষ",
    "Gurmukhi": "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਆਪਣੀ ਮਹਿਮਾ। ਸ਼ਾਂਤੀ ੪੫",
    "Gujarati": "પ્રતિષ્ઠા અને અધિકારોની દૃષ્ટિએ સર્વ માનવો જન્મથી સ્વતંત્ર",
    "Oriya": "ସମସ୍ତ ମନୁଷ୍ୟ ଜନ୍ମକାଳରୁ ସ୍ୱାଧୀନ। ୧୨",
    "Tamil": "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; ௧௨௩",
    "Telugu": "ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులు",
    "Kannada": "ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ ಜನಿಸಿದ್ದಾರೆ. ೧೨ ೳ",
    "Malayalam": "മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടും ൽ ൻ ർ",
    "Sinhala": "සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත. ශ්‍රී",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน ๒๕๖๗ กำลัง",
    "Lao": "ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ ໑໒ ຳ",
    "Tibetan": "འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས། ༡༢ ཱྀ",
    "Myanmar": "လူတိုင်းသည် တူညီလွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် မွေးဖွား ၁၂",
    "Ethiopic": "የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርም እኩል። ፩፪፫",
    "Cherokee": "ᏂᎦᏓ ᎠᏂᏴᏫ ᎨᎫᏓᎸᎾ ᎠᎴ ꭰꭱꭲ",
    "Canadian": "ᐃᓄᓗᒃᑖᑦ ᐃᓅᓚᐅᓲᖑᕗᑦ ᐃᓱᒪᖅᓱᕐᖢᑎᒃ",
    "Khmer": "មនុស្សទាំងអស់កើតមកមានសេរីភាព ១២ ៗ។",
    "Mongolian": "ᠬᠦᠮᠦᠨ ᠪᠦᠷ ᠲᠥᠷᠥᠵᠦ ᠮᠡᠨᠳᠡᠯᠡᠬᠦ᠃ ᠑᠒",
    "Hangul": "모든 인간은 태어날 때부터 자유로우며 평등하다. 각가 ㄱㄴㄷ 한글",
    "Japanese": "すべての人間は、生まれながらにして自由であり、ガギグ ｶﾞｷﾞ ー々〆ヶ 東京タワー！",
    "Chinese": "人人生而自由，在尊嚴和權利上一律平等。「你好」３．１４ 𠀀𠮷𪚥 㐀 豈 〇",
}
ODD = [
    "", " ", "\n", "  \t \r\n ", "a", "'", "I'll SAY it's 12345, OK?", "x   y  z ", "   leading", "trailing   ", "a\r\nb\n\nc\r", "tabs\tand\u00a0no-break\u2003em\u3000wide",
    "e\u0301 \u00e9 \u1e9b\u0323 \ufb01 \u2126 \u212b \u00bd \u2460 \u3392 \uff21\uff42", "\u0301\u0302 floating", "zero\u200bwidth\u200djoin\u200cers \ufeffbom \u2060",
    "control\x01\x07\x1b\x7f\x85\x9f \x00 nul", "\ufffd replacement \u2581 lower \u2581\u2581one", "emoji 😀👩\u200d👩\u200d👧\u200d👦🇩🇪🏳\ufe0f\u200d🌈👍🏽 1\ufe0f\u20e3", "math ∑∫√≠ ℕ𝔸𝕏 ∀x∈ℝ: x²≥0",
    "$100 €5 £3 ¥7 ^ ` ~ | + < = > \u00ac \u00b1 \u00d7", "«quotes» „low“ ‚x‘ “y” ‘z’ – — … ‽ ¿¡ § ¶ † ‡ •", "http://a.b/c?d=e&f=g#h user@host.org C++ C# .NET", "snake_case camelCase PascalCase kebab-case CONST_X",
    "if (x) {\n\t\treturn a[i] += 0x1F;\n    }\n", "<s> </s> <unk> [CLS] [SEP] [MASK] <|endoftext|> <pad>", "don't do not isn't I'm we've they're 'n' rock'n'roll n't", "1 12 123 1234 12345 1,234.56 ١٢٣ १२३ ５６７ Ⅷ ¾ ³",
    "word. Word! WORD? wOrD,word;word:word", "ǅ ǈ ǋ Ǆ ß ẞ ſ ı İ ŉ ΐ ﬀ K Å", "ΑΣ ΑΣΑ Σ ς σ", "ⓐⓑ Ⓐ 🄰 ㊀ ㍿", "\u0600\u0661 \u06dd \u08e2 prepended", "\ua9c0\u0d4e\u11720\u1171e old marks",
    "𞤀𞤣𞤢𞥄𞤤 𐐀𐐨 𖹀𖹠 𑢠𑣀", "newer: \U00031350\U0002ebf0 \u0cf3\u0ece \U00010ec4 \U0001e4d0\U0001e4f0 \U00011f02\U00011f50 \U00010d50\U00010d70 \ua7cb\ua7dc\u019b \U0001fae8",
    "private \ue000\U000f0000 unassigned \u0378\U000e0080 noncharacter \ufdd0\uffff", "\u1100\u1161\u11a8 \u1100\u1100 \uac00\u11a8", "half ｈａｌｆ ＦＵＬＬ ｶﾀｶﾅ ﾞ ￥", "a" * 130, "ab" * 60, "=" * 33 + "\n" + "-" * 20, "字" * 40,
    "😀" * 12, " a" * 30, "\u0915\u094d\u200d\u0937 \u0915\u094d\u0937", "x\u0338 x\u20d2 A\u030a\u0323",
]


def texts(count=200):
    """The odd ones, a sentence of each script, then mixtures of their words."""
    found = ODD + list(SCRIPTS.values())
    r = random.Random(30)
    words = [word for text in found for word in text.split(" ")]
    ends = [" "] * 10 + ["", "", "  ", "\n", "\t", ", ", ". ", "\u3000", "'s ", "-"]
    while len(found) < count:
        found.append("".join(r.choice(words) + r.choice(ends) for _ in range(r.randint(3, 14))))
    return found[:count]
