"""The counting and the range commands of the string family, and LCS, against the oracle."""
import pytest


@pytest.mark.parametrize("name", ["INCR", "DECR"])
def test_incr_decr(both, name):
    both.compare(rf"""
        {name} k
        {name} k
        GET k
        OBJECT ENCODING k
        SET k 10
        {name} k
        SET k -10
        {name} k
        SET k 0
        {name} k
        SET k 9223372036854775807
        {name} k
        GET k
        SET k -9223372036854775808
        {name} k
        GET k
        SET k 9223372036854775808
        {name} k
        SET k abc
        {name} k
        SET k ""
        {name} k
        SET k " 1"
        {name} k
        SET k "1 "
        {name} k
        SET k "+1"
        {name} k
        SET k "01"
        {name} k
        SET k "-0"
        {name} k
        SET k 1.0
        {name} k
        SET k 0x10
        {name} k
        SET k "1\x00"
        {name} k
        SET k 5 EX 100
        {name} k
        TTL k                 ~ near 1
        {name}
        {name} k j
        {name} k 1
    """)


@pytest.mark.parametrize("name", ["INCRBY", "DECRBY"])
def test_incrby_decrby(both, name):
    both.compare(rf"""
        {name} k 5
        {name} k -7
        {name} k 0
        GET k
        {name} k 9223372036854775807
        {name} k 9223372036854775807
        {name} k -9223372036854775808
        {name} k -9223372036854775807
        {name} k 9223372036854775808
        GET k
        SET k 0
        {name} k -9223372036854775808
        GET k
        SET k 1
        {name} k 9223372036854775807
        SET k -2
        {name} k -9223372036854775807
        SET k 0
        {name} k abc
        {name} k ""
        {name} k 1.5
        {name} k " 1"
        {name} k "+1"
        {name} k "01"
        {name} k 1e3
        SET s text
        {name} s 1
        {name} s abc
        SET t 1 EX 100
        {name} t 4
        TTL t                 ~ near 1
        {name}
        {name} k
        {name} k 1 2
    """)


FLOATS = ["0", "1", "-1", "1.5", "3.0", "0.1", "10.5", "5.0e3", "2.0e2", "-5.0e3", "1e-5", "1e-17", "1e-20", "1e15", "1e16",
          "1e17", "1e18", "123456789.123456789", "0.30000000000000004", "1.0000000000000000001", "3.14159265358979323846",
          "1e100", "1e300", "99999999999999999999", "12345678901234567890", "-0", "-0.0", "1000000000000000000000.5",
          ".5", "5.", "+5", "0x10", "0x1p3", "1_000", "1e", "e1", "abc", "", " 1", "1 ", "inf", "-inf", "+inf", "infinity",
          "nan", "1e4932", "1e5000", "-1e5000", "1e-5000", "1,5", "1.5.5", "--1", "17.000000000000000001"]


def test_incrbyfloat(both):
    lines = ["INCRBYFLOAT", "INCRBYFLOAT k", "INCRBYFLOAT k 1 2", "SET s text", "INCRBYFLOAT s 1", "INCRBYFLOAT s abc",
             "SET t 1 EX 100", "INCRBYFLOAT t 0.5", "TTL t   ~ near 1", "SET i 10", "INCRBYFLOAT i 5", "OBJECT ENCODING i",
             "INCR i", "INCRBYFLOAT i 0.5", "OBJECT ENCODING i", "INCR i"]
    for number in FLOATS:
        lines += ["DEL k", f'INCRBYFLOAT k "{number}"', "GET k", f'INCRBYFLOAT k "{number}"', "GET k", "SET k 1.1",
                  f'INCRBYFLOAT k "{number}"', "GET k", f'SET k "{number}"', "INCRBYFLOAT k 1", "GET k",
                  "INCRBYFLOAT k 1.23456789", "GET k"]
    lines += ["SET k 1e4932", "INCRBYFLOAT k 1e4932", "SET k 3", "INCRBYFLOAT k 1e-18", "INCRBYFLOAT k -3"]
    both.compare("\n".join(lines))


