#!/usr/bin/env python3
"""What the compiler does not check: the include levels of docs/architecture.md, headers that stand
alone, exported symbols, and that no file has outgrown a reader's head."""

import argparse
import concurrent.futures
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SRC = ROOT / "src"

# The folders of src/, level by level: a file includes its own folder and those of lower levels.
LEVELS = [
    ["base"],
    ["kernels", "privacy", "device", "net", "ledger", "request", "instant"],
    ["engine", "router"],
    ["tier", "quant"],
    ["exchange"],
    ["api"],
    ["cluster"],
    ["app"],
]
LEVEL = {folder: level for level, folders in enumerate(LEVELS) for folder in folders}
# The rooms inside a large folder, in the order in which they may include: each those before it.
# Besides its rooms a folder holds only its door: files that may include all of them, and that none
# of them includes.
PARTS = {
    "base": ["core", "text", "bytes", "json", "crypto", "time", "machine", "thread"],
    "engine": [
        "gguf",
        "tokenizer",
        "template",
        "grammar",
        "sampling",
        "model",
        "forward",
        "session",
        "embedding",
        "measure",
    ],
    "net": ["transport", "client", "download", "server"],
    "ledger": ["database", "store", "egress", "record", "report"],
    "quant": ["encode", "measure", "convert", "quantize"],
    "privacy": ["text", "kind", "words", "detect", "names", "scan", "pseudonym"],
    "router": ["judge", "watch", "plan", "learn"],
    "exchange": ["private", "limits", "memory", "machine", "parts"],
    "api": [
        "cache",
        "telemetry",
        "http",
        "history",
        "wire",
        "files",
        "deferral",
        "dialects",
        "inference",
        "metrics",
        "admin",
        "review",
        "console",
        "drill",
        "evidence",
    ],
    "app": [
        "config",
        "setup",
        "terminal",
        "cli",
        "store",
        "chat",
        "evidence",
        "desk",
        "quality",
        "recipe",
        "verbs",
    ],
    "app/setup": ["files", "credentials", "model", "policy", "privacy", "process"],
    "app/verbs": [
        "run",
        "tenants",
        "review",
        "inspect",
        "ledger",
        "privacy",
        "store",
        "models",
        "making",
        "evidence",
    ],
}
# Rooms whose parts do not see each other at all: a verb is a leaf.
APART = {"app/verbs"}
LINES_MAX = 700

failures = []
passed = 0


def check(name, find):
    """Prints the problems that `find` yields. A check that raises has failed, alone."""
    global passed
    try:
        problems = list(find())
    except Exception as failure:
        problems = [f"the check itself failed: {failure!r}"]
    if problems:
        failures.append(name)
        print(f"FAIL {name}")
        for problem in problems:
            print(f"     {problem}")
    else:
        passed += 1


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if found:
            yield number, found.group(1)


def arrows_that_run_up():
    for path in sorted(SRC.rglob("*.[ch]")):
        folder = path.relative_to(SRC).parts[0]
        for number, target in includes(path):
            to = target.split("/")[0]
            where = f"{path.relative_to(ROOT)}:{number}: includes {target}"
            if to == folder:
                yield from part_that_runs_up(path, number, target)
            if to == "tandem" or to == folder:
                continue
            if to not in LEVEL:
                yield f'{where}: include it as "folder/file.h" from src/'
            elif folder not in LEVEL:
                yield f"{path.relative_to(ROOT)}: folder '{folder}' has no level"
            elif LEVEL[to] >= LEVEL[folder]:
                yield f"{where}: level {LEVEL[folder]} must not see level {LEVEL[to]}"


def part_that_runs_up(path, number, target):
    """An include from one room of a folder into a later one, or out to the folder's door."""
    here, there = path.relative_to(SRC).parts[:-1], tuple(target.split("/")[:-1])
    where = f"{path.relative_to(ROOT)}:{number}"
    for folder, parts in PARTS.items():
        prefix = tuple(folder.split("/"))
        if here[: len(prefix)] != prefix or there[: len(prefix)] != prefix:
            continue
        mine, other = here[len(prefix) :][:1], there[len(prefix) :][:1]
        if not (SRC / target).exists():
            continue  # generated in the build
        if mine and not other:
            yield f"{where}: {folder}/{mine[0]} must not see its folder's door, {target}"
        elif (
            mine
            and other
            and mine != other
            and (folder in APART or parts.index(other[0]) > parts.index(mine[0]))
        ):
            yield f"{where}: {folder}/{mine[0]} must not see {target}"


