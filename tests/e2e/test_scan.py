#!/usr/bin/env python3
"""tandem scan and tandem redact: the forms that programs read, and that what was taken out comes
back."""

import json
import os
import stat
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from screen import flat
from tandem import run

TEXT = "Grüße, call me at +44 20 7946 0958 or mail zoë.k@acmeltd.com; card 4111 1111 1111 1111.\n"


@case
def test_scan_gives_class_types_and_both_kinds_of_places():
    code, out, err = run("scan", "--json", stdin=TEXT.encode())
    equal(code, 0, err)
    found = json.loads(out)
    equal(found["class"], "restricted")
    equal(
        [span["type"] for span in found["spans"]], ["PHONE_NUMBER", "EMAIL_ADDRESS", "CREDIT_CARD"]
    )
    for span in found["spans"]:
        in_bytes = TEXT.encode()[span["start"] : span["end"]].decode()
        equal(in_bytes, TEXT[span["char_start"] : span["char_end"]])
        assert 0 < span["score"] <= 1 and span["class"] in (
            "public",
            "sensitive",
            "restricted",
        ), span
    equal(
        TEXT[found["spans"][1]["char_start"] : found["spans"][1]["char_end"]], "zoë.k@acmeltd.com"
    )


@case
def test_scan_without_json_is_a_line_a_finding():
    code, out, err = run("scan", "--prompt", "mail a.b@acmeltd.com")
    equal(code, 0, err)
    lines = out.decode().splitlines()
    equal(lines[0], "class: sensitive")
    assert "EMAIL_ADDRESS" in lines[1] and lines[1].endswith("a.b@acmeltd.com"), lines


@case
def test_no_encoding_hides_a_finding():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "note.txt"
        # Of Latin letters, UTF-16 without its mark is valid UTF-8.
        plain = TEXT.encode("ascii", "ignore").decode()
        for bytes_ in (
            TEXT.encode("utf-16"),
            b"\xfe\xff" + TEXT.encode("utf-16-be"),
            TEXT.encode("cp1252"),
            plain.encode("utf-16-le"),
            plain.encode("utf-16-be"),
        ):
            file.write_bytes(bytes_)
            code, out, err = run("scan", str(file))
            equal((bytes_, code, out.splitlines()[0]), (bytes_, 0, b"class: restricted"), err)
            assert "positions" in err, err
            for call in (("redact", file), ("redact", "--surrogates", file)):
                code, out, err = run(*call)
                assert code == 0 and "in UTF-8" in err, (bytes_, err)
                assert "@acmeltd.com" not in out.decode() and b"\0" not in out, out
            assert "<EMAIL_ADDRESS_1>" in run("redact", stdin=bytes_)[1].decode()
            code, out, err = run("redact", "-o", Path(folder) / "safe", file)
            assert code == 1 and "no text in UTF-8" in err, err
        file.write_bytes(bytes(range(256)) * 4)
        code, out, err = run("redact", file)
        assert (code, out) == (1, b"") and f"{file}: this is no text" in err, err
        code, out, err = run("scan", file)
        assert code == 0 and "it is no text" in err, err
        vault = Path(folder) / "vault"
        equal(run("redact", "--vault", vault, stdin=b"max@acmeltd.com")[0], 0)
        code, out, err = run("redact", "--restore", "--vault", vault, file)
        equal((code, out, err), (0, file.read_bytes(), ""))


@case
def test_jsonl_answers_every_line_and_goes_on_after_broken_ones():
    lines = [
        b'{"text": "a@acmeltd.com", "id": 7}',
        b"{broken",
        b'{"text": 3}',
        b"[1]",
        b"",
        b'{"text": "nothing"}',
        b'{"text": "\\ud800"}',
        b"\xff\xfe",
        b'{"text": "b@acmeltd.com"}',
    ]
    code, out, err = run("scan", "--jsonl", stdin=b"\n".join(lines))
    equal(code, 1, err)
    rows = [json.loads(line) for line in out.splitlines()]
    equal([row["line"] for row in rows], [1, 2, 3, 4, 6, 7, 8, 9])
    equal([("error" in row) for row in rows], [False, True, True, True, False, True, True, False])
    equal(rows[0]["id"], 7)
    equal(rows[0]["spans"][0]["type"], "EMAIL_ADDRESS")
    equal(rows[4]["class"], "public")
    code, out, err = run("scan", "--jsonl", stdin=b'{"text": "x"}\n')
    equal((code, json.loads(out)), (0, {"class": "public", "spans": [], "line": 1}), err)


@case
def test_scan_takes_any_bytes():
    code, out, err = run("scan", "--json", stdin=b"\xff\x00a@acmeltd.com\xfe")
    equal(code, 0, err)
    equal([(s["start"], s["end"], s["char_start"]) for s in json.loads(out)["spans"]], [(2, 15, 2)])


