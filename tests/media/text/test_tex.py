"""Letters of LaTeX: accents, ligatures and spaces that are commands."""

import pytest

from fabula.media.text.formats import tex_document


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (r"Le caf\'e \'etait ferm\'e{}.", "Le café était fermé."),
        (r"\'{e} {\'e} \' e \`a \^{\i} \'\i na\"ive \~n \=a \.z", "é é é à î í naïve ñ ā ż"),
        (r"\c{c}a gar\c con \v{s} \v s \H{o} \k{a} \r{a} \u{g} \d{h}", "ça garçon š š ő ą å ğ ḥ"),
        (r"Stra\ss e, Stra{\ss}e, \oe uvre, {\OE}uvre", "Straße, Straße, œuvre, Œuvre"),
        (r"\aa, \o{} og \L\'od\'z", "å, ø og Łódź"),
        (r"wait\ldots{} then \ldots so\dots", "wait… then … so…"),
        (r"5\,\%, z.\,B., Kauf\-haus, Mr.\ X, a\@.", "5 %, z. B., Kaufhaus, Mr. X, a."),
        (r"one\\two\\[2pt]three\\* four", "one\ntwo\nthree\n four"),
        (r"\emph{caf\'e} \textbf{so} \'{} \url{http://x.org}", "café so  http://x.org"),
        (r"\og Oui\fg{} \textquotedblleft no\textquotedblright", "« Oui» “no”"),
        (r"a \& b \$5 \#1 \_x", "a & b $5 #1 _x"),
        (r"\section{Caf\'e \"Uber}" + "\nrain", "Café Über"),
    ],
)  # fmt: skip
def test_letters_of_latex(written, said):
    assert tex_document(f"\\begin{{document}}\n{written}\n\\end{{document}}").blocks[1].text == said


def test_who_wrote_it():
    found = tex_document(
        "\\title{L'{\\'e}t\\'e}\n\\author{Zo\\\"{e} M\\\"uller}\n\\begin{document}\nRain.\n\\end{document}"
    )
    assert (found.title, found.author) == ("L'été", "Zoë Müller")
