"""Makes the sample registers of the archive. See ../README.md.

    python3 make.py            write the samples and judged.tsv
    python3 make.py --check    compare them with what this program makes
"""

import csv
import gzip
import io
import random
import sys
from pathlib import Path

import names
import placed

HERE = Path(__file__).parent
SAMPLE = HERE.parent
SEED = 1881
# The made-up rows of the small sample, and of each further file of the large one.
SMALL = {"census": 120, "baptisms": 60, "passengers": 60}
WORLD = {"census": [10_000, 10_000, 10_000], "baptisms": [10_000], "passengers": [10_000]}

HEADERS = {
    "census": ["House", "Entry", "Surname", "Forenames", "Rel", "Sex", "Born", "Birthplace", "Occupation"],
    "baptisms": ["Nr", "Datum", "Kind", "Geschlecht", "Familienname", "Vater", "Mutter", "Ort", "Pate"],
    "passengers": ["No", "Party", "Name", "Sex", "Born", "From", "Occupation", "Ship", "Arrived"],
}
SHIPS = [("Elbe", "12 May 1887"), ("Fulda", "3 Sep 1888"), ("Werra", "21 Apr 1889"), ("Aller", "7 Oct 1890")]


class Choice:
    """Chooses by weight. It uses `random()` only, whose numbers Python keeps the same in all versions."""

    def __init__(self, weighted):
        self.values = [value for value, _ in weighted]
        self.sums, total = [], 0.0
        for _, weight in weighted:
            total += weight
            self.sums.append(total)

    def one(self, source):
        wanted, low, high = source.random() * self.sums[-1], 0, len(self.sums) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if wanted < self.sums[middle] else (middle + 1, high)
        return self.values[low]


def english():
    kinds = {"surname": [], "male": [], "female": []}
    for line in (HERE / "us_census_1990.tsv").read_text(encoding="utf-8").splitlines():
        if not line.startswith(("#", "kind\t")):
            kind, name, percent = line.split("\t")
            kinds[kind].append((name, float(percent)))
    return {**kinds, "places": names.ENGLISH_PLACES}


def language(tables):
    return {kind: Choice(table) for kind, table in tables.items()}


