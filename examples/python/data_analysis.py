"""A session of data analysis with the tools of the sandbox."""

from wasmsand import Sandbox

CSV = "city,year,people\n" + "".join(
    f"{city},{year},{base + (year - 2000) * step}\n"
    for city, base, step in (("Aa", 100, 3), ("Bb", 80, 7), ("Cc", 150, -2))
    for year in range(2000, 2010))

with Sandbox() as sb:
    sb.files.write("/workspace/data.csv", CSV)
    sb.commands.run("cd /workspace; sqlite3 data.db '.import --csv data.csv t'",
                    check=True)
    table = sb.commands.run(
        "sqlite3 -box data.db 'select city, min(people+0) low, "
        "max(people+0) high from t group by city'", check=True)
    print(table.stdout, end="")
    grown = sb.commands.run(
        "awk -F, '$2 == 2000 { a[$1] = $3 } $2 == 2009 { print $1, $3 - a[$1] }"
        "' data.csv | sort -k2 -n | tail -n 1", check=True)
    print("grew most:", grown.stdout, end="")
    mean = sb.run_python("""
import csv, statistics
with open("/workspace/data.csv") as f:
    rows = list(csv.DictReader(f))
for city in sorted({row["city"] for row in rows}):
    people = [int(row["people"]) for row in rows if row["city"] == city]
    print(city, "mean", statistics.mean(people))
""", check=True)
    print(mean.stdout, end="")
