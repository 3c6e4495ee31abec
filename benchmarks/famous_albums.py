"""Famous albums from public facts: ``python -m benchmarks.famous_albums`` (titles and lengths, nothing else).

Twenty works that are numbered and twenty albums with skits or interludes, shuffled and ordered as `fabula order` does:
whether the numbers come out in order, whether two skits stand side by side, whether an album opens with its Outro.
``--no-series`` leaves what titles ask for out. ``--data DATA`` also says what titles that count give or cost on
validation albums, in bits of N = 32: what they ask for is added to the model's score, softly.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.special import log_softmax

import fabula
from fabula.core.arrays import Ints
from fabula.core.collection import Collection, Item
from fabula.evaluation.intervals import Interval, mean_interval
from fabula.media.extraction import Measuring
from fabula.media.registry import find_medium
from fabula.models.model import load_model
from fabula.models.titles import find_closers, find_interludes
from fabula.session.propose import judge
from fabula.session.request import Request, TitleWishes, find_title_wishes
from fabula.session.session import Session, source_session
from fabula.sources.registry import Source

# One line a track and its length, as near as it is remembered; numbered tracks in their order, others behind a dash.
NUMBERED = {
    "Beethoven: Symphony No. 5": """
        Symphony No. 5 in C Minor, Op. 67: I. Allegro con brio 7:21
        Symphony No. 5 in C Minor, Op. 67: II. Andante con moto 10:02
        Symphony No. 5 in C Minor, Op. 67: III. Allegro 5:34
        Symphony No. 5 in C Minor, Op. 67: IV. Allegro 10:52""",
    "Dvořák: Symphony No. 9": """
        Symphony No. 9 "From the New World": I. Adagio - Allegro molto 11:50
        Symphony No. 9 "From the New World": II. Largo 12:23
        Symphony No. 9 "From the New World": III. Scherzo 7:52
        Symphony No. 9 "From the New World": IV. Allegro con fuoco 11:15""",
    "Vivaldi: The Four Seasons": """
        Concerto No. 1 in E major "La primavera": I. Allegro 3:30
        Concerto No. 1 in E major "La primavera": II. Largo 2:37
        Concerto No. 1 in E major "La primavera": III. Allegro 4:01
        Concerto No. 2 in G minor "L'estate": I. Allegro non molto 5:20
        Concerto No. 2 in G minor "L'estate": II. Adagio 2:05
        Concerto No. 2 in G minor "L'estate": III. Presto 2:48""",
    "Bach: Little Preludes": """
        Prelude No. 1 in C Major 1:02
        Prelude No. 2 in C Minor 1:21
        Prelude No. 3 in D Minor 1:12
        Prelude No. 4 in D Major 1:44
        Prelude No. 5 in E Minor 1:55
        Prelude No. 6 in E Minor 1:08""",
    "Satie: Gnossiennes among Gymnopédies": """
        Gnossienne No. 1 3:45
        Gnossienne No. 2 2:22
        Gnossienne No. 3 2:58
        --
        Gymnopédie No. 1 3:22
        Gymnopédie No. 2 2:52
        Gymnopédie No. 3 2:40""",
    "Brahms: Violin Concerto": """
        1. Satz: Allegro non troppo 22:01
        2. Satz: Adagio 9:14
        3. Satz: Allegro giocoso 7:48""",
    "Chopin: Piano Sonata No. 2": """
        Sonata in B flat minor: 1st Movement, Grave 7:30
        Sonata in B flat minor: 2nd Movement, Scherzo 6:40
        Sonata in B flat minor: 3rd Movement, Marche funèbre 8:30
        Sonata in B flat minor: 4th Movement, Presto 1:28""",
    "John Coltrane: A Love Supreme": """
        A Love Supreme, Pt. I - Acknowledgement 7:43
        A Love Supreme, Pt. II - Resolution 7:20
        A Love Supreme, Pt. III - Pursuance 10:42
        A Love Supreme, Pt. IV - Psalm 7:05""",
    "Jean-Michel Jarre: Oxygène": """
        Oxygène, Pt. 1 7:39
        Oxygène, Pt. 2 7:49
        Oxygène, Pt. 3 3:16
        Oxygène, Pt. 4 4:14
        Oxygène, Pt. 5 10:23
        Oxygène, Pt. 6 6:20""",
    "Mike Oldfield: Tubular Bells": """
        Tubular Bells (Part One) 25:30
        Tubular Bells (Part Two) 23:20
        --
        Mike Oldfield's Single 3:53""",
    "Pink Floyd: Wish You Were Here": """
        Shine On You Crazy Diamond (Part One) 13:34
        Shine On You Crazy Diamond (Part Two) 12:31
        --
        Welcome to the Machine 7:31
        Have a Cigar 5:08
        Wish You Were Here 5:34""",
    "Pink Floyd: The Wall, side one and two": """
        Another Brick in the Wall, Part 1 3:11
        Another Brick in the Wall, Part 2 3:59
        Another Brick in the Wall, Part 3 1:18
        --
        In the Flesh? 3:16
        The Thin Ice 2:27
        The Happiest Days of Our Lives 1:46
        Mother 5:32
        Goodbye Blue Sky 2:45
        Empty Spaces 2:10
        Young Lust 3:25
        One of My Turns 3:41
        Don't Leave Me Now 4:08
        Goodbye Cruel World 1:16""",
    "Arcade Fire: Funeral": """
        Neighborhood #1 (Tunnels) 4:48
        Neighborhood #2 (Laïka) 3:32
        Neighborhood #3 (Power Out) 5:12
        Neighborhood #4 (7 Kettles) 4:49
        --
        Une année sans lumière 3:40
        Crown of Love 4:42
        Wake Up 5:39
        Haïti 4:07
        Rebellion (Lies) 5:10
        In the Backseat 6:20""",
    "Sigur Rós: ( )": """
        Untitled #1 6:38
        Untitled #2 7:33
        Untitled #3 6:33
        Untitled #4 7:33
        Untitled #5 9:57
        Untitled #6 8:48
        Untitled #7 13:00
        Untitled #8 11:44""",
    "The Decemberists: The Crane Wife": """
        The Crane Wife 1 & 2 11:19
        The Crane Wife 3 4:18
        --
        The Island 12:26
        Yankee Bayonet 4:18
        O Valencia! 3:47
        The Perfect Crime #2 5:33
        When the War Came 5:06
        Shankill Butchers 4:39
        Summersong 3:31
        Sons & Daughters 5:13""",
    "Keith Jarrett: The Köln Concert": """
        Köln, January 24, 1975, Part I 26:01
        Köln, January 24, 1975, Part II 33:45
        --
        Encore 6:56""",
    "Muse: The Resistance": """
        Exogenesis: Symphony Part 1 (Overture) 4:18
        Exogenesis: Symphony Part 2 (Cross-Pollination) 3:56
        Exogenesis: Symphony Part 3 (Redemption) 4:36
        --
        Uprising 5:03
        Resistance 5:46
        Undisclosed Desires 3:55
        United States of Eurasia 5:47
        Guiding Light 4:13
        Unnatural Selection 6:54
        MK Ultra 4:06
        I Belong to You 5:38""",
    "Philip Glass: Solo Piano": """
        Metamorphosis One 5:37
        Metamorphosis Two 7:20
        Metamorphosis Three 5:30
        Metamorphosis Four 6:56
        Metamorphosis Five 5:04
        --
        Mad Rush 13:46
        Wichita Vortex Sutra 6:47""",
    "Mozart: Eine kleine Nachtmusik": """
        Serenade No. 13 in G Major, K. 525: I. Allegro 5:45
        Serenade No. 13 in G Major, K. 525: II. Romanze 5:50
        Serenade No. 13 in G Major, K. 525: III. Menuetto 2:10
        Serenade No. 13 in G Major, K. 525: IV. Rondo 4:00""",
    "Rachmaninoff: Piano Concerto No. 2": """
        I. Moderato 10:45
        II. Adagio sostenuto 11:30
        III. Allegro scherzando 11:20""",
}  # fmt: skip