@case
def test_redact_and_restore_give_the_text_back():
    with tempfile.TemporaryDirectory() as folder:
        vault = str(Path(folder) / "vault.json")
        text = TEXT + "again zoë.k@acmeltd.com and other@acmeltd.org, not <EMAIL_ADDRESS_1>\n"
        code, hidden, err = run("redact", "--vault", vault, stdin=text.encode())
        equal(code, 0, err)
        hidden = hidden.decode()
        for secret in ("7946", "zoë.k", "other@", "4111"):
            assert secret not in hidden, hidden
        equal(hidden.count("<EMAIL_ADDRESS_2>"), 2)  # 1 is in the text already
        equal(stat.S_IMODE(os.stat(vault).st_mode), 0o600)
        code, back, err = run("redact", "--restore", "--vault", vault, stdin=hidden.encode())
        equal(code, 0, err)
        equal(back.decode(), text)
        equal(err, "", "the placeholder of the text is known to be its own")
        # A second text goes on with the vault: the same value, the same placeholder.
        code, out, err = run(
            "redact", "--json", "--vault", vault, stdin=b"to other@acmeltd.org and new@acmeltd.org"
        )
        equal(code, 0, err)
        equal(json.loads(out)["text"], "to <EMAIL_ADDRESS_3> and <EMAIL_ADDRESS_4>")
        code, out, err = run(
            "redact",
            "--json",
            "--restore",
            "--vault",
            vault,
            stdin=b"<EMAIL_ADDRESS_4> <PHONE_NUMBER_9>",
        )
        equal(
            (code, json.loads(out)),
            (
                0,
                {
                    "text": "new@acmeltd.org <PHONE_NUMBER_9>",
                    "restored": ["<EMAIL_ADDRESS_4>"],
                    "unknown": 1,
                },
            ),
            err,
        )


@case
def test_a_placeholder_that_a_text_had_before_comes_back_as_itself():
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault.json"
        texts = [
            "a@acmeltd.com, not <EMAIL_ADDRESS_3>",
            "b@acmeltd.com and c@acmeltd.com, not <EMAIL_ADDRESS_4>, not <EMAIL_ADDRESS_3>",
            "see <EMAIL_ADDRESS_4> <EMAIL_ADDRESS_5> <PLACEHOLDER_1> <NOTHING_1>",
        ]
        hidden = []
        for text, count in zip(texts, (0, 1, 3), strict=True):
            code, out, err = run("redact", "--vault", vault, stdin=text.encode())
            equal(code, 0, err)
            equal(f"{count} placeholder" in err, count > 0, err)
            hidden.append(out)
            assert b"@" not in out, out
        assert b"<EMAIL_ADDRESS_5> and <EMAIL_ADDRESS_6>, not <PLACEHOLDER_1>" in hidden[1], hidden
        for text, out in zip(texts, hidden, strict=True):
            code, back, err = run("redact", "--restore", "--vault", vault, stdin=out)
            equal((code, back.decode()), (0, text), err)


@case
def test_redact_writes_many_files_with_one_numbering_and_spoils_none():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / "one.txt", folder / "two.txt"]
        files[0].write_text("to a@acmeltd.com\n")
        files[1].write_text("from b@acmeltd.com to a@acmeltd.com\n")
        files[1].chmod(0o600)
        safe = folder / "safe"
        code, out, err = run("redact", "-o", safe, *files)
        equal((code, out), (0, b""), err)
        hidden = ["to <EMAIL_ADDRESS_1>\n", "from <EMAIL_ADDRESS_2> to <EMAIL_ADDRESS_1>\n"]
        equal([(safe / file.name).read_text() for file in files], hidden)
        equal(stat.S_IMODE((safe / "two.txt").stat().st_mode), 0o600)
        code, _, err = run("redact", "-o", safe, *files)
        assert code == 1 and "File exists" in err and "2 of 2 files" in err, err

        wide, link = folder / "wide.txt", folder / "link.txt"
        wide.write_bytes("a@acmeltd.com".encode("utf-16"))
        link.symlink_to(files[0])
        before = [file.read_bytes() for file in (*files, wide)]
        vault = folder / "v.json"
        code, _, err = run("redact", "-i", "--vault", vault, wide, link, folder, *files)
        assert code == 1 and "3 of 5 files" in err, err
        assert "wide.txt is no text" in err and "link.txt is no file" in err, err
        equal([file.read_text() for file in files], hidden)
        equal((wide.read_bytes(), link.is_symlink()), (before[2], True))
        code, _, err = run("redact", "--restore", "-i", "--vault", vault, *files)
        equal((code, [file.read_bytes() for file in files]), (0, before[:2]), err)

        for wrong in (files, ["-i"], ["-i", "-o", safe, files[0]], ["-i", "--json", files[0]]):
            code, out, err = run("redact", *wrong)
            equal((code, out), (2, b""), err)


