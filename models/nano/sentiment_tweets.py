"""WNUT17's training tweets with a sentiment, and what can be changed in them without changing it.

The corpus has no such labels. These were written for this project by reading each tweet: what does the
writer express? A tweet whose number is in neither list expresses nothing, or as much of the one as of
the other. Of equal tweets one may be listed for all.
"""

import functools
import html
import re

import sentiment_lexicon as lexicon
from corpora import common_words, wnut_train
from pools import Pool
from sentiment_words import EMOJI_NEG, EMOJI_POS

LABELS = ["positive", "neutral", "negative"]
READ = 0.8  # how far the label is trusted; the rest is what VADER says
ENGLISH_MIN = 0.25  # share of frequent English words that a tweet must have
CLITIC = re.compile(r" (n't|'s|'m|'re|'ve|'ll|'d)\b", re.IGNORECASE)
BEFORE_MARK = re.compile(r"\s+([.,!?:;])(?=\s|$)")

POSITIVE = """
4 9 12 17 18 20 23 24 31 35 39 41 42 46 50 53 63 64 65 68 74 81 85 86 91 93 94 96 99 102 103 105 106 107 111
117 121 124 126 139 144 148 149 152 154 155 159 163 167 172 174 178 179 183 184 186 187 192 194 198 204 206
209 213 216 218 219 220 225 231 232 236 237 246 258 260 261 265 267 270 272 273 275 280 281 285 287 291 292
294 303 304 307 310 311 314 320 321 333 341 342 343 345 346 347 349 355 358 359 363 375 376 384 389 392 393
396 398 401 402 403 404 405 409 413 417 418 420 422 424 425 426 428 429 432 433 435 443 444 445 448 451 460
464 466 468 469 472 473 474 477 479 483 486 487 489 490 493 497 501 505 506 510 512 517 521 524 525 543 551
555 556 559 560 561 568 585 586 588 592 596 597 601 609 612 615 624 625 627 633 634 639 651 654 655 656 657
660 663 668 670 672 674 676 681 685 688 689 690 691 692 698 701 708 713 714 721 726 730 731 736 737 738 743
748 749 750 755 757 759 776 780 784 788 789 796 798 808 812 814 819 820 825 826 830 833 834 836 840 843 845
846 848 850 865 868 869 871 873 883 888 894 895 898 899 905 907 916 924 929 934 935 936 938 940 946 952 953
955 958 966 968 973 975 978 979 982 983 985 989 990 991 997 1000 1001 1002 1014 1015 1025 1030 1036 1041
1048 1053 1054 1057 1059 1062 1063 1066 1067 1070 1075 1076 1080 1089 1097 1101 1104 1111 1112 1115 1117
1120 1121 1129 1131 1135 1142 1143 1144 1146 1155 1157 1159 1165 1169 1170 1173 1176 1177 1179 1190 1191
1193 1198 1200 1203 1207 1209 1210 1212 1215 1219 1221 1222 1231 1232 1236 1238 1242 1243 1245 1247 1251
1253 1259 1264 1268 1271 1278 1280 1290 1296 1298 1302 1304 1306 1307 1309 1314 1323 1326 1328 1330 1335
1342 1346 1353 1355 1358 1361 1363 1365 1370 1374 1376 1385 1387 1393 1396 1397 1408 1411 1419 1420 1424
1429 1432 1433 1437 1439 1447 1448 1449 1454 1459 1467 1468 1472 1486 1494 1495 1499 1508 1510 1515 1516
1517 1518 1523 1524 1527 1530 1540 1543 1544 1548 1550 1553 1555 1560 1562 1564 1571 1573 1579 1585 1588
1590 1596 1598 1604 1609 1612 1615 1621 1622 1629 1630 1636 1638 1643 1644 1645 1649 1653 1654 1656 1657
1660 1662 1663 1664 1667 1672 1686 1688 1689 1694 1695 1696 1697 1698 1700 1705 1707 1710 1714 1716 1717
1718 1727 1732 1735 1738 1741 1744 1748 1749 1754 1755 1761 1763 1769 1771 1776 1780 1785 1787 1790 1795
1797 1800 1802 1806 1807 1808 1810 1813 1816 1820 1821 1823 1825 1826 1829 1836 1838 1841 1842 1843 1845
1853 1854 1856 1863 1866 1867 1876 1886 1887 1890 1897 1900 1903 1910 1912 1916 1920 1921 1922 1936 1937
1943 1947 1955 1958 1964 1966 1974 1977 1981 1982 1986 1992 1995 2002 2005 2006 2007 2008 2009 2018 2023
2033 2034 2037 2040 2041 2042 2045 2048 2049 2054 2055 2056 2060 2062 2064 2071 2075 2079 2088 2089 2090
2094 2099 2101 2104 2109 2111 2113 2116 2119 2122 2123 2124 2126 2127 2128 2132 2136 2138 2139 2140 2144
2145 2152 2154 2162 2167 2168 2170 2172 2176 2178 2180 2181 2185 2186 2192 2204 2205 2206 2210 2211 2213
2214 2216 2217 2232 2233 2234 2235 2241 2242 2247 2248 2254 2261 2263 2269 2278 2284 2288 2290 2297 2302
2304 2307 2310 2330 2331 2339 2342 2343 2350 2356 2360 2367 2372 2376 2382 2387 2392 2395 2397 2399 2410
2411 2421 2423 2425 2427 2445 2447 2452 2478 2479 2496 2497 2515 2526 2527 2531 2532 2548 2550 2558 2561
2575 2578 2580 2581 2582 2585 2590 2617 2621 2622 2625 2630 2636 2640 2644 2656 2659 2661 2662 2682 2683
2686 2703 2706 2707 2714 2716 2729 2736 2744 2751 2754 2755 2757 2761 2768 2771 2773 2783 2787 2793 2797
2803 2811 2819 2820 2821 2823 2827 2830 2835 2843 2846 2852 2859 2869 2871 2884 2890 2898 2903 2905 2908
2910 2914 2915 2916 2917 2919 2922 2926 2933 2934 2935 2949 2966 2973 2985 2987 2993 3013 3014 3020 3027
3030 3046 3048 3053 3056 3058 3059 3060 3065 3069 3076 3080 3085 3095 3097 3099 3101 3103 3109 3119 3127
3130 3132 3135 3143 3156 3160 3188 3192 3199 3201 3210 3212 3217 3221 3231 3232 3234 3236 3237 3238 3239
3245 3246 3256 3268 3274 3279 3281 3283 3294 3306 3308 3331 3334 3336 3355 3361 3368 3369 3370 3378 3379
3382 3383 3391 3392
"""
NEGATIVE = """
0 5 13 14 15 21 26 27 28 33 43 48 54 55 56 60 61 70 76 78 87 95 98 100 108 110 114 116 119 123 130 134 138
140 142 143 150 151 157 158 166 169 175 177 190 193 202 205 215 224 240 244 250 251 252 255 259 263 276 278
283 286 289 290 297 300 302 313 316 322 328 330 348 350 353 356 360 361 364 371 379 380 381 387 406 410 416
423 427 434 437 438 439 446 457 458 459 470 471 476 480 488 499 507 514 520 522 528 531 532 534 535 537 553
562 563 575 576 580 582 590 593 605 622 626 629 632 635 637 645 647 652 653 658 665 677 680 682 684 694 709
712 718 720 724 728 729 740 745 746 747 751 763 765 766 771 785 787 790 791 799 800 806 816 821 827 835 854
861 862 863 872 878 880 889 891 892 896 900 906 908 911 915 917 918 920 941 950 957 969 971 976 984 986 987
992 994 999 1004 1006 1008 1010 1011 1012 1017 1023 1033 1037 1038 1044 1051 1065 1081 1091 1096 1113 1116
1122 1123 1125 1127 1136 1138 1140 1153 1160 1161 1163 1167 1172 1175 1178 1195 1199 1205 1208 1214 1217
1218 1229 1237 1241 1250 1256 1258 1261 1265 1266 1270 1282 1287 1291 1294 1308 1311 1313 1316 1324 1331
1337 1339 1340 1343 1351 1354 1362 1366 1368 1373 1378 1384 1391 1399 1402 1405 1406 1410 1413 1417 1425
1428 1430 1431 1435 1436 1442 1445 1446 1463 1464 1465 1469 1475 1481 1482 1493 1503 1505 1512 1513 1521
1528 1531 1532 1537 1539 1542 1554 1563 1574 1578 1581 1584 1597 1599 1602 1605 1607 1608 1610 1616 1618
1620 1625 1626 1628 1637 1639 1652 1668 1673 1677 1678 1681 1682 1690 1701 1720 1730 1733 1742 1751 1757
1764 1768 1779 1781 1782 1789 1792 1794 1796 1805 1809 1824 1832 1839 1849 1852 1858 1865 1868 1872 1878
1879 1883 1893 1907 1918 1923 1924 1930 1933 1940 1948 1954 1961 1963 1965 1972 1975 1983 1989 1997 1999
2010 2011 2012 2020 2021 2025 2027 2028 2030 2038 2051 2061 2072 2073 2082 2087 2097 2106 2107 2108 2121
2133 2135 2151 2161 2169 2174 2175 2182 2187 2193 2194 2200 2201 2208 2221 2224 2228 2229 2238 2244 2252
2255 2259 2260 2265 2267 2271 2272 2275 2283 2292 2294 2303 2305 2306 2309 2312 2315 2317 2325 2333 2337
2340 2355 2361 2363 2371 2374 2381 2385 2386 2390 2398 2401 2403 2409 2417 2444 2450 2454 2457 2463 2477
2485 2489 2501 2504 2511 2530 2542 2554 2557 2559 2563 2564 2567 2570 2571 2584 2603 2608 2620 2627 2642
2643 2648 2650 2651 2654 2660 2663 2665 2689 2690 2694 2696 2697 2718 2719 2725 2732 2742 2747 2758 2764
2776 2777 2791 2796 2798 2809 2818 2833 2837 2839 2866 2878 2879 2882 2925 2929 2930 2931 2938 2960 2963
2964 2968 2977 2994 2996 2999 3003 3004 3005 3009 3011 3012 3021 3024 3034 3045 3050 3055 3064 3071 3072
3100 3110 3162 3171 3177 3185 3189 3191 3226 3227 3243 3244 3254 3260 3270 3275 3282 3289 3298 3305 3307
3309 3314 3317 3320 3324 3325 3332 3337 3342 3347 3353 3356 3375 3376 3381 3385 3388
"""


