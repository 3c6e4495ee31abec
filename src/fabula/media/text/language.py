"""What is known of some languages: their commonest words, and those that tell who speaks of whom."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields

_LOOKED_AT = 2000  # words from which a language is told
_ENOUGH = 0.12  # share of common words below which no language is believed


@dataclass(frozen=True)
class Language:
    """Words of a language, in small letters; the last four are empty where they are not known well enough to tell."""

    common: frozenset[str]  # what stands in every text and in few other languages
    first: frozenset[str]  # of those who speak
    second: frozenset[str]  # of those who are spoken to
    indefinite: frozenset[str]  # articles of what is new
    determiners: frozenset[str]  # before what is known already: definite articles, this and that, my and your
    times: frozenset[str]  # of days, hours, years, and of before and after
    past: frozenset[str]  # common verbs
    present: frozenset[str]  # the same
    places: frozenset[str]  # prepositions before names that are mostly of places; none where all nouns have capitals


def _language(**words: str) -> Language:
    return Language(*(frozenset(words.get(field.name, "").split()) for field in fields(Language)))


LANGUAGES: Mapping[str, Language] = {
    "en": _language(
        common="the of and to in a that was he it his i with as had is for her not but at on she be you by which "
        "have from",
        first="i me my mine myself we us our ours i'm i've i'll i'd",
        second="you your yours yourself thou thee thy you're you've you'll",
        indefinite="a an",
        determiners="the this that these those my his her your their our its",
        times="then now when before after while until till since soon later often always never again already "
        "yesterday today tomorrow morning evening night day days noon afternoon midnight hour hours minute "
        "minutes moment week weeks month months year years spring summer autumn winter once meanwhile ago",
        past="was were had did said went came thought knew could wasn't weren't hadn't didn't couldn't",
        present="is are am has does says goes comes thinks knows can isn't aren't hasn't doesn't can't it's i'm",
        places="in at near towards toward through",
    ),
    "fr": _language(
        common="de la et le les à il un que des en une elle dans qui ne pas se du est ce au pour était vous avec "
        "sur son lui",
        first="je me moi mon ma mes nous notre nos",
        second="tu te toi ton ta tes vous votre vos",
        indefinite="un une des",
        determiners="le la les l ce cet cette ces mon ma mes son sa ses votre vos notre nos leur leurs ton ta tes",
        times="alors maintenant quand lorsque avant après pendant depuis bientôt souvent toujours jamais encore "
        "déjà hier demain aujourd'hui matin soir nuit jour jours midi minuit heure heures minute minutes "
        "moment semaine mois an ans année années printemps été automne hiver puis enfin ensuite",
        past="était étaient étais fut furent avait avaient avais eut eurent allait alla pouvait voulait savait faisait",
        present="est sont suis sommes êtes ont avons avez va vont peut veut sait fait font",
        places="à en dans vers",
    ),
    "de": _language(
        common="und die der er sie zu in den das es ich nicht mit sich ein war dem von so auf eine ist wie als "
        "auch an ihr",
        first="ich mich mir mein meine meinen meiner wir uns unser unsere",
        second="du dich dir dein deine deinen euch euer ihnen",
        indefinite="ein eine einen einem einer eines",
        determiners="der die das den dem des dieser diese dieses diesem diesen mein meine meinen meinem meiner "
        "sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer",
        times="dann jetzt nun wann wenn bevor nachdem während seit bis bald später oft immer nie wieder schon "
        "gestern heute morgen abend nacht tag tage tagen mittag mitternacht stunde stunden minute minuten "
        "augenblick woche wochen monat jahr jahre jahren frühling sommer herbst winter einmal endlich damals",
        past="war waren hatte hatten wurde wurden ging kam konnte wollte mußte musste sagte wußte wusste",
        present="ist sind bin hat habe wird werden geht kommt kann will muß muss sagt weiß",
    ),
    "es": _language(
        common="de que y la en el a los no se un su con por las una lo del al le era más como me pero don sin "
        "había para",
        first="yo me mi mis mí nosotros nos nuestro nuestra",
        second="tú te tu tus ti usted ustedes vos vosotros vuestra vuestro",
        indefinite="un una unos unas",
        determiners="el la los las al del este esta ese esa aquel aquella aquellos aquellas mi mis su sus tu tus "
        "nuestro nuestra",
        times="entonces ahora cuando antes después mientras hasta desde luego pronto siempre nunca jamás ya ayer "
        "hoy mañana tarde noche día días mediodía medianoche hora horas minuto minutos momento semana mes "
        "meses año años primavera verano otoño invierno todavía aún",
        past="era eran fue fueron estaba estaban había habían tenía iba dijo podía quería sabía hizo",
        present="es son está están soy estoy tiene tengo hay va dice puede quiere sabe hace",
        places="en hacia",
    ),
    "it": _language(
        common="di e che la il un a non in si una per era con le del da come i al della più nel gli ma lo sua suo",
        first="io mi me mio mia miei noi ci nostro nostra",
        second="tu ti te tuo tua tuoi voi vi vostro vostra",
        indefinite="un uno una",
        determiners="il lo la i gli le l del della dei delle al alla questo questa quello quella mio mia suo sua loro",
        times="allora adesso ora quando prima dopo mentre finché poi presto spesso sempre mai ancora già ieri oggi "
        "domani mattina sera notte giorno giorni mezzogiorno mezzanotte ore minuto minuti momento settimana "
        "mese mesi anno anni primavera estate autunno inverno",
        past="era erano fu furono aveva avevano andava disse poteva voleva sapeva faceva",
        present="è sono ha hanno ho va dice può vuole sa fa",
        places="a in verso",
    ),
    "pt": _language(
        common="de a que e o não se um os da do em uma com era as por para no na ao dos mais como sua seu mas ele ela",
        first="eu me mim meu minha meus nós nos nosso nossa",
        second="tu te ti teu tua você vocês vos vosso",
        indefinite="um uma uns umas",
        determiners="o a os as do da dos das ao este esta esse essa aquele aquela meu minha seu sua teu tua nosso "
        "nossa",
        times="então agora quando antes depois enquanto até desde logo sempre nunca jamais já ontem hoje amanhã "
        "manhã tarde noite dia dias hora horas minuto minutos momento semana mês meses ano anos primavera "
        "verão outono inverno ainda",
        past="era eram foi foram estava estavam tinha havia ia disse podia queria sabia fez",
        present="é são está estão tem há vai diz pode quer sabe faz",
        places="em para",
    ),
    "nl": _language(
        common="de en het van een hij dat in te was niet zijn op ik met die zij haar er om ze aan voor maar had hem",
        first="ik mij mijn me wij we ons onze",
        second="jij je jou jouw u uw jullie",
        indefinite="een",
        determiners="de het deze die dit dat mijn zijn haar jouw uw ons onze hun",
        times="toen nu wanneer voordat nadat terwijl sinds tot gauw spoedig later vaak altijd nooit weer al "
        "gisteren vandaag morgen ochtend avond nacht dag dagen middag uur uren minuut minuten ogenblik week "
        "weken maand jaar jaren lente zomer herfst winter eens eindelijk",
        past="was waren had hadden werd werden ging kwam kon wilde moest zei wist",
        present="is ben heeft heb wordt worden gaat komt kan wil moet zegt weet",
        places="in te naar uit",
    ),
    "cs": _language(
        common="a v se na i jak to že s z do co je by jen ve tak si za po ten už kde když jsem byl k ale o ze svou "
        "jsi své",
        first="já mě mne mi mně můj má moje mé mého mou my nás nám náš naše",
        second="ty tě tebe ti tobě tvůj tvá tvoje tvé tvou vy vás vám váš vaše",
        determiners="ten ta to toho tomu tom tím tu té tou ti ty těch těm těmi tento tato toto tuto můj má mé mou "
        "tvůj tvá tvé tvou svůj svá své svou svého svým jeho její jejich náš naše",
    ),
    "no": _language(  # and Danish
        common="og i det er en som til på at jeg med for så den ikke han av af var de der sig seg fra om hun men "
        "et har du",
        first="jeg mig meg min mitt mit mine vi oss os vår vor vore",
        second="du dig deg din ditt dit dine dere jer eder eders",
        indefinite="en et ei",
        determiners="den det de denne dette disse min mit mitt mine din dit ditt dine sin sit sitt sine hans "
        "hendes hennes vor",
    ),
}

# What stands after a preposition of place in capitals and is a time.
_TIMES_WORDS = """
    January February March April May June July August September October November December Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday Christmas Easter