# With skits or interludes: these, and other tracks of the same album; lengths as near as they are remembered.
INTERLUDES = {
    "Lauryn Hill": """
        Intro 0:47 | Lost Ones 5:33 | Ex-Factor 5:26 | To Zion 6:08 | Doo Wop 5:20 | Superstar 4:56 |
        Interlude: Love 1:10 | Interlude: Teachers 1:30 | Final Hour 4:15 | Forgive Them Father 5:15""",
    "Kanye West: Late Registration": """
        Wake Up Mr. West (Skit) 0:41 | Heard 'Em Say 3:23 | Touch the Sky 3:56 | Gold Digger 3:27 | Skit #1 0:33 |
        Drive Slow 4:32 | Skit #2 0:31 | Crack Music 4:30 | Roses 4:05 | Skit #3 0:24 | Gone 5:33""",
    "Kanye West: The College Dropout": """
        Intro (Skit) 0:19 | We Don't Care 3:59 | Graduation Day 1:22 | All Falls Down 3:43 | Spaceship 5:24 |
        Jesus Walks 3:13 | Workout Plan (Skit) 0:46 | School Spirit 3:02 | School Spirit Skit 1 1:18 |
        School Spirit Skit 2 0:43 | Two Words 4:26 | Last Call 12:40""",
    "Eminem: The Marshall Mathers LP": """
        Public Service Announcement (Skit) 0:25 | Kill You 4:24 | Stan 6:44 | Paul (Skit) 0:10 | Who Knew 3:47 |
        Steve Berman (Skit) 0:53 | The Way I Am 4:50 | The Real Slim Shady 4:44 | Ken Kaniff (Skit) 1:01 |
        Criminal 5:19""",
    "Janet Jackson: Rhythm Nation": """
        Interlude: Pledge 0:47 | Rhythm Nation 5:31 | Interlude: T.V. 0:22 | State of the World 4:48 |
        Interlude: Race 0:05 | The Knowledge 3:54 | Interlude: Let's Dance 0:03 | Miss You Much 4:12 |
        Alright 6:26 | Escapade 4:44 | Someday Is Tonight 6:00""",
    "Solange: A Seat at the Table": """
        Rise 1:41 | Weary 3:14 | Interlude: The Glory Is in You 0:19 | Cranes in the Sky 4:10 |
        Interlude: Dad Was Mad 0:46 | Mad 3:55 | Don't You Wait 4:05 | Interlude: Tina Taught Me 1:14 |
        Don't Touch My Hair 4:17 | Closing: The Chosen Ones 0:42""",
    "De La Soul": """
        Intro 1:41 | The Magic Number 3:16 | Change in Speak 2:33 | Cool Breeze on the Rocks (Skit) 0:48 |
        Jenifa Taught Me 3:25 | Ghetto Thang 3:36 | Eye Know 4:13 | Tread Water 3:46 | Take It Off (Skit) 1:53 |
        Buddy 4:55""",
    "Alicia Keys": """
        Piano & I (Interlude) 1:52 | Girlfriend 3:34 | How Come You Don't Call Me 3:57 | Fallin' 3:30 |
        Troubles 4:28 | Rock wit U 5:36 | The Life 5:25 | Mr. Man 4:09 | Never Felt This Way (Interlude) 2:01 |
        Butterflyz 4:08""",
    "OutKast": """
        Hey Ya! 3:55 | Roses 6:09 | Good Day, Good Sir (Interlude) 1:24 | Behold a Lady 4:37 | Pink & Blue 5:04 |
        God (Interlude) 2:20 | Happy Valentine's Day 5:23 | Spread 3:51 | Where Are My Panties (Interlude) 1:54 |
        Prototype 5:26""",
    "Dr. Dre": """
        Lolo (Intro) 0:40 | The Watcher 3:26 | Still D.R.E. 4:30 | Bar One (Interlude) 0:51 |
        Forgot About Dre 3:42 | The Next Episode 2:41 | Ed-Ucation (Skit) 1:32 | Bang Bang 3:42 | The Message 5:30 |
        Outro 1:02""",
    "TLC: CrazySexyCool": """
        Creep 4:28 | Kick Your Game 4:14 | Diggin' on You 4:14 | Case of the Fake People 4:04 |
        CrazySexyCool (Interlude) 1:47 | Red Light Special 5:02 | Waterfalls 4:39 | Let's Do It Again 4:16 |
        If I Was Your Girlfriend 4:36 | Sexy (Interlude) 1:35 | Take Our Time 4:33 |
        Can I Get a Witness (Interlude) 2:57 | Switch 3:31""",
    "SZA": """
        Supermodel 3:01 | Love Galore 4:35 | Doves in the Wind 4:26 | Drew Barrymore 3:51 | Prom 3:16 |
        Wavy (Interlude) 1:15 | Garden 3:28 | Broken Clocks 3:51 | Mama Says (Interlude) 0:25 | 20 Something 3:18""",
    "Frank Ocean": """
        Start 0:46 | Thinkin Bout You 3:21 | Fertilizer (Interlude) 0:40 | Sierra Leone 2:29 | Sweet Life 4:23 |
        Not Just Money (Interlude) 1:00 | Super Rich Kids 5:05 | Pyramids 9:53 | Lost 3:54 |
        White (Interlude) 1:16 | Bad Religion 2:55 | End 2:14""",
    "Destiny's Child": """
        Intro 0:40 | Independent Women 3:41 | Survivor 4:14 | Bootylicious 3:28 | Nasty Girl 4:18 |
        Gospel Medley 3:25 | Interlude: Fancy 0:22 | Emotion 3:56 | Brown Eyes 4:36 | Interlude: Sexy 0:30 |
        Outro 1:10""",
    "Wu-Tang Clan": """
        Bring da Ruckus 4:10 | Shame 2:57 | Clan in da Front 4:33 | 7th Chamber 6:05 | Torture (Skit) 0:59 |
        Da Mystery of Chessboxin' 4:47 | C.R.E.A.M. 4:12 | Method Man (Skit) 0:58 | Protect Ya Neck 4:51 |
        Tearz 4:17""",
    "Nas": """
        The Genesis (Skit) 1:45 | N.Y. State of Mind 4:54 | Life's a Bitch 3:30 | The World Is Yours 4:50 |
        Halftime 4:20 | Memory Lane 4:08 | One Love 5:25 | One Time (Skit) 0:40 | Represent 4:12 |
        It Ain't Hard to Tell 3:22""",
    "Kendrick Lamar": """
        Sherane 4:33 | Backseat Freestyle 3:32 | The Art of Peer Pressure 5:24 | Money Trees 6:26 |
        For Free? (Interlude) 2:10 | Poetic Justice 5:00 | Swimming Pools 5:13 | For Sale? (Interlude) 4:51 |
        Real 7:23 | Compton 4:08""",
    "Fugees": """
        Red Intro 1:51 | How Many Mics 4:28 | Ready or Not 3:47 | Zealots 4:20 | The Beast 5:37 |
        Chinese Restaurant (Skit) 1:00 | Fu-Gee-La 4:20 | Killing Me Softly 4:58 | The Score 5:02 |
        Family Business (Skit) 0:50 | Outro 2:10""",
    "BTS": """
        Intro: Serendipity 2:20 | DNA 3:43 | Best of Me 3:48 | Dimple 3:17 | Pied Piper 4:06 |
        Skit: Billboard Music Awards Speech 1:15 | Mic Drop 3:58 | Go Go 3:56 | Outro: Her 4:08 |
        Skit: Hesitation & Fear 2:17 | Sea 5:16""",
    "Drake: Take Care": """
        Over My Dead Body 4:32 | Shot for Me 3:44 | Headlines 3:56 | Crew Love 3:29 | Take Care 4:37 |
        Marvins Room 5:47 | Buried Alive (Interlude) 2:31 | Under Ground Kings 3:32 |
        Good Ones Go (Interlude) 3:33 | Doing It Wrong 4:25""",
}  # fmt: skip


