"""A disk that loses power: replays the log of tests/support/power_loss.c up to any point, and keeps
of what was not flushed nothing, everything, or any part.

The model is that of POSIX, which promises less than file systems give: data is safe after fsync of
its file, a name after fsync of its folder. Of what is not safe, any 512 bytes may have been
written, and any number of the folder's first changes."""

import random
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "power_loss.c"
RECORD = struct.Struct("<IIIIQQ")
OPEN, WRITE, TRUNCATE, SYNC, RENAME, LINK, UNLINK, MKDIR, SEND = range(9)
SECTOR = 512


def build(folder: Path) -> Path:
    """The library for LD_PRELOAD."""
    library = folder / "power_loss.so"
    subprocess.run(
        ["cc", "-O1", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"],
        check=True,
    )
    return library


@dataclass
class Record:
    op: int
    inode: int
    offset: int
    first: bytes
    second: bytes


def read_log(path: Path) -> list[Record]:
    data, at, records = path.read_bytes(), 0, []
    while at + RECORD.size <= len(data):
        op, first, second, _, inode, offset = RECORD.unpack_from(data, at)
        at += RECORD.size
        records.append(
            Record(op, inode, offset, data[at : at + first], data[at + first : at + first + second])
        )
        at += first + second
    return records


@dataclass
class File:
    safe: bytearray = field(default_factory=bytearray)
    later: list[tuple[int, int, bytes]] = field(default_factory=list)  # op, offset, data


def apply(data: bytearray, op: int, offset: int, text: bytes) -> None:
    if op == TRUNCATE:
        if offset < len(data):
            del data[offset:]
        else:
            data.extend(bytes(offset - len(data)))
        return
    if offset > len(data):
        data.extend(bytes(offset - len(data)))
    data[offset : offset + len(text)] = text


class Disk:
    """root: the folder as it was when the log began; all in it was safe."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.files: dict[int, File] = {}
        self.names: dict[str, int] = {}  # as the program sees them
        self.folders: set[str] = set()
        self.safe_names: dict[str, int] = {}
        self.safe_folders: set[str] = set()
        self.changes: list[tuple[str, str, str]] = []  # not safe: what, name, other name
        self.inodes: dict[int, int] = {}
        self.folder_of: dict[int, str] = {}  # by inode
        self.next = 1
        for path in root.rglob("*"):
            if path.is_dir():
                self.folders.add(str(path))
            else:
                self.inodes[path.stat().st_ino] = self.next
                self.files[self.next] = File(bytearray(path.read_bytes()))
                self.names[str(path)] = self.next
                self.next += 1
        self.safe_names, self.safe_folders = dict(self.names), set(self.folders)

    def take(self, record: Record) -> None:
        first, second = record.first.decode(errors="replace"), record.second.decode()
        if record.op == OPEN:
            self._open(first, record.inode)
        elif record.op in (WRITE, TRUNCATE):
            file = self.files.get(self.inodes.get(record.inode, 0))
            if file:
                file.later.append((record.op, record.offset, record.first))
        elif record.op == SYNC:
            self._sync(record.inode)
        elif record.op in (RENAME, LINK, UNLINK, MKDIR):
            self._change(record.op, first, second)

    def _open(self, path: str, inode: int) -> None:
        if Path(path).is_dir() or path in self.folders or path.rstrip("/") == self.root:
            self.inodes[inode] = -1
            self.folder_of[inode] = path.rstrip("/")
            return
        if path not in self.names:
            self.files[self.next] = File()
            self.inodes[inode] = self.next
            self._note("make", path, str(self.next))
            self.next += 1
        else:
            self.inodes[inode] = self.names[path]

    def _sync(self, inode: int) -> None:
        number = self.inodes.get(inode, 0)
        if number == -1:
            folder = self.folder_of[inode]
            rest = []
            for change in self.changes:
                if str(Path(change[1]).parent) == folder:
                    self._do(self.safe_names, self.safe_folders, *change)
                else:
                    rest.append(change)
            self.changes = rest
        elif number in self.files:
            file = self.files[number]
            for later in file.later:
                apply(file.safe, *later)
            file.later = []

    def _change(self, op: int, first: str, second: str) -> None:
        what = {RENAME: "rename", LINK: "link", UNLINK: "unlink", MKDIR: "mkdir"}[op]
        if what in ("rename", "link"):
            number = self.names.get(first)
            if number is None:
                return
            if what == "rename":
                self._note("unlink", first, "")
            self._note("make", second, str(number))
            return
        self._note(what, first, "")

    def _note(self, what: str, name: str, other: str) -> None:
        self._do(self.names, self.folders, what, name, other)
        self.changes.append((what, name, other))

    @staticmethod
    def _do(names: dict[str, int], folders: set[str], what: str, name: str, other: str) -> None:
        if what == "make":
            names[name] = int(other)
        elif what == "unlink":
            names.pop(name, None)
        elif what == "mkdir":
            folders.add(name)

    def left(self, name: str) -> bytes | None:
        """What of a file is safe; None: not even its name."""
        number = self.safe_names.get(f"{self.root}/{name}")
        return None if number is None else bytes(self.files[number].safe)

    def lose_power(self, into: Path, keep: str, seed: int = 0) -> None:
        """Writes what is left to a fresh folder. keep: "nothing", "everything" or "parts" of what
        was not safe."""
        chance = random.Random(seed)
        names, folders = dict(self.safe_names), set(self.safe_folders)
        count = {
            "nothing": 0,
            "everything": len(self.changes),
            "parts": chance.randint(0, len(self.changes)),
        }[keep]
        for change in self.changes[:count]:
            self._do(names, folders, *change)
        into.mkdir(parents=True)
        for folder in sorted(folders):
            (into / Path(folder).relative_to(self.root)).mkdir(parents=True, exist_ok=True)
        for name, number in names.items():
            path = into / Path(name).relative_to(self.root)
            if path.parent.is_dir():
                path.write_bytes(self._content(self.files[number], keep, chance))
                path.chmod(0o600)

    @staticmethod
    def _content(file: File, keep: str, chance: random.Random) -> bytes:
        data = bytearray(file.safe)
        for op, offset, text in file.later:
            if keep == "everything" or (
                keep == "parts" and op == TRUNCATE and chance.random() < 0.5
            ):
                apply(data, op, offset, text)
            elif keep == "parts" and op == WRITE:
                at = 0
                while at < len(text):
                    end = min(len(text), ((offset + at) // SECTOR + 1) * SECTOR - offset)
                    if chance.random() < 0.5:
                        apply(data, op, offset + at, text[at:end])
                    at = end
        return bytes(data)
