"""What most tests of the console begin with: a server with a scripted cloud, and its keys."""

from typing import Any

from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

KEYS = {"KEYS": "key-of-a-client", "BOSS": "key-of-the-operator"}
KEYED = "server: {api_keys_env: KEYS, operator_keys_env: BOSS}\n"
HARD = "Why did the French revolution begin?"


def with_cloud(script: Script | None = None, more: str = "") -> tuple[ScriptedCloud, Tandem]:
    cloud = ScriptedCloud(script or Script(text="Taxes and bread."))
    env = {"TEST_CLOUD_KEY": "k", **KEYS}
    return cloud, Tandem(edge_first(cloud.base_url) + more, env=env)


def tier_of(card: Any) -> str:
    return str(card.locator(".badge.place").inner_text())
