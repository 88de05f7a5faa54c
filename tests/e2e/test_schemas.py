#!/usr/bin/env python3
"""Random JSON schemas of the kinds that are published: what the local model writes under one is
valid for an independent validator (the jsonschema package), every time. TANDEM_SCHEMAS=1000 for the
long run."""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, main
from schema_maker import Maker
from tandem import NANO, run

COUNT = int(os.environ.get("TANDEM_SCHEMAS", "60"))
REFUSED_SHARE_MAX = 0.15


def satisfiable(message):
    """Refusals because nothing fits say nothing about what is supported."""
    return not re.search(
        r"no value|satisf|no number|no multiple|is above|forbids it|below what is required", message
    )


@case
def test_what_is_written_under_a_schema_is_valid():
    try:
        import jsonschema
    except ImportError:
        raise Skip("the jsonschema package is not installed") from None
    written = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schema.json"
        for seed in range(COUNT):
            schema = Maker(seed).whole()
            path.write_text(json.dumps(schema))
            code, out, err = run(
                "generate",
                "-m",
                NANO,
                "--json-schema",
                path,
                "-p",
                "Give the data:",
                "-n",
                "400",
                "--temp",
                "1.2",
                "--seed",
                seed + 1,
                timeout=600,
            )
            if code != 0:
                assert "JSON schema" in err, (seed, err)
                refused += satisfiable(err)
                if satisfiable(err) and os.environ.get("TANDEM_VERBOSE"):
                    print(seed, err.strip())
                continue
            try:
                value = json.loads(out)
            except ValueError as error:
                raise AssertionError(f"seed {seed}: {error}: {out[-200:]!r}") from None
            found = list(jsonschema.Draft202012Validator(schema).iter_errors(value))
            assert not found, (seed, json.dumps(schema), json.dumps(value), found[0].message)
            written += 1
    print(f"{written} of {COUNT} schemas written, all valid; {refused} refused as not supported")
    assert written > COUNT / 3 and refused <= COUNT * REFUSED_SHARE_MAX, (written, refused)


if __name__ == "__main__":
    main()