def test_incrbyfloat_random_sums(both):
    from random import Random
    random = Random(7)
    lines = []
    for _ in range(1500):
        value = random.choice([random.uniform(-10, 10), random.uniform(-1e12, 1e12), random.uniform(-1e-6, 1e-6),
                               random.randint(-1000, 1000), round(random.uniform(-100, 100), 2)])
        lines.append(f"INCRBYFLOAT k {value!r}" if random.random() < 0.95 else f"SET k {value!r}")
    both.compare("\n".join(lines), protocols=(2,))


OFFSETS = ["0", "1", "4", "5", "10", "-1", "-5", "-6", "-100", "100", "9223372036854775807", "-9223372036854775808"]


@pytest.mark.parametrize("name", ["GETRANGE", "SUBSTR"])
def test_getrange_substr(both, name):
    lines = [f"{name}", f"{name} k", f"{name} k 0", f"{name} k 0 1 2", f"{name} k a 1", f"{name} k 0 b", f"{name} k 1.5 2",
             f"{name} k 9223372036854775808 1", f"{name} missing 0 -1", f"{name} missing a 1"]
    for value in ("hello", "", "123456", "x"):
        lines.append(f'SET k "{value}"')
        lines += [f"{name} k {start} {end}" for start in OFFSETS for end in OFFSETS]
    both.compare("\n".join(lines))


def test_setrange(both):
    both.compare(r"""
        SETRANGE k 0 hello
        GET k
        SETRANGE k 2 XX
        GET k
        SETRANGE k 8 end
        GET k
        SETRANGE k 0 ""
        SETRANGE new 0 ""
        EXISTS new
        SETRANGE new 5 ""
        EXISTS new
        SETRANGE new 5 x
        GET new
        SETRANGE n -1 x
        SETRANGE n abc x
        SETRANGE n 1.5 x
        SETRANGE n 536870911 xx
        SETRANGE n 536870912 x
        SETRANGE n 536870912 ""
        SETRANGE n 9223372036854775807 x
        SETRANGE n 9223372036854775808 x
        EXISTS n
        SETRANGE n -1 ""
        SET i 12345
        SETRANGE i 1 9
        GET i
        OBJECT ENCODING i
        INCR i
        SET t abc EX 100
        SETRANGE t 1 Z
        TTL t                    ~ near 1
        SETRANGE
        SETRANGE k
        SETRANGE k 1
        SETRANGE k 1 a b
    """)


def test_lcs(both):
    both.compare(r"""
        MSET a ohmytext b mynewtext
        LCS a b
        LCS a b LEN
        LCS a b IDX
        LCS a b IDX MINMATCHLEN 4
        LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN
        LCS a b IDX WITHMATCHLEN
        LCS a b WITHMATCHLEN IDX
        LCS a b IDX MINMATCHLEN 0
        LCS a b IDX MINMATCHLEN -5
        LCS a b IDX MINMATCHLEN 100
        LCS a b MINMATCHLEN 4
        LCS a b WITHMATCHLEN
        LCS a b LEN IDX
        LCS a b LEN MINMATCHLEN 3
        LCS a b len
        LCS a b BAD
        LCS a b IDX MINMATCHLEN
        LCS a b IDX MINMATCHLEN x
        LCS a missing
        LCS missing a LEN
        LCS missing missing2 IDX
        LCS missing missing2 IDX WITHMATCHLEN
        LCS missing missing2
        LCS a a
        LCS a a IDX WITHMATCHLEN
        SET e ""
        LCS e a
        LCS e a LEN
        LCS e e IDX
        SET n 12345678
        SET m 2468
        LCS n m
        LCS n m IDX WITHMATCHLEN
        SET x "\x00\xff\r\n\x00"
        SET y "\xff\x00\n"
        LCS x y
        LCS x y IDX WITHMATCHLEN
        LCS
        LCS a
        LCS a b IDX LEN
    """)


def test_lcs_random_strings(both):
    from random import Random
    random = Random(11)
    lines = []
    for _ in range(150):
        for key in "ab":
            letters = "".join(random.choice("abc") for _ in range(random.randint(0, 40)))
            lines.append(f'SET {key} "{letters}"')
        lines += ["LCS a b", "LCS a b LEN", "LCS a b IDX WITHMATCHLEN", f"LCS a b IDX MINMATCHLEN {random.randint(1, 4)}"]
    both.compare("\n".join(lines), protocols=(2,))