"""
TIMES = frozenset(_TIMES_WORDS.split())


def language_of(words: list[str]) -> str:
    """The language of a text by its commonest words, in small letters; empty where none is known well enough.

    >>> language_of("it was the best of times and the worst of times".split()), language_of(["我"])
    ('en', '')
    """
    return language_by(Counter(words[:_LOOKED_AT]))


def language_by(counts: Counter[str]) -> str:
    """The language of a text by how often its words stand in it, in small letters; empty where none is known."""
    total = max(1, counts.total())
    shares = {name: sum(map(counts.__getitem__, known.common)) / total for name, known in LANGUAGES.items()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _ENOUGH else ""


# Words, sentences and paragraphs of a text in any script; where words stand without spaces, characters count.

_JOINED = r"\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0970-\u0dff"
_ALONE = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPACELESS = re.compile(f"[{_ALONE}]")
_RUN = rf"(?:(?![{_ALONE}])[^\W\d_]|[{_JOINED}])"
_WORD = re.compile(rf"{_RUN}+(?:['’\-]{_RUN}+)*|(?![\u0e2f-\u0e5f])[{_ALONE}]")
_PLAIN = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")  # as good where no script needs more, and quicker
_MARKED = re.compile(f"[{_JOINED}{_ALONE}]")
_END = re.compile(  # what may end a sentence first, then what makes it an end: quick to pass over all else
    r"[.!?…。！？؟।\n](?:(?<=[.!?…])[.!?…]*[\"'”’»)\]]*(?:\s+|$)|(?<=[。！？؟।])[。！？؟।]*[」』”]?\s*|(?<=\n)\s*\n)"
)
_BEFORE = 16  # letters of the word before a name that are looked at
_PARAGRAPH = re.compile(r"\n\s*\n")
_UPPER = "".join(c for c in map(chr, range(0x2000)) if unicodedata.category(c) in ("Lu", "Lt"))
_NAME = re.compile(rf"[{_UPPER}](?:(?<=[^\W\d_] .)|(?<=[^\W\d_], .))[^\W\d_]+")  # capital first: few positions have one


def words_of(text: str) -> list[str]:
    """The words of a text; characters in scripts that set no spaces, as Chinese, Japanese and Thai.

    >>> words_of("Don't stop: 20 well-kept gardens."), words_of("我是谁")
    (["Don't", 'stop', 'well-kept', 'gardens'], ['我', '是', '谁'])
    """
    return (_WORD if _MARKED.search(text) else _PLAIN).findall(text)


def starts_of(text: str) -> list[int]:
    """Where each of the words of a text begins."""
    return [word.start() for word in (_WORD if _MARKED.search(text) else _PLAIN).finditer(text)]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, as its marks and empty lines part them.

    >>> sentences_of("It rained. Did it? 下雨了。走吧。")
    ['It rained. ', 'Did it? ', '下雨了。', '走吧。']
    """
    found, start = [], 0
    for end in _END.finditer(text):
        if text[start : end.start()].strip():
            found.append(text[start : end.end()])
        start = end.end()
    return [*found, text[start:]] if text[start:].strip() else found


