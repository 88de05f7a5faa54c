#!/usr/bin/env python3
"""What the sizes on the wire tell: requests padded to a multiple, and every event of a stream."""
import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run

KEY = {"TEST_CLOUD_KEY": "k"}
CLOUD = {"x-tandem-mode": "only-cloud"}


@case
def test_requests_to_a_padded_tier_are_multiples_and_on_record_as_sent():
    cloud = ScriptedCloud(Script(text="Cloud.", statuses=[503]))  # the first one is repeated
    with Tandem(edge_first(cloud.base_url, "    pad_bytes: 512\n"), env=KEY) as tandem:
        for length in (1, 40, 700, 3000):
            equal(tandem.chat("w" * length, CLOUD, stream=length > 100).status, 200)
        bodies = [request["body"] for request in cloud.requests]
        equal(len(bodies), 5)
        equal([len(body) % 512 for body in bodies], [0] * 5)
        equal(bodies[0], bodies[1])
        equal([len(json.loads(body)["messages"][0]["content"]) for body in bodies], [1, 1, 40, 700, 3000])
        equal(len(bodies[1]), len(bodies[2]))  # 39 bytes more do not show
        assert all(body.rstrip(b" ").endswith(b"}") for body in bodies)
        code, out, err = run("egress", "show", "--json", env=tandem.environment)
        equal(code, 0, err)
        rows = json.loads(out)["transfers"]
        equal([(row["bytes"], row["sha256"]) for row in rows],
              [(len(body), hashlib.sha256(body).hexdigest()) for body in bodies])


if __name__ == "__main__":
    main()
