"""What small words of some languages tell: of when, of whether it is told in the past, and of where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What stands after a preposition of place in capitals and is a time.
_TIMES_WORDS = """
    January February March April May June July August September October November December Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday Christmas Easter
"""
TIMES = frozenset(_TIMES_WORDS.split())


@dataclass(frozen=True)
class Grammar:
    """Words of a language, in small letters.

    Attributes
    ----------
    times
        Of days, hours, years, and of before and after.
    past, present
        The same common verbs, in both tenses.
    places
        Prepositions after which a name is mostly that of a place; none where all nouns have capitals.
    """

    times: frozenset[str]
    past: frozenset[str]
    present: frozenset[str]
    places: frozenset[str]


def _grammar(times: str, past: str, present: str, places: str) -> Grammar:
    return Grammar(*(frozenset(words.split()) for words in (times, past, present, places)))


GRAMMARS: Mapping[str, Grammar] = {
    "en": _grammar(
        "then now when before after while until till since soon later often always never again already yesterday today "
        "tomorrow morning evening night day days noon afternoon midnight hour hours minute minutes moment week weeks "
        "month months year years spring summer autumn winter once meanwhile ago",
        "was were had did said went came thought knew could wasn't weren't hadn't didn't couldn't",
        "is are am has does says goes comes thinks knows can isn't aren't hasn't doesn't can't it's i'm",
        "in at near towards toward through",
    ),
    "fr": _grammar(
        "alors maintenant quand lorsque avant après pendant depuis bientôt souvent toujours jamais encore déjà hier "
        "demain aujourd'hui matin soir nuit jour jours midi minuit heure heures minute minutes moment semaine mois an "
        "ans année années printemps été automne hiver puis enfin ensuite",
        "était étaient étais fut furent avait avaient avais eut eurent allait alla pouvait voulait savait faisait",
        "est sont suis sommes êtes ont avons avez va vont peut veut sait fait font",
        "à en dans vers",
    ),
    "de": _grammar(
        "dann jetzt nun wann wenn bevor nachdem während seit bis bald später oft immer nie wieder schon gestern heute "
        "morgen abend nacht tag tage tagen mittag mitternacht stunde stunden minute minuten augenblick woche wochen "
        "monat jahr jahre jahren frühling sommer herbst winter einmal endlich damals",
        "war waren hatte hatten wurde wurden ging kam konnte wollte mußte musste sagte wußte wusste",
        "ist sind bin hat habe wird werden geht kommt kann will muß muss sagt weiß",
        "",
    ),
    "es": _grammar(
        "entonces ahora cuando antes después mientras hasta desde luego pronto siempre nunca jamás ya ayer hoy mañana "
        "tarde noche día días mediodía medianoche hora horas minuto minutos momento semana mes meses año años "
        "primavera verano otoño invierno todavía aún",
        "era eran fue fueron estaba estaban había habían tenía iba dijo podía quería sabía hizo",
        "es son está están soy estoy tiene tengo hay va dice puede quiere sabe hace",
        "en hacia",
    ),
    "it": _grammar(
        "allora adesso ora quando prima dopo mentre finché poi presto spesso sempre mai ancora già ieri oggi domani "
        "mattina sera notte giorno giorni mezzogiorno mezzanotte ore minuto minuti momento settimana mese mesi anno "
        "anni primavera estate autunno inverno",
        "era erano fu furono aveva avevano andava disse poteva voleva sapeva faceva",
        "è sono ha hanno ho va dice può vuole sa fa",
        "a in verso",
    ),
    "pt": _grammar(
        "então agora quando antes depois enquanto até desde logo sempre nunca jamais já ontem hoje amanhã manhã tarde "
        "noite dia dias hora horas minuto minutos momento semana mês meses ano anos primavera verão outono "
        "inverno ainda",
        "era eram foi foram estava estavam tinha havia ia disse podia queria sabia fez",
        "é são está estão tem há vai diz pode quer sabe faz",
        "em para",
    ),
    "nl": _grammar(
        "toen nu wanneer voordat nadat terwijl sinds tot gauw spoedig later vaak altijd nooit weer al gisteren vandaag "
        "morgen ochtend avond nacht dag dagen middag uur uren minuut minuten ogenblik week weken maand jaar jaren "
        "lente zomer herfst winter eens eindelijk",
        "was waren had hadden werd werden ging kwam kon wilde moest zei wist",
        "is ben heeft heb wordt worden gaat komt kan wil moet zegt weet",
        "in te naar uit",
    ),
}