def items_of(lines: Sequence[str], first: int = 0) -> list[Item]:
    """Tracks of lines "title minutes:seconds", numbered from a first."""
    found = []
    for number, line in enumerate(lines, start=first):
        title, _, length = line.strip().rpartition(" ")
        minutes, seconds = map(int, length.split(":"))
        found.append(Item(str(number), title=title, length=60.0 * minutes + seconds))
    return found


def open_shuffled(name: str, items: Sequence[Item], seed: int) -> Session:
    """The tracks in a random order, as a table with titles and lengths would be opened."""
    mixed = [items[i] for i in np.random.default_rng(seed).permutation(len(items))]
    lengths = np.array([[1000.0 * (item.length or 0.0)] for item in mixed])
    collection = Collection(name, mixed, lengths, ("duration_ms",), title=name.partition(": ")[2] or name)
    return source_session(Source(Path("famous"), collection, find_medium("music")), Measuring())


TABLES = ("albums", "albums-more", "titles", "titles-more")
KEPT = {"split": "validation", "kind": "", "alpha_sorted": "false", "one_song": "false"}
IN_ORDER, IN_A_ROW, SIDE_BY_SIDE = 2.5, 1.0, -2.0  # natural logarithms of likelihood
NEGATIVES, DRAWS = 31, 8


