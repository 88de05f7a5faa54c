"""Nodes with `state: postgresql://`."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import postgres
from check import Skip, equal
from key_store import bearer
from postgres import Postgres
from redis_server import Redis
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, run

CLOUD = {"x-tandem-mode": "only-cloud"}
PRICE = "    price:\n      input_usd_per_mtok: 0.15\n      output_usd_per_mtok: 0.60\n"


def node(
    name: str,
    cloud: ScriptedCloud,
    db: Postgres,
    more: str = "",
    redis: Redis | None = None,
    tier: str = "",
) -> Tandem:
    """tier: more of the cloud tier, in the place of its price."""
    shares = f", redis: {redis.url}" if redis else ""
    plain = edge_first(cloud.base_url, tier)
    if tier:
        plain = plain.replace(PRICE, "")
    config = plain + f"\nstate: {db.url}\ncluster: {{key_env: CLUSTER_KEY{shares}}}\n" + more
    return Tandem(
        config,
        env={"TEST_CLOUD_KEY": "k", "TANDEM_NODE": name, "CLUSTER_KEY": "5e" * 32},
    )


def start_again(tandem: Tandem, wait: bool = True) -> Tandem:
    """The same node, with the same state folder."""
    kept = {key: value for key, value in tandem.environment.items() if "TANDEM" in key}
    return Tandem(
        env={**clean_environment(), **kept, "TEST_CLOUD_KEY": "k", "CLUSTER_KEY": "5e" * 32},
        wait=wait,
    )


def keys(tandem: Tandem, *arguments: object) -> Any:
    """What `tandem keys ... --json` prints on that node."""
    code, out, err = run("keys", *arguments, "--json", env=tandem.environment)
    equal(code, 0, f"{arguments}: {err!r}")
    return json.loads(out)


def status(tandem: Tandem, key: str) -> int:
    return tandem.get("/v1/models", headers=bearer(key)).status


def knows(tandem: Tandem, key: str) -> bool:
    """Without any key, whoever comes is let in."""
    return (status(tandem, key), status(tandem, "sk-tandem-0")) == (200, 401)


@contextlib.contextmanager
def pair(more: str = "", script: Script | None = None, tier: str = "") -> Iterator[tuple[Any, ...]]:
    if why := postgres.missing():
        raise Skip(why)
    cloud = ScriptedCloud(script or Script(text="Cloud."))
    with (
        contextlib.closing(cloud),
        Postgres() as db,
        node("a", cloud, db, more, None, tier) as a,
        node("b", cloud, db, more, None, tier) as b,
    ):
        yield db, cloud, a, b
