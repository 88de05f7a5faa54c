"""A state folder with keys of its own, and `tandem keys` on it."""

import json
import shutil
import tempfile
from typing import Any, Self

from check import equal
from tandem import Tandem, clean_environment, run


class Store:
    def __enter__(self) -> Self:
        self.folder = tempfile.mkdtemp(prefix="tandem-keys-")
        self.environment = {"TANDEM_STATE_DIR": self.folder}
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder)

    def keys(self, *arguments: object, code: int = 0) -> Any:
        """What `tandem keys ... --json` prints."""
        environment = clean_environment(**self.environment)
        got, out, err = run("keys", *arguments, "--json", env=environment)
        equal(got, code, f"{arguments}: {out!r} {err!r}")
        return json.loads(out) if out else err

    def add(self, name: str, *arguments: object) -> str:
        return self.keys("add", name, *arguments)["key"]

    def serve(self, config: str | None = None, **env: object) -> Tandem:
        return Tandem(config, env={**self.environment, **env})


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