def bits_of_titles(table: Path) -> tuple[int, int, Interval]:
    """How many albums, how many whose titles ask for something, and the bits gained by what they ask for, by artist."""
    model, medium, rng = load_model("music"), find_medium("music"), np.random.default_rng(0)
    roles = {"collection": "collection_id", "position": "position", "title": "track_name", "artist": "artist"}
    found = [c for c in fabula.read_table(table, where=KEPT, **roles) if 3 <= len(c) <= 20]
    gains, asking = np.zeros(len(found)), 0
    for number, c in enumerate(found):
        wishes = find_title_wishes(c.texts("title"), Request())
        if wishes is None:
            continue
        asking += 1
        order = np.argsort(rng.random((DRAWS, 1 + NEGATIVES, len(c))), axis=2)
        order[:, 0] = np.arange(len(c))
        known = [name for name in model.feature_names if name in c.feature_names]
        shown = replace(c, features=c.columns(known), feature_names=tuple(known))
        by_model = np.asarray(judge(model, shown, medium).energy.score(order.reshape(-1, len(c)))).reshape(DRAWS, -1)
        by_titles = np.array([[ask_titles(wishes, one) for one in some] for some in order])
        both = [log_softmax(scores, axis=1)[:, 0].mean() for scores in (by_model + by_titles, by_model)]
        gains[number] = (both[0] - both[1]) / np.log(2)
    return len(found), asking, mean_interval(gains, [c.items[0].artist for c in found])