def paragraphs_of(text: str) -> list[str]:
    """The paragraphs of a text: what empty lines part; its lines, where there are no empty ones."""
    parts = _PARAGRAPH.split(text)
    if len(parts) == 1:
        parts = text.split("\n")
    return [part.strip() for part in parts if part.strip()]


def names_of(text: str) -> list[str]:
    """Capitalised words inside sentences: names, and in some languages nouns."""
    return _NAME.findall(text.replace("\n", " "))


def names_after(text: str) -> list[tuple[str, str]]:
    """Every name as :func:`names_of` has it, after the word before it in small letters, "" where a comma parts them.

    >>> names_after("He lived in Rome with Ann, Tom said.")
    [('in', 'Rome'), ('with', 'Ann'), ('', 'Tom')]
    """
    line = text.replace("\n", " ")
    found = []
    for name in _NAME.finditer(line):
        start = name.start() - 1
        before = line[max(0, start - _BEFORE) : start].rpartition(" ")[2]
        found.append(("" if before.endswith(",") else before.casefold(), name[0]))
    return found


def without_spaces(text: str) -> bool:
    """Whether a text is mostly of a script that sets no spaces between words."""
    start = text[:4000]
    return 2 * len(_SPACELESS.findall(start)) > sum(map(str.isalnum, start))
