"""Reads a unit file of systemd and puts a process under the part of it that needs no systemd: its
user, its view of the file system, its system calls."""

import ctypes
import os
import re
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

ALLOW, ERRNO, EPERM, EAFNOSUPPORT = 0x7FFF0000, 0x00050000, 1, 97
EQUAL, MASKED_EQUAL = 4, 7
CLONE_NEWNS, CLONE_NAMESPACES = 0x00020000, 0x7E020080
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
NOBODY = 65534


def read(path: Path) -> dict[str, list[str]]:
    """The values of each key of [Service], in their order."""
    values: dict[str, list[str]] = {}
    section = ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            values.setdefault(key, []).append(value)
    return values


def group(name: str) -> set[str]:
    """The system calls of a group, as systemd-analyze lists them."""
    done = subprocess.run(
        ["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True
    )
    calls: set[str] = set()
    for word in re.findall(r"^ +(@?\w[\w-]*)$", done.stdout, re.M):
        calls |= group(word) if word.startswith("@") else {word}
    return calls


def allowed_calls(values: list[str]) -> set[str]:
    """What SystemCallFilter= leaves: systemd.exec(5)."""
    calls: set[str] = set()
    for value in values:
        for word in value.removeprefix("~").split():
            named = group(word) if word.startswith("@") else {word}
            calls = calls - named if value.startswith("~") else calls | named
    return calls


class Compare(ctypes.Structure):
    """struct scmp_arg_cmp"""

    _fields_ = [
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    ]


class Filter:
    """A filter of system calls, by libseccomp."""

    def __init__(self, default: int) -> None:
        self.lib = ctypes.CDLL("libseccomp.so.2")
        self.lib.seccomp_init.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.lib.seccomp_init(ctypes.c_uint32(default)))

    def add(self, call: str, action: int, *compares: tuple[int, int, int, int]) -> None:
        number = self.lib.seccomp_syscall_resolve_name(call.encode())
        array = (Compare * max(len(compares), 1))(*[Compare(*one) for one in compares])
        if number >= 0:  # else another architecture's
            self.lib.seccomp_rule_add_array(
                self.context, ctypes.c_uint32(action), number, len(compares), array
            )

    def load(self) -> None:
        if self.lib.seccomp_load(self.context) != 0:
            raise OSError("seccomp_load")


def _restrictions(values: dict[str, list[str]]) -> Filter:
    """What depends on arguments: executable memory, namespaces, kinds of sockets."""
    found = Filter(ALLOW)
    refuse = ERRNO | EPERM
    if values.get("MemoryDenyWriteExecute") == ["yes"]:
        found.add("mmap", refuse, (2, MASKED_EQUAL, 6, 6))
        found.add("mprotect", refuse, (2, MASKED_EQUAL, 4, 4))
    if values.get("RestrictNamespaces") == ["yes"]:
        found.add("unshare", refuse)
        found.add("setns", refuse)
        for bit in range(32):
            if CLONE_NAMESPACES >> bit & 1:
                found.add("clone", refuse, (0, MASKED_EQUAL, 1 << bit, 1 << bit))
    families = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}
    for value in values.get("RestrictAddressFamilies", []):
        for family in set(range(48)) - {families[name] for name in value.split()}:
            for call in ("socket", "socketpair"):
                found.add(call, ERRNO | EAFNOSUPPORT, (0, EQUAL, family, 0))
    return found


def _make_read_only(writable: Path) -> None:
    """ProtectSystem=strict in a mount namespace of this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: bytes | None, target: bytes, flags: int) -> None:
        if libc.mount(source, target, None, ctypes.c_ulong(flags), None) != 0:
            raise OSError(ctypes.get_errno(), "mount")

    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    state = os.fsencode(writable)
    mount(None, b"/", MS_REC | MS_PRIVATE)
    mount(state, state, MS_BIND)
    mount(None, b"/", MS_REMOUNT | MS_BIND | MS_RDONLY)


def confinement(values: dict[str, list[str]], writable: Path) -> Callable[[], None]:
    """For `preexec_fn`: makes a process what the unit makes of its service. Needs root."""
    restrictions = _restrictions(values)
    calls = Filter(ERRNO | EPERM)
    for call in allowed_calls(values["SystemCallFilter"]):
        calls.add(call, ALLOW)

    def before() -> None:
        os.umask(int(values["UMask"][0], 8))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _make_read_only(writable)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        restrictions.load()
        calls.load()

    return before