@case
def test_redact_replaces_from_the_class_that_was_asked_for():
    text = b"On 2024-05-01 a@acmeltd.com paid with 4111111111111111"
    for level, kept in (
        ("public", ()),
        ("sensitive", ("2024-05-01",)),
        ("restricted", ("2024-05-01", "a@acmeltd.com")),
    ):
        code, out, err = run("redact", "--class", level, stdin=text)
        equal(code, 0, err)
        for value in ("2024-05-01", "a@acmeltd.com", "4111111111111111"):
            equal((level, value, value in out.decode()), (level, value, value in kept))


@case
def test_the_operators_patterns_and_words_come_from_the_configuration():
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "projects.txt").write_text("# ours\nBlue Bird\n")
        config = Path(folder) / "tandem.yaml"

        def privacy(text):
            config.write_text("privacy:\n" + text)
            return run(
                "scan",
                "--json",
                "--config",
                str(config),
                "-p",
                "EMP-00017 works on blue bird and zeta",
            )

        code, out, err = privacy(f"""  patterns:
    - {{name: STAFF_ID, regex: 'EMP-[0-9]{{5}}', class: restricted, score: 0.7}}
  words:
    - {{name: PROJECT, file: {folder}/projects.txt}}
    - {{name: code-word, list: [zeta], class: public}}
""")
        equal(code, 0, err)
        spans = json.loads(out)["spans"]
        equal(
            [(s["type"], s["class"], s["start"], s["end"]) for s in spans],
            [
                ("STAFF_ID", "restricted", 0, 9),
                ("PROJECT", "sensitive", 19, 28),
                ("code-word", "public", 33, 37),
            ],
        )
        code, out, err = run(
            "redact", "--class", "public", "--config", str(config), "-p", "EMP-00017, zeta"
        )
        equal((code, out), (0, b"<STAFF_ID_1>, <CODE_WORD_1>"), err)
        for text, says in (
            ("  patterns: [{name: A, regex: '('}]", "parenthesis"),
            ("  patterns: [{name: A, regex: 'x*'}]", "empty"),
            ("  words: [{name: A}]", "needs a file or a list"),
            (f"  words: [{{name: A, file: {folder}/none}}]", "none"),
        ):
            code, out, err = privacy(text + "\n")
            equal((text, code, out), (text, 1, b""))
            assert says in err and "tandem.yaml:2" in err, err


@case
def test_wrong_use_and_broken_vaults_say_what_to_do():
    equal(run("redact", "--restore", stdin=b"x")[0], 2)
    equal(run("redact", "--class", "secret", stdin=b"x")[0], 2)
    equal(run("scan", "--jsonl", "file")[0], 2)
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault.json"
        for content in (
            "{",
            "[]",
            '{"version": 2, "values": {}}',
            '{"version": 1, "values": {"x": "y"}}',
            '{"version": 1, "values": {"<A_1>": 3}}',
        ):
            vault.write_text(content)
            code, out, err = run("redact", "--vault", str(vault), stdin=b"a@acmeltd.com")
            equal((content, code, out), (content, 1, b""))
            assert err, content
            equal(vault.read_text(), content)
        code, out, err = run(
            "redact", "--restore", "--vault", str(Path(folder) / "none"), stdin=b"x"
        )
        equal((code, out), (1, b""))
        code, out, err = run(
            "redact", "--vault", str(Path(folder) / "no" / "dir"), stdin=b"a@acmeltd.com"
        )
        equal((code, out), (1, b""), err)


def pdf(*lines: str) -> bytes:
    """One page with these lines."""
    shown = "".join(f"({line}) Tj 0 -20 Td " for line in lines)
    content = f"BT /F 12 Tf 50 700 Td {shown}ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        b" /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, value in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, value)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)
    return out + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


@case
def test_the_text_of_a_pdf_is_looked_at_where_a_program_can_read_it():
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "-a.pdf").write_bytes(pdf("Dear Sir,", "my card is 4111 1111 1111 1111"))
        (top / "clean.pdf").write_bytes(pdf("Hello there"))
        (top / "empty.pdf").write_bytes(pdf())
        code, out, err = run("scan", folder)
        shown = flat(out.decode())
        assert f"restricted {folder}/-a.pdf: CREDIT_CARD 1" in shown, (shown, err)
        assert f"not text {folder}/empty.pdf: its pages are pictures" in shown, shown
        assert "3 files: 1 with private data, 1 not text, 0 not read" in shown, shown
        equal(code, 3)
        code, out, _ = run("scan", str(top / "-a.pdf"))
        assert code == 3 and b"CREDIT_CARD 1" in out, out
        (top / "-a.pdf").write_bytes(b"%PDF-1.4\n" + os.urandom(5000))
        code, out, _ = run("scan", folder)
        assert code == 1 and b"1 not read" in out and b"pdftotext ended with" in out, out
        code, out, _ = run("scan", str(top / "clean.pdf"), env={"PATH": folder})
        assert code == 0 and "poppler-utils would read it" in flat(out.decode()), out
        code, out, _ = run("scan", "--json", str(top / "clean.pdf"), env={"PATH": folder})
        row = json.loads(out)["files"][0]
        assert (code, row["class"]) == (0, "not text") and "poppler" in row["hint"], row
        assert "error" not in row, row


