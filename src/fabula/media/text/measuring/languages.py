"""What is known of some languages: their commonest words, and those that tell who speaks of whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

_LOOKED_AT = 2000  # words from which a language is told
_ENOUGH = 0.12  # share of common words below which no language is believed


@dataclass(frozen=True)
class Language:
    """Words of a language, in small letters.

    Attributes
    ----------
    common
        What stands in every text and in few other languages.
    first, second
        Of those who speak, and of those who are spoken to.
    indefinite
        Articles of what is new.
    """

    common: frozenset[str]
    first: frozenset[str]
    second: frozenset[str]
    indefinite: frozenset[str]


def _language(common: str, first: str, second: str, indefinite: str) -> Language:
    return Language(*(frozenset(words.split()) for words in (common, first, second, indefinite)))


LANGUAGES: Mapping[str, Language] = {
    "en": _language(
        "the of and to in a that was he it his i with as had is for her not but at on she be you by which have from",
        "i me my mine myself we us our ours i'm i've i'll i'd",
        "you your yours yourself thou thee thy you're you've you'll",
        "a an",
    ),
    "fr": _language(
        "de la et le les à il un que des en une elle dans qui ne pas se du est ce au pour était vous avec sur son lui",
        "je me moi mon ma mes nous notre nos",
        "tu te toi ton ta tes vous votre vos",
        "un une des",
    ),
    "de": _language(
        "und die der er sie zu in den das es ich nicht mit sich ein war dem von so auf eine ist wie als auch an ihr",
        "ich mich mir mein meine meinen meiner wir uns unser unsere",
        "du dich dir dein deine deinen euch euer ihnen",
        "ein eine einen einem einer eines",
    ),
    "es": _language(
        "de que y la en el a los no se un su con por las una lo del al le era más como me pero don sin había para",
        "yo me mi mis mí nosotros nos nuestro nuestra",
        "tú te tu tus ti usted ustedes vos vosotros vuestra vuestro",
        "un una unos unas",
    ),
    "it": _language(
        "di e che la il un a non in si una per era con le del da come i al della più nel gli ma lo sua suo",
        "io mi me mio mia miei noi ci nostro nostra",
        "tu ti te tuo tua tuoi voi vi vostro vostra",
        "un uno una",
    ),
    "pt": _language(
        "de a que e o não se um os da do em uma com era as por para no na ao dos mais como sua seu mas ele ela",
        "eu me mim meu minha meus nós nos nosso nossa",
        "tu te ti teu tua você vocês vos vosso",
        "um uma uns umas",
    ),
    "nl": _language(
        "de en het van een hij dat in te was niet zijn op ik met die zij haar er om ze aan voor maar had hem",
        "ik mij mijn me wij we ons onze",
        "jij je jou jouw u uw jullie",
        "een",
    ),
    "cs": _language(
        "a v se na i jak to že s z do co je by jen ve tak si za po ten už kde když jsem byl k ale o ze svou jsi své",
        "já mě mne mi mně můj má moje mé mého mou my nás nám náš naše",
        "ty tě tebe ti tobě tvůj tvá tvoje tvé tvou vy vás vám váš vaše",
        "",
    ),
    "no": _language(  # and Danish
        "og i det er en som til på at jeg med for så den ikke han av af var de der sig seg fra om hun men et har du",
        "jeg mig meg min mitt mit mine vi oss os vår vor vore",
        "du dig deg din ditt dit dine dere jer eder eders",
        "en et ei",
    ),
}


def language_of(words: list[str]) -> str:
    """The language of a text, by its commonest words; empty where none is known well enough.

    Parameters
    ----------
    words
        In small letters.

    Examples
    --------
    >>> language_of("it was the best of times and the worst of times".split()), language_of(["我"])
    ('en', '')
    """
    return language_by(Counter(words[:_LOOKED_AT]))


def language_by(counts: Counter[str]) -> str:
    """The language of a text by how often its words stand in it, in small letters; empty where none is known.

    Examples
    --------
    >>> language_by(Counter("det er en dag og jeg er ikke der".split()))
    'no'
    """
    total = max(1, counts.total())
    shares = {name: sum(map(counts.__getitem__, known.common)) / total for name, known in LANGUAGES.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _ENOUGH else ""
