#!/usr/bin/env python3
"""deploy/compose.yaml and deploy/kubernetes.yaml: the same services with the same configuration,
started from Debian's packages. Only names of hosts, ports and the cloud are put in their place."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import postgres
import redis_server
from check import Skip, case, equal, main
from postgres import Postgres, free_port
from redis_server import Redis
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Tandem, wait_until

DEPLOY = ROOT / "deploy"
GIVEN = {
    "OPENAI_API_KEY": "cloud-key",
    "CLIENT_KEYS": "key-of-shop",
    "OPERATOR_KEY": "key-of-operator",
    "CLUSTER_KEY": "5e" * 32,
    "DATABASE_PASSWORD": "not-needed-here",
}
SHOP = {"authorization": "Bearer key-of-shop", "x-tandem-mode": "only-cloud"}


def yaml() -> Any:
    try:
        import yaml as module
    except ImportError as fault:
        raise Skip("PyYAML is not installed (Debian: python3-yaml)") from fault
    return module


def filled(text: str) -> str:
    """${NAME:?} as compose fills it in."""
    return re.sub(r"\$\{(\w+):\?\}", lambda match: GIVEN[match.group(1)], text)


def compose() -> dict[str, Any]:
    return dict(yaml().safe_load((DEPLOY / "compose.yaml").read_text())["services"])


def healthy(service: dict[str, Any], port: int) -> bool:
    """What the health check of a container says of a node on this port."""
    how, *command = service["healthcheck"]["test"]
    equal(how, "CMD", "the image's shell is busybox")
    words = [put(word, "8080", str(port)) if "8080" in word else word for word in command]
    words = [word.replace("$$", "$") for word in words]
    return subprocess.run(words, stderr=subprocess.DEVNULL, timeout=10, check=False).returncode == 0


def put(text: str, old: str, new: str) -> str:
    assert old in text, f"{old} is not in the configuration any more"
    return text.replace(old, new)


def prometheus_configuration(folder: Path) -> str:
    """nodes/prometheus.yml with the files that compose mounts."""
    (folder / "key").write_text(GIVEN["OPERATOR_KEY"])
    text = (DEPLOY / "nodes/prometheus.yml").read_text()
    for mount in compose()["prometheus"]["volumes"]:
        source, target, _ = mount.split(":")
        assert (DEPLOY / source).is_file(), mount
        text = text.replace(target, str(DEPLOY / source))
    assert "/etc/prometheus" not in text, text
    return put(text, "/run/secrets/operator_key", str(folder / "key"))


def configuration(cloud: ScriptedCloud, db: Postgres, redis: Redis) -> str:
    text = (DEPLOY / "nodes/tandem.yaml").read_text()
    text = put(text, "https://api.openai.com/v1", cloud.base_url)
    text = put(text, "postgresql://tandem@db/tandem", db.url)
    return put(text, "redis://cache:6379/0", redis.url)


def prometheus_sees(nodes: list[Tandem]) -> None:
    program = shutil.which("prometheus")
    if not program:
        raise Skip("Prometheus is not installed (Debian: prometheus)")
    folder = Path(tempfile.mkdtemp(prefix="tandem-prometheus-"))
    text = prometheus_configuration(folder)
    for name, tandem in zip("ab", nodes, strict=True):
        text = put(text, f"tandem-{name}:8080", f"127.0.0.1:{tandem.port}")
    text = put(text, "scrape_interval: 15s", "scrape_interval: 1s")
    (folder / "prometheus.yml").write_text(text)
    port = free_port()
    process = subprocess.Popen(
        [
            program,
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def up() -> bool:
        address = f"http://127.0.0.1:{port}/api/v1/query?query=tandem_ledger_database_up"
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:
                found = json.load(answer)["data"]["result"]
        except OSError:
            time.sleep(0.2)
            return False
        return [row["value"][1] for row in found] == ["1", "1"]

    try:
        wait_until(up, what="Prometheus with both nodes")
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@case
def test_the_services_of_compose_work_together() -> None:
    services = compose()
    equal(set(services), {"tandem-a", "tandem-b", "db", "cache", "prometheus"})
    why = postgres.missing() or redis_server.missing()
    if why:
        raise Skip(why)
    cloud = ScriptedCloud(Script(text="Cloud."))
    nodes: list[Tandem] = []
    with Postgres() as db, Redis() as redis:
        try:
            for name in ("tandem-a", "tandem-b"):
                env = {k: filled(v) for k, v in services[name]["environment"].items()}
                nodes.append(Tandem(configuration(cloud, db, redis), env=env))
            for tandem in nodes:
                equal(healthy(services["tandem-a"], tandem.port), True)
                equal(tandem.get("/readyz").status, 200)
                equal(tandem.chat("hello").status, 401)
                asked = tandem.chat("hello", SHOP)
                equal(asked.status, 200)
                equal(tandem.get("/metrics").status, 401)
            wait_until(lambda: db.number("SELECT count(*) FROM tandem.exchange") == 2)
            path = f"/tandem/v1/exchanges/{asked.tandem['exchange']}"
            equal([tandem.get(path, headers=SHOP).status for tandem in nodes], [200, 200])
            rows = db.query("SELECT DISTINCT node FROM tandem.exchange ORDER BY 1")
            equal(rows, [["a"], ["b"]])
            wait_until(lambda: all("limits" not in t.get("/readyz").json for t in nodes))
            prometheus_sees(nodes)
        finally:
            for tandem in nodes:
                tandem.stop()
    equal(healthy(services["tandem-a"], free_port()), False)


@case
def test_kubernetes_has_the_same_configuration() -> None:
    documents = list(yaml().safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    of = {(d["kind"], d["metadata"]["name"]): d for d in documents}
    data = of["ConfigMap", "tandem"]["data"]
    equal(data["tandem.yaml"], (DEPLOY / "nodes/tandem.yaml").read_text())
    services = {name for kind, name in of if kind == "Service"}
    config = yaml().safe_load(data["tandem.yaml"])
    for address in (config["state"], config["cluster"]["redis"]):
        found = re.search(r"//(?:\w+@)?(\w+)", address)
        assert found and found.group(1) in services, address
    nodes = of["StatefulSet", "tandem"]["spec"]
    equal(nodes["replicas"], 2)
    container = nodes["template"]["spec"]["containers"][0]
    assert {"name": "TANDEM_NODE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}} in (
        container["env"]
    )
    named = {entry["name"] for entry in container["env"]}
    wanted = set(compose()["tandem-a"]["environment"])
    equal(named, wanted)


@case
def test_the_image_has_what_the_build_needs() -> None:
    """The packages of tools/install_packages.sh that hold libraries are those of the image."""
    script = (ROOT / "tools/install_packages.sh").read_text()
    found = re.search(r'build="(.*?)"', script, re.S)
    assert found
    wanted = {word for word in found.group(1).replace("\\\n", " ").split() if word.endswith("-dev")}
    image = (DEPLOY / "Dockerfile").read_text().partition("FROM scratch\n")[0]
    missing = {word for word in wanted if word not in image}
    equal(missing, set())


@case
def test_promtool_takes_the_configuration() -> None:
    tool = shutil.which("promtool")
    if not tool:
        raise Skip("promtool is not installed (Debian: prometheus)")
    folder = Path(tempfile.mkdtemp(prefix="tandem-promtool-"))
    try:
        (folder / "p.yml").write_text(prometheus_configuration(folder))
        done = subprocess.run(
            [tool, "check", "config", str(folder / "p.yml")],
            capture_output=True,
            text=True,
            env={**os.environ},
            check=False,
        )
        equal(done.returncode, 0, done.stdout + done.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