class Tweet:
    """The tokens of a tweet, and where entities stand: (from, to, type)."""

    def __init__(self, row, label):
        self.tokens = [clean(token) for token, _ in row]
        self.spans, self.label = [], label
        for i, (_, tag) in enumerate(row):
            if tag.startswith("B-"):
                self.spans.append([i, i + 1, tag[2:]])
            elif tag.startswith("I-") and self.spans and self.spans[-1][1] == i:
                self.spans[-1][1] = i + 1

    def text(self):
        return joined(self.tokens)

    @functools.cached_property
    def soft(self):
        """{label: probability}, from the label and from the words."""
        out = dict.fromkeys(LABELS, 0.0)
        for label, p in lexicon.belief(lexicon.compound(self.text())):
            out[label] = (1 - READ) * p
        out[self.label] += READ
        return out


def clean(token):
    token = html.unescape(token)
    return "http" if re.match(r"https?:", token) else re.sub(r"@\w+", "@user", token)


def joined(tokens):
    """Tokens as running text."""
    return CLITIC.sub(r"\1", BEFORE_MARK.sub(r"\1", " ".join(tokens)))


def is_english(tokens):
    words = [t.lower() for t in tokens if t.isalpha()]
    known = frequent()
    return len(words) >= 3 and sum(w in known for w in words) >= ENGLISH_MIN * len(words)