@case
def test_folders_and_files_are_summed_up_by_file():
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "deep").mkdir()
        (top / "a.txt").write_text("Card 4111 1111 1111 1111")
        (top / "deep" / "b.csv").write_text(
            'name;mail\r\n"A; B";jo.smith@acme-corp.com\r\nC;ann@acme-corp.com\r\n'
        )
        (top / "deep" / "c.json").write_text('{"u": {"e": "jo.smith@\\u0061cme-corp.com"}}')
        (top / "deep" / "d.bin").write_bytes(b"\0\1\2")
        (top / "deep" / "plain.txt").write_text("Hello there")
        (top / "link").symlink_to("/etc")
        code, out, err = run("scan", folder)
        equal(code, 3, err)
        shown = flat(out.decode())
        for words in (
            f"restricted {folder}/a.txt: CREDIT_CARD 1",
            "EMAIL_ADDRESS in mail 2",
            "EMAIL_ADDRESS in e 1",
            f"not text {folder}/deep/d.bin",
            "5 files: 3 with private data, 1 not text, 0 not read",
        ):
            assert words in shown, (words, shown)
        assert "/link" not in shown and "plain" not in shown, shown
        code, out, _ = run("scan", "--json", top / "deep" / "plain.txt", top / "a.txt")
        found = json.loads(out)
        equal((code, found["looked_at"], found["private"]), (3, 2, 1))
        equal(found["files"][0]["types"], {"CREDIT_CARD": 1})
        code, out, _ = run("scan", top / "deep" / "plain.txt", top / "none")
        assert code == 1 and b"1 not read" in out, (code, out)
        row = json.loads(run("scan", "--json", top / "none", top / "none")[1])["files"][0]
        assert row["class"] == "not read" and "No such file" in row["error"], row
        (top / "a.txt").unlink()
        (top / "deep" / "b.csv").unlink()
        (top / "deep" / "c.json").unlink()
        code, out, _ = run("scan", folder)
        assert code == 0 and b"0 with private data" in out, (code, out)


@case
def test_a_summary_misses_no_names_of_columns_no_keys_and_no_encodings_and_shows_no_value():
    card, mail = "4111 1111 1111 1111", "max@gmail.com"
    texts = {
        "head.csv": f"{mail},{card}\nann@gmail.com,5500 0055 5555 5559\n".encode(),
        "open.csv": f'a,"never closed {mail}\nx {card}'.encode(),
        "keys.json": json.dumps({mail: 1, card: {"a": "x"}}).encode(),
        "latin.txt": f"M\u00fcller {mail} {card}".encode("latin-1"),
        "wide.csv": f"name,mail\nAnn,{mail}\nBob,{card}\n".encode("utf-16"),
        "nul.txt": (f"{mail} {card}\n" + "x" * 200).encode() + b"\0",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, data in texts.items():
            (Path(folder) / name).write_bytes(data)
        (Path(folder) / "picture").write_bytes(bytes(range(256)) * 8)
        for options in ([], ["--json"]):
            code, out, err = run("scan", folder, *options)
            equal(code, 3, err)
            assert mail.encode() not in out and card.encode() not in out, out
        found = {Path(row["path"]).name: row for row in json.loads(out)["files"]}
        for name in texts:
            equal(found[name]["class"], "restricted", name)
        equal(json.loads(out)["not_text"], 1)
        assert "CREDIT_CARD in column 2" in found["head.csv"]["types"], found["head.csv"]


@case
def test_redact_says_what_it_left_and_why():
    text = b"Peter Miller, card 4111 1111 1111 1111, jo.smith@acme-corp.com"
    for more in ([], ["--surrogates"]):
        code, out, err = run("redact", *more, stdin=text)
        assert code == 0 and b"Peter Miller" in out and b"4111" not in out, (out, err)
        assert "1 finding was left as it is: PERSON (public)" in err, err
        code, out, err = run("redact", "--class", "restricted", *more, stdin=text)
        assert "EMAIL_ADDRESS (sensitive)" in err and "--class restricted" in err, err
        code, out, err = run("redact", "--class", "public", *more, stdin=text)
        equal(err, "")
    _, out, _ = run("redact", "--json", stdin=text)
    equal(json.loads(out)["left"], 1)


if __name__ == "__main__":
    main()
