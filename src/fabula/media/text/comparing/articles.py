"""Words that stand before what is known already, by language: definite articles, this and that, my and your."""

from __future__ import annotations

from collections.abc import Mapping

_WORDS = {
    "en": "the this that these those my his her your their our its",
    "fr": "le la les l ce cet cette ces mon ma mes son sa ses votre vos notre nos leur leurs ton ta tes",
    "de": "der die das den dem des dieser diese dieses diesem diesen mein meine meinen meinem meiner sein seine seinen "
    "seinem seiner ihr ihre ihren ihrem ihrer",
    "es": "el la los las al del este esta ese esa aquel aquella aquellos aquellas mi mis su sus tu tus nuestro nuestra",
    "it": "il lo la i gli le l del della dei delle al alla questo questa quello quella mio mia suo sua loro",
    "pt": "o a os as do da dos das ao este esta esse essa aquele aquela meu minha seu sua teu tua nosso nossa",
    "nl": "de het deze die dit dat mijn zijn haar jouw uw ons onze hun",
    "cs": "ten ta to toho tomu tom tím tu té tou ti ty těch těm těmi tento tato toto tuto můj má mé mou tvůj tvá tvé "
    "tvou svůj svá své svou svého svým jeho její jejich náš naše",
    "no": "den det de denne dette disse min mit mitt mine din dit ditt dine sin sit sitt sine hans hendes hennes vor",
}

DETERMINERS: Mapping[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _WORDS.items()}
