#!/usr/bin/env python3
"""Checks what `tandem egress export` wrote, without tandem and with nothing but Python's standard
library.

    python3 verify_egress.py FILE [PUBLIC_KEY_HEX] [--head FILE]

FILE has a line {"public_key": hex}, the signed heads, and the transfers. Checked are: every line's
`hash` is the SHA-256 of its bytes before `,"hash":`; numbers and `previous` make one chain; every
head's Ed25519 signature over its bytes before `,"signature":` (RFC 8032, 5.1.7); each head's `hash`
is that of the line it counts to; and no tail is cut, and no line appended that no head announces.
With a public key that was kept elsewhere a record that was made anew is found, too, and with heads
that were kept (`tandem egress head`, a line each) one that was put back to an earlier state. Exit
code 0: sound."""

import argparse
import hashlib
import json
import re
import sys
from typing import Any

P = 2**255 - 19
Q = 2**252 + 27742317777372353535851937790883648493  # the order of the base point
D = -121665 * pow(121666, P - 2, P) % P
NONE = "0" * 64  # the hash of no row
ROOT = pow(2, (P - 1) // 4, P)  # of -1


def recover_x(y: Any, sign: Any) -> Any:
    """RFC 8032, 5.1.3: x^2 = (y^2 - 1) / (d y^2 + 1)."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        raise ValueError("no point of the curve")
    return P - x if x & 1 != sign else x


def add(a: Any, b: Any) -> tuple:
    """Points as (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z (RFC 8032, 5.1.4)."""
    u, v = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    w, z = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = v - u, z - w, z + w, v + u
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number: Any, point: Any) -> Any:
    result = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


def read_point(data: Any) -> tuple:
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    x = recover_x(y, sign)
    return x, y, 1, x * y % P


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover_x(BASE_Y, 0), BASE_Y, 1, recover_x(BASE_Y, 0) * BASE_Y % P)


def signature_is_right(key: Any, message: bytes, signature: bytes) -> Any:
    if len(key) != 32 or len(signature) != 64:
        return False
    try:
        a, r = read_point(key), read_point(signature[:32])
    except ValueError:
        return False
    s = int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % Q
    left, right = times(s, BASE), add(r, times(h, a))
    return s < Q and not (
        (left[0] * right[2] - right[0] * left[2]) % P
        or (left[1] * right[2] - right[1] * left[2]) % P
    )


class Fault(Exception):
    pass


def read_head(line: bytes, where: Any, key: Any) -> Any:
    """Only what was signed is read: a later member of the same name would count for Python. (key
    None: its own.)"""
    signed, _, signature = line.partition(b',"signature":')
    head = json.loads(signed + b"}")
    if key and head["key"] != key:
        raise Fault(f"{where} was signed by another key, {head['key']}")
    if not re.fullmatch(rb'"[0-9a-f]{128}"}', signature):
        raise Fault(f"{where} says more than was signed")
    if not signature_is_right(
        bytes.fromhex(head["key"]), signed, bytes.fromhex(signature[1:-2].decode())
    ):
        raise Fault(f"{where} has a wrong signature")
    return head


def check_head(line: bytes, heads: Any, key: Any) -> Any:
    where = f"head {len(heads) + 1}"
    head = read_head(line, where, key)
    if heads and (head["date"] <= heads[-1]["date"] or head["count"] < heads[-1]["count"]):
        raise Fault(f"{where} does not go on from the one before it")
    return head


def read_kept(lines: Any, key: Any) -> list:
    """Heads that were kept elsewhere; space around them is no matter."""
    kept = []
    for line in filter(None, (line.strip() for line in lines)):
        kept.append(read_head(line, f"kept head {len(kept) + 1}", kept[0]["key"] if kept else key))
    return kept


def check_row(line: bytes, count: int, previous: Any) -> Any:
    """The hash of row count + 1."""
    try:
        entry = json.loads(line)
        body, _, _ = line.rpartition(b',"hash":')
        right = hashlib.sha256(body).hexdigest()
        if entry["hash"] != right or not line.endswith(b',"hash":"' + right.encode() + b'"}'):
            raise Fault(f"row {count + 1}: its bytes are not those that its hash was made of")
        if entry["seq"] != count + 1 or entry["previous"] != previous:
            raise Fault(f"row {count + 1}: it does not follow the row before it")
    except (ValueError, KeyError, TypeError):
        raise Fault(f"row {count + 1}: it is not a line of an egress ledger") from None
    return right


def check_end(head: Any, hashes: Any, token: str | None) -> Any:
    """A head is signed before a row is written, with the row's hash as `next`. The next head signs
    the row. A row that was announced may be missing only while the token of `pending` is there (in
    records of older versions, which have no such member, always): the note to a record that a
    machine left which stopped in between."""
    count, covered, announced = len(hashes) - 1, head["count"], head["next"] != NONE
    if token is not None and hashlib.sha256(token.encode()).hexdigest() != head.get("pending"):
        raise Fault("the pending token is not that of the last head")
    if count == covered and announced and "pending" in head and token is None:
        raise Fault(f"row {count + 1}: it is missing; the last head has announced it")
    if covered > count:
        raise Fault(
            f"row {count + 1}: it is missing; the last head counts {covered} rows, {count} are"
            " there"
        )
    if count == covered:
        return "one more row was announced and never written" if announced else ""
    if count == covered + 1 and announced and hashes[-1] == head["next"]:
        return "the last row was announced and is not signed yet"
    raise Fault(f"row {covered + 1}: no signed head covers or announces it")


def check_kept(kept: Any, hashes: Any) -> None:
    for head in kept:
        if head["count"] >= len(hashes):
            raise Fault(
                f"row {len(hashes)}: it is missing; a kept head of {head['date']} counts"
                f" {head['count']} rows"
            )
        if hashes[head["count"]] != head["hash"]:
            raise Fault(
                f"row {head['count']}: it is not the row that the kept head of {head['date']} was"
                " signed over"
            )


def check(lines: Any, key: Any, kept: Any = ()) -> tuple:
    """(transfers, heads, key, note) of a sound record; raises Fault with the first thing that is
    wrong."""
    key = kept[0]["key"] if kept else key
    heads, hashes, token = [], [NONE], None
    for line in lines:
        count = len(hashes) - 1
        if not line.endswith(b"\n"):
            raise Fault(f"row {count + 1}: the last line has no end")
        line = line[:-1]
        if line.startswith(b'{"public_key":'):
            found = json.loads(line)["public_key"]
            if key and found != key:
                raise Fault(f"the public key is {found}, not the one that was asked for")
            key = found
        elif line.startswith(b'{"date":'):
            if not key:
                raise Fault("the record has no public key")
            if count:
                raise Fault(
                    f"head {len(heads) + 1} stands after transfers, which it can say nothing of"
                )
            heads.append(check_head(line, heads, key))
        elif line.startswith(b'{"pending":') and not count:
            token = json.loads(line)["pending"]
        else:
            hashes.append(check_row(line, count, hashes[-1]))
    for head in heads:
        if head["count"] < len(hashes) and hashes[head["count"]] != head["hash"]:
            raise Fault(
                f"row {head['count']}: it is not the row that the head of {head['date']} was signed"
                " over"
            )
    note = check_end(heads[-1] if heads else {"count": 0, "next": NONE}, hashes, token)
    check_kept(kept, hashes)
    return len(hashes) - 1, len(heads), key, note


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file")
    parser.add_argument("key", nargs="?")
    parser.add_argument("--key", dest="named_key")
    parser.add_argument("--head")
    asked = parser.parse_args()
    asked.key = asked.named_key or asked.key
    try:
        kept = read_kept(open(asked.head, "rb"), asked.key) if asked.head else []
        if asked.head and not kept:
            raise Fault(f"{asked.head} holds no head")
        with open(asked.file, "rb") as file:
            count, heads, key, note = check(file, asked.key, kept)
    except (Fault, ValueError, KeyError, TypeError) as fault:
        print(f"not sound: {fault}")
        return 1
    print(f"sound: {count} transfers in one chain, {heads} signed heads, key {key}")
    if note:
        print(f"{note}: it is of this moment, or the machine stopped in that transfer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
