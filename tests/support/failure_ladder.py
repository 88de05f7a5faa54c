"""The ladder of docs/failures.md, and its table: the device, a server of the house and a cloud."""

import signal
from typing import Any

from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import ROOT, Answer, Tandem

CLASSES = ("public", "sensitive", "contractual", "restricted")
TIMES = "timeouts: {connect_ms: 800, first_ms: 700, idle_ms: 700}"
KEPT = "gates: {g0: {gain_over: 0, p_local_under: 0}, g2: {tokens: 0}, g3: {confidence_min: 0}}"
CANARY = "Zanzibar"


class Machine:
    """A server with its two tiers elsewhere. more: further sections; away: addresses that no link
    leads to, in the place of the two."""

    def __init__(
        self,
        script: Script | None = None,
        more: str = "",
        local: str = "",
        away: bool = False,
        refused: bool = False,
        **env: str,
    ) -> None:
        self.house = ScriptedCloud(script or Script(text="House."))
        self.cloud = ScriptedCloud(script or Script(text="Cloud."))
        urls = [self.house.base_url, self.cloud.base_url]
        if away:
            urls = ["https://192.0.2.1/v1", "https://192.0.2.2/v1"]
        if refused:
            urls = [f"http://127.0.0.1:{unused_port()}/v1"] * 2
        config = f"""
{more}
tiers:
  - {{name: local, kind: local{local}}}
  - {{name: house, kind: openai, place: premises, model: h, base_url: "{urls[0]}", {TIMES}}}
  - {{name: cloud, kind: openai, place: cloud, model: c, api_key_env: KEY, base_url: "{urls[1]}",
     {TIMES}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, house, cloud], {KEPT}}}
  - {{name: elsewhere, kind: hybrid, tiers: [local, house, cloud], start: house, {KEPT}}}
"""
        self.tandem = Tandem(config, env={"KEY": "k", **env})

    def close(self) -> None:
        self.tandem.stop(signal.SIGKILL)
        self.house.close()
        self.cloud.close()

    def ask(self, model: str, data_class: str, words: str = "Hello", **members: Any) -> Answer:
        headers = {"x-tandem-data-class": data_class}
        body = {"model": model, "max_tokens": 8, **members}
        return self.tandem.chat(f"{words} {CANARY}-{data_class}", headers, **body)


def documented() -> dict[str, list[str]]:
    text = (ROOT / "docs" / "failures.md").read_text()
    table = text[text.index("| what fails |") :].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:5] for row in rows[2:]}
