"""Certificates of our own for servers of tests, made by the openssl program."""

import subprocess
from pathlib import Path

from check import Skip

NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


def openssl(*arguments: object) -> None:
    """Runs the openssl program."""
    try:
        done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True)
    except FileNotFoundError:
        raise Skip("openssl is not here") from None
    if done.returncode:
        raise RuntimeError(done.stderr.decode())


class Authority:
    """One that vouches for certificates: `file` is its own."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self.folder, self.name = folder, name
        self.file, self.key = folder / f"{name}.pem", folder / f"{name}.key"
        openssl(
            *("req", "-x509", *NEW_KEY, "-keyout", self.key, "-out", self.file),
            *("-days", "30", "-subj", f"/CN={name}"),
        )

    def issue(self, name: str, alternative: str, days: int = 30) -> tuple[Path, Path]:
        """alternative: "DNS:a,IP:127.0.0.1". (certificate file, key file), replaced at once."""
        key, cert = self.folder / f"{name}.key", self.folder / f"{name}.pem"
        request, extension = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extension.write_text(f"subjectAltName={alternative}\n")
        new_key, new_cert = key.with_suffix(".key.new"), cert.with_suffix(".pem.new")
        subject = ("-subj", f"/CN={name}")
        openssl("req", *NEW_KEY, "-keyout", new_key, "-out", request, *subject)
        openssl(
            *("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self.key),
            *("-CAcreateserial", "-days", days, "-extfile", extension, "-out", new_cert),
        )
        new_key.chmod(0o600)
        new_key.rename(key)
        new_cert.rename(cert)
        return cert, key


def certificate(folder: Path, name: str = "127.0.0.1") -> tuple[Path, Path]:
    """A new key and its self-signed certificate for 127.0.0.1: (certificate file, key file)."""
    key, cert = folder / f"{name}.key.pem", folder / f"{name}.cert.pem"
    done = subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            key,
            "-out",
            cert,
            "-days",
            "2",
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        capture_output=True,
    )
    if done.returncode:
        raise Skip("openssl is not here")
    return cert, key


AUTHORITY = """[ca]
default_ca = one
[one]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = any
copy_extensions = copy
[any]
commonName = supplied
"""


def expired_certificate(folder: Path) -> tuple[Path, Path]:
    """The same, of the year 2020."""
    _, key = certificate(folder, "expired")
    (folder / "ca.cnf").write_text(AUTHORITY)
    (folder / "index.txt").write_text("")
    (folder / "serial").write_text("01\n")
    name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    ask: list[str | Path] = ["openssl", "req", "-new", "-key", key, "-out", "request.pem", *name]
    dates = ["-startdate", "20200101000000Z", "-enddate", "20200102000000Z"]
    cert = folder / "old.cert.pem"
    give: list[str | Path] = ["openssl", "ca", "-batch", "-selfsign", "-config", "ca.cnf"]
    give += ["-keyfile", key, *dates, "-in", "request.pem", "-out", cert, "-notext"]
    for command in (ask, give):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return cert, key
