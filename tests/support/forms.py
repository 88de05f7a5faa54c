"""Uploads as multipart/form-data, written by hand so that a test may write them wrongly."""

from typing import Any

from tandem import Answer, Tandem

BOUNDARY = "----tandem-test-boundary"


def part(
    name: str, content: bytes | str, filename: str | None = None, kind: str | None = None
) -> bytes:
    data = content if isinstance(content, bytes) else content.encode()
    named = f'; filename="{filename}"' if filename is not None else ""
    head = f'Content-Disposition: form-data; name="{name}"{named}\r\n'
    if kind:
        head += f"Content-Type: {kind}\r\n"
    return head.encode() + b"\r\n" + data


def form(*parts: bytes, boundary: str = BOUNDARY) -> bytes:
    dashes = b"--" + boundary.encode()
    return b"".join(dashes + b"\r\n" + one + b"\r\n" for one in parts) + dashes + b"--\r\n"


def post_form(
    tandem: Tandem, body: bytes, headers: dict[str, str] | None = None, boundary: str = BOUNDARY
) -> Answer:
    kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return tandem.request("POST", "/v1/files", body, {**kind, **(headers or {})})


def upload(
    tandem: Tandem,
    content: bytes | str,
    purpose: str = "user_data",
    filename: str = "notes.txt",
    headers: dict[str, str] | None = None,
) -> dict[str, Any]:
    """The file's object."""
    body = form(part("purpose", purpose), part("file", content, filename))
    answer = post_form(tandem, body, headers)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json
    return found
