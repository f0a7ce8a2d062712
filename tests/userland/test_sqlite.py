"""SQLite: databases in WAL mode, by the program and by Python, in several processes."""
import base64
import sqlite3

import pytest

from conftest import Resident

# A statement after which the same file is used by each of the two.
ROUTES = ["sqlite3 {file} '{sql}'",
          "python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1])\n"
          "for row in c.execute(sys.argv[2]): print(*row)\nc.commit()' {file} '{sql}'"]


@pytest.fixture(scope="module", name="mounted")
def mount(tmp_path_factory):
    """A folder with a database whose last row is in the log only."""
    folder = tmp_path_factory.mktemp("sqlite")
    writer = sqlite3.connect(folder / "live.db")
    writer.executescript("pragma journal_mode=wal; create table t(a); insert into t values (1)")
    writer.execute("pragma wal_checkpoint(truncate)")
    writer.executescript("begin; insert into t values (2); commit")
    copies = {name: (folder / name).read_bytes() for name in ("live.db", "live.db-wal")}
    writer.close()
    for name, content in copies.items():
        (folder / name.replace("live", "wal")).write_bytes(content)
    session = Resident("--mount", f"{folder}:/given")
    session.run("mkdir /tmp/q; cd /tmp/q")
    yield session
    assert session.close() == 0


@pytest.fixture(name="wal")
def fresh(mounted):
    mounted.run("cp /given/wal.db x.db; cp /given/wal.db-wal x.db-wal")
    yield mounted
    mounted.run("rm -f x.db*")


def ask(session, route, sql, file="x.db"):
    done = session.run(route.format(file=file, sql=sql))
    assert (done.status, done.err) == (0, ""), done.err
    return done.out.split()


@pytest.mark.parametrize("route", ROUTES, ids=["program", "python"])
def test_a_new_file_enters_wal(mounted, route):
    assert ask(mounted, route, "pragma journal_mode=wal", "new.db") == ["wal"]
    ask(mounted, route, "create table t(a)", "new.db")
    ask(mounted, route, "insert into t values (5)", "new.db")
    assert ask(mounted, route, "pragma journal_mode", "new.db") == ["wal"]
    assert ask(mounted, route, "select a from t", "new.db") == ["5"]
    assert mounted.out("ls new.db*; rm new.db") == "new.db\n"


@pytest.mark.parametrize("route", ROUTES, ids=["program", "python"])
def test_the_log_of_a_given_file_counts(wal, route):
    assert ask(wal, route, "select a from t") == ["1", "2"]
    ask(wal, route, "insert into t values (3)")
    assert ask(wal, route, "pragma journal_mode") == ["wal"]
    assert ask(wal, route, "select a from t") == ["1", "2", "3"]
    assert ask(wal, route, "pragma integrity_check") == ["ok"]


@pytest.mark.parametrize("route", ROUTES, ids=["program", "python"])
def test_a_given_file_leaves_wal(wal, route):
    assert ask(wal, route, "pragma journal_mode=delete") == ["delete"]
    assert ask(wal, route, "select a from t") == ["1", "2"]
    assert wal.out("ls x.db*") == "x.db\n"


def test_readers_and_a_writer_do_not_wait_for_each_other(wal):
    """A reader keeps its state while another connection commits; a second writer is refused."""
    out = wal.run("python3 - <<'.'\nimport sqlite3\n"
                  "a, b, c = (sqlite3.connect('x.db', timeout=0, isolation_level=None) for _ in 'abc')\n"
                  "count = lambda d: d.execute('select count(*) from t').fetchone()[0]\n"
                  "a.execute('begin'); print(count(a))\n"
                  "b.execute('begin immediate'); b.execute('insert into t values (9)')\n"
                  "try: c.execute('insert into t values (9)')\nexcept sqlite3.OperationalError as e: print(e)\n"
                  "b.execute('commit'); print(count(a), count(b), count(c))\n"
                  "a.execute('commit'); print(count(a), a.execute('pragma integrity_check').fetchone())\n.\n")
    assert out.out == "2\ndatabase is locked\n2 3 3\n3 ('ok',)\n", out.err


def test_a_reader_in_another_process_sees_commits(wal):
    """The index of the log is shared memory: a process that is open sees what another one wrote."""
    out = wal.run("python3 - <<'.'\nimport sqlite3, subprocess\n"
                  "db = sqlite3.connect('x.db', isolation_level=None)\n"
                  "total = lambda: db.execute('select sum(a) from t').fetchone()[0]\n"
                  "print(total())\n"
                  "for n in range(20):\n"
                  "    subprocess.run(['sqlite3', 'x.db', f'insert into t values ({n})'], check=True)\n"
                  "    assert total() == 3 + n * (n + 1) // 2, n\n"
                  "print(total(), db.execute('pragma integrity_check').fetchone())\n.\n")
    assert out.out == "3\n193 ('ok',)\n", out.err


def test_two_that_start_together_both_finish(wal):
    done = wal.run("for i in 3 4 5 6; do sqlite3 -cmd '.timeout 60000' x.db \"insert into t values ($i)\" & done; wait;"
                   " sqlite3 x.db 'select sum(a), count(*) from t; pragma integrity_check'")
    assert (done.out, done.err) == ("21|6\nok\n", "")


def test_a_file_that_cannot_be_written(wal):
    assert wal.out("chmod a-w x.db; sqlite3 -readonly x.db 'select a from t'").split() == ["1", "2"]
    assert wal.out("python3 -c 'import sqlite3\nu = \"file:x.db?mode=ro\"\n"
                   "a, b = (sqlite3.connect(u, uri=True) for _ in \"ab\")\n"
                   "for c in a, b: print(c.execute(\"select sum(a) from t\").fetchone())'") == "(3,)\n(3,)\n"


def test_the_result_is_right_outside(wal, tmp_path):
    """A database that was used inside is sound for SQLite outside."""
    ask(wal, ROUTES[0], "insert into t values (3)")
    for name in ("x.db", "x.db-wal"):
        text = wal.out(f"test ! -e {name} || base64 -w0 {name}")
        if text:
            (tmp_path / name).write_bytes(base64.b64decode(text))
    db = sqlite3.connect(tmp_path / "x.db")
    assert db.execute("select group_concat(a) from t").fetchone() == ("1,2,3",)
    assert db.execute("pragma integrity_check").fetchone() == ("ok",)
    db.close()


def test_dbinfo(wal):
    lines = wal.out("sqlite3 x.db .dbinfo").splitlines()
    assert "database page size:  4096" in lines and "number of tables:    1" in lines