@functools.cache
def frequent():
    return set(common_words())


@functools.cache
def tweets():
    """{label: Pool of Tweet}"""
    rows = wnut_train()
    numbers = {
        int(n): label
        for label, listed in (("positive", POSITIVE), ("negative", NEGATIVE))
        for n in listed.split()
    }
    by_text = {" ".join(t for t, _ in rows[n]): label for n, label in numbers.items()}
    seen = {}
    for row in rows:
        tweet = Tweet(row, by_text.get(" ".join(t for t, _ in row), "neutral"))
        if is_english(tweet.tokens):
            seen.setdefault(tweet.text(), tweet)
    return {label: Pool(t for t in seen.values() if t.label == label) for label in LABELS}


@functools.cache
def entities():
    """{type: list of entities, as lists of tokens}"""
    out = {}
    for pool in tweets().values():
        for tweet in pool.parts["train"]:
            for start, end, what in tweet.spans:
                out.setdefault(what, []).append(tweet.tokens[start:end])
    return out


def name(rng, *types):
    """The text of an entity."""
    return joined(rng.choice(entities()[rng.choice(types)]))


def renamed(rng, tweet):
    """The tokens with other names in some places."""
    tokens = list(tweet.tokens)
    for start, end, what in reversed(tweet.spans):
        if what in entities() and rng.random() < 0.6:
            tokens[start:end] = rng.choice(entities()[what])
    return tokens


def part(rng, tokens):
    """A piece of some words, which is as neutral as the whole."""
    if len(tokens) < 8:
        return tokens
    length = rng.randrange(4, len(tokens))
    start = rng.choice([0, rng.randrange(len(tokens) - length + 1)])
    return tokens[start : start + length]