def ask_titles(wishes: TitleWishes, ordering: Ints) -> float:
    """What an ordering (n,) has of what titles ask for, as a term of its score."""
    place = np.argsort(ordering)
    pairs = [(pair, one.follows) for one in wishes.series for pair in pairwise(one.items)]
    found = sum(IN_ORDER * (place[a] < place[b]) + IN_A_ROW * (follows and place[b] - place[a] == 1)
                for (a, b), follows in pairs)  # fmt: skip
    apart = 0 if wishes.costs is None else int((wishes.costs[ordering[:-1], ordering[1:]] > 0).sum())
    return float(found + SIDE_BY_SIDE * apart)


def main() -> None:
    """Order all, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-series", dest="series", action="store_false")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path)
    asked = parser.parse_args()
    right, side_by_side, outros = 0, 0, 0
    for name, text in NUMBERED.items():
        numbered, _, others = text.strip().partition("--")
        wanted = items_of(numbered.strip().splitlines())
        items = wanted + items_of(others.strip().splitlines(), len(wanted))
        ordered = open_shuffled(name, items, asked.seed).order(alternatives=1, series=asked.series)
        found = [item.id for item in ordered.collection.items if int(item.id) < len(wanted)]
        kept = found == [item.id for item in wanted]
        right += kept
        print(f"{'in order' if kept else 'SCRAMBLED':10} {name}: {' | '.join(ordered.titles)}")
    for name, text in INTERLUDES.items():
        items = items_of(" ".join(text.split()).split(" | "))
        ordered = open_shuffled(name, items, asked.seed).order(alternatives=1, series=asked.series)
        skits = find_interludes(ordered.titles)
        adjacent = bool((np.diff(skits) == 1).any())
        side_by_side += adjacent
        outros += 0 in find_closers(ordered.titles)
        print(f"{'ADJACENT' if adjacent else 'apart':10} {name}: {' | '.join(ordered.titles)}")
    print(f"numbered works in order: {right} of {len(NUMBERED)}")
    print(f"albums with two skits side by side: {side_by_side} of {len(INTERLUDES)}; that open with an outro: {outros}")
    for name in TABLES if asked.data else ():
        count, asking, gain = bits_of_titles(asked.data / f"{name}.parquet")
        told = f"{gain.mean:+.4f} bits ({gain.low:+.4f} to {gain.high:+.4f})"
        print(f"{name}: {count:,} albums, the titles of {asking} ask for something: {told}", flush=True)


if __name__ == "__main__":
    main()