def rooms_without_a_place():
    """Folders of src/ that LEVELS or PARTS does not name, and names there that are no folder."""
    for folder in {path.name for path in SRC.iterdir() if path.is_dir()}.symmetric_difference(
        LEVEL
    ):
        yield f"src/{folder}: LEVELS and the tree do not say the same"
    for folder, parts in PARTS.items():
        there = {path.name for path in (SRC / folder).iterdir() if path.is_dir()}
        for part in there.symmetric_difference(parts):
            yield f"src/{folder}/{part}: PARTS and the tree do not say the same"


def drawing_out_of_date():
    """docs/rooms.svg shows the includes as they are."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "draw_rooms.py"), "--check"],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        yield (done.stdout + done.stderr).strip()


def circles():
    """Circles between the files of one folder (between folders the levels forbid them)."""
    graph = {}
    for path in SRC.rglob("*.h"):
        name = str(path.relative_to(SRC))
        graph[name] = [target for _, target in includes(path) if (SRC / target).exists()]
    done, path_now = set(), []

    def walk(node):
        if node in path_now:
            yield " -> ".join(path_now[path_now.index(node) :] + [node])
            return
        if node in done:
            return
        path_now.append(node)
        for child in graph.get(node, []):
            yield from walk(child)
        path_now.pop()
        done.add(node)

    for node in sorted(graph):
        yield from walk(node)


def library_types_that_escaped():
    """Third-party headers stay inside the one folder, or the one file, that wraps them."""
    homes = {
        r"event2?/|evhttp": "net",
        r"curl/": "net",
        r"jansson": "base",
        r"nghttp2": "net",
        r"openssl/(ssl|x509|pem|err|core_names)": "net",
        r"openssl/crypto|openssl/hmac": "base",
        r"openssl/(evp|rand)": "base net",
        r"sqlite3": "ledger/database/db_sqlite.c ledger/database/db_sqlite_texts.c",
        r"libpq": "cluster/pq.c",
        r"hiredis": "cluster/redis.c",
        r"yaml|cyaml": "app",
        r"histedit|editline": "app/terminal",
        r"seccomp": "base",
        r"sodium": "base",
        r"zlib": "net base/bytes/packed.c base/bytes/deflater.c",
        r"zstd": "net",
    }
    for path in sorted(SRC.rglob("*.[ch]")):
        inside = path.relative_to(SRC)
        places = {str(inside), *map(str, inside.parents)}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
            for pattern, home in homes.items():
                if found and re.match(pattern, found.group(1)) and not places & set(home.split()):
                    name = path.relative_to(ROOT)
                    yield f"{name}:{number}: <{found.group(1)}> belongs to src/{home}"


# A variant's header needs its instruction set, as in src/kernels/meson.build; a *_body.h is the
# text of a function in the words of the header that is included before it.
ISA_FLAGS = {
    "avx2": ["-mavx2", "-mfma", "-mf16c"],
    "avx512": ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl"],
}


def compiler_of(isa):
    """A compiler for headers of an instruction set; None where there is none, then the build checks
    them where it can."""
    here = platform.machine()
    if isa == "neon" and here != "aarch64":
        root = ROOT / "build-aarch64-root"
        found = shutil.which(
            "aarch64-linux-gnu-gcc"
        )  # of no use without the C library's headers, which the root has
        return [found, f"--sysroot={root}"] if found and (root / "complete").exists() else None
    if isa in ISA_FLAGS and here != "x86_64":
        return None
    return ["cc", *ISA_FLAGS.get(isa, [])]


def changed_files():
    """What `git` says differs from the last commit, new files too."""
    listing = subprocess.run(
        ["git", "status", "--porcelain", "--no-renames", "-uall"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {ROOT / line[3:] for line in listing.splitlines()}


def why_it_does_not_stand_alone(header):
    """What the compiler says of a file that includes only this header; None when it is content."""
    compiler = compiler_of(header.stem.split("_")[-1])
    if not compiler:
        return None
    flags = ["-std=gnu17", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Werror", "-x", "c", "-"]
    paths = [f"-I{SRC}", f"-I{ROOT / 'include'}"]
    done = subprocess.run(
        [*compiler, *paths, *flags],
        input=f'#include "{header}"\n',
        capture_output=True,
        text=True,
    )
    if done.returncode:
        return f"{header.relative_to(ROOT)}: {done.stderr.splitlines()[0]}"
    return None


def headers_that_do_not_stand_alone(only=None):
    headers = sorted(SRC.rglob("*.h")) + sorted((ROOT / "include").rglob("*.h"))
    headers = [header for header in headers if not header.stem.endswith("_body")]
    if only is not None:
        headers = [header for header in headers if header in only]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        yield from filter(None, pool.map(why_it_does_not_stand_alone, headers))


# Who may hand bytes to the HTTP client or open a connection, and why. Bytes for a tier go through
# the door, which refuses, or records and sends; whoever else needs the network says here what for.
SENDERS = {
    "client_start": {
        "src/net/client/client.c": "is it",
        "src/net/client/client.h": "declares it",
        "src/tier/door.c": "the door",
        "src/app/setup/process/watch_keeper.c": "tells the operator's webhook of alarms",
        "src/net/client/webhook.c": "tells addresses of ids and states, without texts",
        "src/api/telemetry/otlp.c": "tells the operator's collector of times, tokens and costs",
        "src/app/setup/credentials/fetch.c": "asks for a tier's credentials, where they end",
        "src/app/cli/remote.c": "a command that talks to the operator's own server (--url)",
    },
    "curl_easy_perform": {
        "src/net/download/download_request.c": "fetches models; sends nothing of a user"
    },
    "curl_multi_add_handle": {
        "src/net/client/client.c": "the client",
        "src/net/download/download.c": "fetches models",
    },
    "connect": {
        "src/net/transport/listen.c": "asks whether somebody listens at a path of its own",
        "src/app/setup/process/service_manager.c": "tells systemd that the server is alive",
    },
    "sendto": {},
    "sendmsg": {"src/tier/local/sandbox_worker.c": "hands requests to the confined worker"},
    "socketpair": {
        "src/tier/local/sandbox_worker.c": "the same",
        "src/net/server/server_h2_stream.c": "a stream of HTTP/2, to this process's own reader",
    },
}

# Another program would inherit the environment, which has keys in it.
STARTERS = {
    "fork": {
        "src/base/machine/confine.c": "tries a filter on a child, which then ends",
        "src/app/recipe/recipe_step.c": "a verb of this program, and no other program",
    },
    "execv": {"src/app/setup/privacy/retention.c": "this program again, before it has read a text"},
    "posix_spawn": {
        "src/tier/local/sandbox_worker.c": "the confined worker, with chosen variables"
    },
    "vfork": {},
    "execve": {},
    "execvp": {},
    "execl": {},
    "posix_spawnp": {
        "src/app/setup/files/run_program.c": "token_command, pdftotext; with chosen variables"
    },
    "popen": {},
}


def calls_beside(named, reason):
    """No file but those named calls these functions."""
    for path in sorted(SRC.rglob("*.[ch]")):
        name = str(path.relative_to(ROOT))
        text = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', " ", path.read_text(), flags=re.S)
        for function, allowed in named.items():
            if re.search(rf"(?<![\w.>]){function}\b", text) and name not in allowed:
                yield f"{name}: uses {function}: {reason}"
    for function, allowed in named.items():
        for name in allowed:
            if function not in (ROOT / name).read_text():
                yield f"{name} no longer uses {function}: take it out of the list"


def asserts_of_the_c_library():
    """They store the text of each condition: 70 bytes more than ASSERT, four hundred times."""
    for path in sorted(SRC.rglob("*.[ch]")):
        if re.search(r"^[^*/]*\bassert\(", path.read_text(), re.M):
            yield f"{path.relative_to(ROOT)}: write ASSERT (base/core/assertion.h), not assert"


def ways_out_beside_the_door():
    return calls_beside(SENDERS, "bytes for a tier go through tier/door.h")


def programs_that_inherit_keys():
    return calls_beside(STARTERS, "a program that is started would inherit keys")


def objects_beside_the_door():
    """The same in what was compiled, where no macro hides a call."""
    objects = sorted((ROOT / "build" / "src").rglob("*.o"))
    senders = [
        path.name
        for path in objects
        if path.stat().st_size
        and re.search(
            r"^\s+U client_start$",
            subprocess.run(["nm", "-u", str(path)], capture_output=True, text=True).stdout,
            re.M,
        )
    ]
    if objects and sorted(senders) != [
        "cli_remote.c.o",
        "client_webhook.c.o",
        "door.c.o",
        "setup_credentials_fetch.c.o",
        "setup_process_watch_keeper.c.o",
        "telemetry_otlp.c.o",
    ]:
        yield f"client_start is called in {', '.join(senders)}"


# A request is parsed once: these members of a body have typed places in request/request.h. Those of
# an answer are parts in tier/openai/openai_delta.h. Who may still know their names: api/, which
# reads requests and writes answers, tier/openai* and tier/clouds, which do the reverse, app/, whose
# commands are clients, and engine/, tier/tool_parser and tier/call_grammar, as models' own forms
# have the same names.
REQUEST_MEMBERS = (
    "messages",
    "content",
    "role",
    "prompt",
    "tools",
    "tool_choice",
    "functions",
    "response_format",
    "grammar",
    "samplers",
    "temperature",
    "stream",
    "stop",
    "tandem",
)
ANSWER_MEMBERS = (
    "choices",
    "delta",
    "message",
    "content",
    "role",
    "tool_calls",
    "function_call",
    "function",
    "arguments",
    "refusal",
    "reasoning_content",
    "logprobs",
    "top_logprobs",
    "finish_reason",
)
MEMBERS_KNOWN_IN = (
    "api/",
    "app/",
    "engine/",
    "tier/clouds",
    "tier/openai",
    "tier/tool_parser",
    "tier/call_grammar",
    "quant/convert/hf_tokenizer",
)


def second_parses():
    """Files that name members of a request or an answer where only typed forms should be known."""
    requests = r'json_get\([^;"]*"(' + "|".join(REQUEST_MEMBERS) + r')"\)'
    answers = r'(?:json_(?:get|put|remove)|strcmp)\([^;"]*"(' + "|".join(ANSWER_MEMBERS) + r')"'
    for path in sorted(SRC.rglob("*.[ch]")):
        name = str(path.relative_to(SRC))
        if name.startswith(MEMBERS_KNOWN_IN):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := re.search(requests, line):
                yield f"src/{name}:{number}: reads '{found.group(1)}': use request/request.h"
            elif found := re.search(answers, line):
                member = found.group(1)
                yield f"src/{name}:{number}: names '{member}': use tier/openai/openai_delta.h"


def exported_symbols_without_td():
    libraries = sorted((ROOT / "build" / "src").glob("libtandem.so*"))
    if not libraries:
        yield "build/src/libtandem.so is not built (make test builds it)"
    for library in libraries:
        if library.is_symlink() or library.is_dir() or library.suffix == ".p":
            continue
        out = subprocess.run(
            ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
        ).stdout
        for line in out.splitlines():
            symbol = line.split()[-1]
            if not symbol.startswith("td_"):
                yield f"{library.name} exports {symbol}"


def files_too_long():
    for pattern in (
        "src/**/*.[ch]",
        "include/**/*.h",
        "tests/**/*.[ch]",
        "tests/**/*.py",
        "tools/*.py",
        "models/**/*.py",
        "bench/*.[ch]",
        "bench/*.py",
    ):
        for path in sorted(ROOT.glob(pattern)):
            lines = len(path.read_text().splitlines())
            if lines > LINES_MAX:
                yield f"{path.relative_to(ROOT)}: {lines} lines (split at {LINES_MAX})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--changed", action="store_true", help="of the headers, compile only those that changed"
    )
    only = changed_files() if parser.parse_args().changed else None
    check("no include runs up a level", arrows_that_run_up)
    check("every room has its place in the order", rooms_without_a_place)
    check("assertions are those of base/core/assertion.h", asserts_of_the_c_library)
    check("every byte for a tier passes the door", ways_out_beside_the_door)
    check("no other program is started with keys", programs_that_inherit_keys)
    check("no object calls what sends beside the door", objects_beside_the_door)
    check("the drawing of the rooms is up to date", drawing_out_of_date)
    check("a request and an answer are parsed once", second_parses)
    check("headers include each other without circles", circles)
    check("third-party headers stay in their folder", library_types_that_escaped)
    check("every header stands alone", lambda: headers_that_do_not_stand_alone(only))
    check("the library exports only td_ names", exported_symbols_without_td)
    check(f"no file is longer than {LINES_MAX} lines", files_too_long)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
