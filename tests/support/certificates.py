"""Certificates of our own for servers of tests, made by the openssl program."""

import subprocess
from pathlib import Path

from check import Skip


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