def thinned(rng, tokens):
    """Without some of the words that carry no opinion."""
    return [
        t
        for t in tokens
        if rng.random() > 0.12
        or t.lower() in lexicon.ratings()
        or t.lower() in lexicon.NEGATION
        or not t.isalpha()
    ]


def neutral_words(rng, split):
    """Tokens of a neutral tweet, or of a piece of one."""
    tokens = renamed(rng, tweets()["neutral"].pick(rng, split))
    return part(rng, tokens) if rng.random() < 0.5 else tokens


def draw(rng, label, split):
    """(text, soft) of a tweet; those of the training part are changed. `soft` is None for held-out ones."""
    tweet = tweets()[label].pick(rng, split)
    if split != "train":
        return tweet.text(), None
    tokens = renamed(rng, tweet)
    if rng.random() < 0.6:
        tokens = [lexicon.another(rng, t) if rng.random() < 0.35 else t for t in tokens]
    if rng.random() < 0.25:
        tokens = thinned(rng, tokens)
    if rng.random() < 0.22:
        more = part(rng, renamed(rng, tweets()["neutral"].pick(rng, split)))
        tokens = tokens + more if rng.random() < 0.5 else more + tokens
    return joined(tokens), tweet.soft


FRAMES_WORD = """so {w};{w};{w} {w2};how {w};really {w};very {w};this is {w};that was {w};it is {w};just {w};{w} and {w2};
feeling {w};what a {w} day;so {w} and {w2};more {w};{w} people;all this {w};{w} as always;too {w};pretty {w};
they are {w};he is {w};she was so {w};you {w};I {w} it;we {w} them;{w} again;full of {w};no more than {w};totally {w};
looks {w};sounds {w} to me;makes me {w};the {w} of it;such {w};everyone is {w};{w} times;{w} news;{w} story;{w} night
""".replace("\n", "").split(";")
NOT_FRAMES = [
    "not {w}",
    "not so {w}",
    "never {w}",
    "isn't {w}",
    "don't {w}",
    "not {w} at all",
    "wasn't {w}",
    "without {w}",
    "can't be {w}",
    "no {w}",
    "not very {w}",
]


def rated(rng, good):
    """(phrase, rating) of one or two words of the lexicon."""
    word, rating = lexicon.word_of(rng, good)
    frame = rng.choice(FRAMES_WORD)
    if "{w2}" not in frame:
        return frame.replace("{w}", word), rating
    second, more = lexicon.word_of(rng, good)
    return frame.replace("{w2}", second).replace("{w}", word), rating + more


def turned(rng, good):
    """(phrase, rating) of a negated word of the other side."""
    word, rating = lexicon.word_of(rng, not good)
    return rng.choice(NOT_FRAMES).replace("{w}", word), rating * lexicon.TURNED


def face(rng, good):
    """An emoji, or an emoticon of the lexicon."""
    if rng.random() < 0.6:
        return rng.choice(EMOJI_POS if good else EMOJI_NEG)
    return lexicon.face_of(rng, good)


def scattered(rng, label):
    """(text, soft): a neutral tweet with rated words here and there. The sum of the ratings is what it
    says, so this teaches the words of the lexicon in the company of posts."""
    tokens = neutral_words(rng, "train")
    length = rng.random()
    if length < 0.2 and label != "neutral":  # nearly nothing but the rated words
        tokens = tokens[: rng.randrange(3)]
    elif length < 0.5:
        tokens = part(rng, tokens)
    good = label == "positive" or (label == "neutral" and rng.random() < 0.5)
    total = 0.0
    for _ in range(rng.choice([1, 1, 2, 2, 3]) if label != "neutral" else rng.choice([0, 1])):
        chance = rng.random()
        if chance < 0.14 or label == "neutral":
            phrase, rating = turned(rng, good)
        elif chance < 0.5:
            phrase, rating = rated(rng, good)
        elif chance < 0.58:
            word, rating = lexicon.word_of(rng, good)
            phrase = "#" + word
        elif chance < 0.66:
            phrase, rating = face(rng, good), 2.0 if good else -2.0
        elif chance < 0.74:
            phrase, rating = rated(rng, not good)
            rating *= 0.5
        else:
            phrase, rating = lexicon.word_of(rng, good)
        total += rating
        at = rng.choice([0, len(tokens), rng.randrange(len(tokens) + 1)])
        tokens = tokens[:at] + [phrase] + tokens[at:]
    return joined(tokens), dict(lexicon.belief(lexicon.squash(total)))