class Maker:
    def __init__(self):
        self.source = random.Random(SEED)
        tables = {"english": english(), "welsh": names.WELSH, "german": names.GERMAN, "french": names.FRENCH,
                  "polish": names.POLISH, "hungarian": names.HUNGARIAN}
        self.languages = {name: language(table) for name, table in tables.items()}
        self.trades = Choice(names.TRADES)
        self.rows = {collection: [] for collection in HEADERS}
        self.judged = []
        self.entries = {collection: 0 for collection in HEADERS}

    def number(self, limit):
        return int(self.source.random() * limit)

    def chance(self, probability):
        return self.source.random() < probability

    def entry(self, collection):
        self.entries[collection] += 1
        return f"{collection[0].upper()}{self.entries[collection]:05}"

    def make(self):
        """Returns the texts of all files by path. The small sample has the placed rows, and is made first."""
        self.placed_households()
        self.placed_baptisms()
        self.placed_parties()
        self.placed_spellings()
        for collection, rows in SMALL.items():
            self.add(collection, rows)
        files = {SAMPLE / f"small/{collection}.csv": self.table(collection, 0) for collection in HEADERS}
        for collection, sizes in WORLD.items():
            for number, rows in enumerate(sizes, start=1):
                first = len(self.rows[collection])
                self.add(collection, rows)
                files[SAMPLE / f"world/{collection}-{number}.csv.gz"] = self.table(collection, first)
        files[SAMPLE / "judged.tsv"] = judged(self.judged)
        return files

    def add(self, collection, rows):
        """Adds at least so many rows. Households and parties are whole."""
        add = {"census": self.household, "baptisms": self.baptism, "passengers": self.party}[collection]
        end = len(self.rows[collection]) + rows
        while len(self.rows[collection]) < end:
            add()

    def table(self, collection, first):
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([HEADERS[collection], *self.rows[collection][first:]])
        return text.getvalue()

    def judge(self, kind, query, collection, entry):
        self.judged.append((kind, query, f"{collection}:{entry}"))

    def placed_households(self):
        for people, searches in placed.HOUSEHOLDS:
            house = self.house()
            entries = []
            for surname, given, relation, sex, born, birthplace, occupation in people:
                entries.append(self.entry("census"))
                own_house = house if relation != "Lodger" or born else ""
                self.rows["census"].append(
                    [own_house, entries[-1], surname, given, relation, sex, born, birthplace, occupation])
            for kind, query, wanted in searches:
                self.judge(kind, query, "census", entries[wanted])

    def placed_baptisms(self):
        for row, searches in placed.BAPTISMS:
            entry = self.entry("baptisms")
            self.rows["baptisms"].append([entry, *row])
            for kind, query in searches:
                self.judge(kind, query, "baptisms", entry)

    def placed_parties(self):
        for people, searches in placed.PARTIES:
            party, entries = self.party_number(), []
            for person in people:
                entries.append(self.passenger(party, *person))
            for kind, query, wanted in searches:
                self.judge(kind, query, "passengers", entries[wanted])

    def placed_spellings(self):
        for collection, pairs in placed.SPELLINGS.items():
            given_names = placed.SPELLING_GIVEN[collection]
            for index, pair in enumerate(pairs.replace("\n", " ").split(",")):
                queried, stored = pair.split()
                given = given_names[index % len(given_names)]
                sex = "FM"[index % 2 == 0]
                if collection == "census":
                    entry = self.entry("census")
                    place = self.place("welsh")
                    self.rows["census"].append(
                        [self.house(), entry, stored, given, "Head", sex, str(1800 + index), place, self.trade()])
                elif collection == "baptisms":
                    entry = self.entry("baptisms")
                    self.rows["baptisms"].append([
                        entry, f"{index % 28 + 1}.{index % 12 + 1}.{1800 + index}", given, "mw"[index % 2], stored,
                        f"{self.name('german', 'male')} {stored}", self.full("german", "female"), self.place("german"),
                        self.full("german", "male")])
                else:
                    entry = self.passenger(
                        self.party_number(), f"{stored}, {given}", sex, f"abt {1840 + index}", self.place("polish"),
                        self.trade())
                date = {"census": f"birth={1800 + index}", "baptisms": f"baptism={1800 + index}",
                        "passengers": f"birth={1840 + index}"}[collection]
                self.judge("sounds", f"given={given}&surname={queried}&{date}", collection, entry)

    def name(self, language, kind):
        return self.languages[language][kind].one(self.source)

    def full(self, language, sex):
        return f"{self.name(language, sex)} {self.name(language, 'surname')}"

    def place(self, language):
        return self.name(language, "places").replace("|", ", ")

    def trade(self):
        return self.trades.one(self.source)

    def house(self):
        last = next((row[0] for row in reversed(self.rows["census"]) if row[0]), "0")
        return str(int(last) + 1)

    def party_number(self):
        return str(int(self.rows["passengers"][-1][1]) + 1 if self.rows["passengers"] else 1)

    def household(self):
        language = "welsh" if self.chance(0.6) else "english"
        house, surname = self.house(), self.name(language, "surname")
        born = 1800 + self.number(50)

        def add(given, relation, sex, year, own_surname=surname):
            year = f"abt {year}" if self.chance(0.2) else str(year)
            occupation = self.trade() if self.chance(0.5) else ""
            self.rows["census"].append(
                [house, self.entry("census"), own_surname, given, relation, sex, year, self.place(language), occupation])

        add(self.given(language, "male"), "Head", "M", born)
        if self.chance(0.8):
            add(self.given(language, "female"), "Wife", "F", born + self.number(8) - 2)
        for child in range(self.number(6)):
            sex = "M" if self.chance(0.5) else "F"
            relation = "Son" if sex == "M" else "Daur"
            add(self.given(language, "male" if sex == "M" else "female"), relation, sex, born + 22 + 2 * child)
        if self.chance(0.15):
            sex = "M" if self.chance(0.5) else "F"
            given = self.given(language, "male" if sex == "M" else "female")
            add(given, "Lodger" if sex == "M" else "Servant", sex, born + self.number(30), self.name(language, "surname"))

    def given(self, language, sex):
        """A given name, sometimes with a second one or its initial."""
        given = self.name(language, sex)
        if self.chance(0.15):
            given += f" {self.name(language, sex)}"
        elif self.chance(0.05):
            given += f" {self.name(language, sex)[0]}."
        return given

    def baptism(self):
        sex = "male" if self.chance(0.5) else "female"
        surname = self.name("german", "surname")
        date = f"{self.number(28) + 1}.{self.number(12) + 1}.{1780 + self.number(90)}"
        self.rows["baptisms"].append([
            self.entry("baptisms"), date, self.given("german", sex), "m" if sex == "male" else "w", surname,
            f"{self.name('german', 'male')} {surname}", self.full("german", "female"), self.place("german"),
            self.full("german", sex)])

    def party(self):
        language = ["polish", "hungarian", "german", "french", "english"][self.number(5)]
        party, surname = self.party_number(), self.name(language, "surname")
        born = 1830 + self.number(45)
        for _ in range(1 + self.number(4)):
            sex = "M" if self.chance(0.6) else "F"
            given = self.name(language, "male" if sex == "M" else "female")
            occupation = self.trade() if self.chance(0.6) else ""
            self.passenger(party, f"{surname}, {given}", sex, f"abt {born + self.number(20)}", self.place(language), occupation)

    def passenger(self, party, name, sex, born, place, occupation):
        entry = self.entry("passengers")
        ship, arrived = SHIPS[int(party) % len(SHIPS)]
        self.rows["passengers"].append([entry, party, name, sex, born, place, occupation, ship, arrived])
        return entry


def judged(searches):
    """Rules are tuned by the first half of each kind alone; figures are reported of both."""
    lines = [
        "# Searches as people type them, and the row that must come first over the large sample: collection and key. A search",
        "# with names that others bear, too, has a date or a place, so that only one row is right.",
        "# Rules are tuned by one half alone; figures are reported of both. One line: half, kind, query, wanted row.",
        "half\tkind\tquery\twanted",
    ]
    seen = {}
    for kind, query, wanted in searches:
        seen[kind] = seen.get(kind, 0) + 1
        lines.append(f"{'tuning' if seen[kind] % 2 else 'reporting'}\t{kind}\t{query}\t{wanted}")
    return "\n".join(lines) + "\n"


def read(path):
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")


def write(path, text):
    content = text.encode("utf-8")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
    print(f"{path.relative_to(SAMPLE)}: {text.count(chr(10)) - 1} rows")


def main(argument):
    files = Maker().make()
    if argument == "--check":
        different = [path.name for path, text in files.items() if read(path) != text]
        if different:
            sys.exit(f"{', '.join(different)}: not what make.py makes. Run: python3 make.py")
        return
    for path, text in files.items():
        write(path, text)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
