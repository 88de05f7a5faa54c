"""A model file in this process: chats, labels, vectors.

An Engine has one session, so one thing runs at a time; other threads wait. Nothing leaves the
process. The C functions run without Python's lock.
"""

from __future__ import annotations

import json
import math
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ._ffi import ffi
from ._library import View, check, library, new_error, text_of
from .errors import EngineError
from .messages import Message, as_messages

PIECES_WAITING_MAX = 256
FINISH = ("stop", "length", "tool_calls", "content_filter")
ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True)
class ModelInfo:
    name: str
    architecture: str
    quantization: str
    parameter_count: int
    context_tokens: int
    embedding_size: int
    label_sets: tuple[str, ...]


@dataclass(frozen=True)
class Generation:
    """A whole answer. `confidence` is the geometric mean of its tokens' probabilities, less those
    that a grammar forced."""

    text: str
    finish: str
    confidence: float
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class Sampling:
    """How an answer is made. `schema` (JSON Schema) or `grammar` (GBNF) hold its form."""

    max_tokens: int = 512
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    stop: Sequence[str] = ()
    schema: dict[str, Any] | None = None
    grammar: str | None = None


class _Options:
    """td_generate_options of a Sampling, and what must live as long."""

    def __init__(self, wanted: Sampling) -> None:
        self.value = ffi.new("struct td_generate_options *")
        self.value.sampling = library().td_sampling_default()
        self.value.sampling.temperature = wanted.temperature
        self.value.sampling.top_p = wanted.top_p
        if wanted.seed is not None:
            self.value.sampling.seed, self.value.sampling.seed_set = wanted.seed, True
        self.value.tokens_max = wanted.max_tokens
        self._stops = [View(text) for text in wanted.stop]
        self._list = ffi.new("struct td_str[]", [view.value[0] for view in self._stops])
        self.value.stops, self.value.stop_count = self._list, len(self._stops)
        if wanted.schema is not None and wanted.grammar is not None:
            raise EngineError("invalid", "an answer has a schema or a grammar, not both")
        if wanted.schema is not None:
            self._hold(library().td_grammar_from_schema, json.dumps(wanted.schema))
        elif wanted.grammar is not None:
            self._hold(library().td_grammar_parse, wanted.grammar)

    def _hold(self, compiled: Callable[..., int], text: str) -> None:
        found, error, view = ffi.new("struct td_grammar **"), new_error(), View(text)
        check(compiled(view.value[0], found, error), error)
        self.value.grammar = self._grammar = ffi.gc(found[0], library().td_grammar_free)


class Tokens(Iterator[str]):
    """The pieces of an answer as they come; at its end, `result` has the whole. Close it, or use
    it in a `with`, to stop early."""

    def __init__(self, engine: Engine, ids: list[int], options: _Options) -> None:
        self._pieces: queue.Queue[str | None] = queue.Queue(PIECES_WAITING_MAX)
        self._stopped = False
        self._error: Exception | None = None
        self.result: Generation | None = None
        self._thread = threading.Thread(target=self._run, args=(engine, ids, options), daemon=True)
        self._thread.start()

    def _put(self, piece: str | None) -> bool:
        """Waits for room; false once nobody reads any more, which ends the generation."""
        while piece != "" and not self._stopped:
            try:
                self._pieces.put(piece, timeout=0.1)
                break
            except queue.Full:
                continue
        return not self._stopped

    def _run(self, engine: Engine, ids: list[int], options: _Options) -> None:
        try:
            self.result = engine._generate(ids, options, self._put)
        except Exception as error:
            self._error = error
        self._put(None)

    def __next__(self) -> str:
        piece = None if self._stopped else self._pieces.get()
        if piece is not None:
            return piece
        error = None if self._stopped else self._error
        self.close()
        if error:
            raise error
        raise StopIteration

    def close(self) -> None:
        """Ends the answer, and waits until the engine has stopped."""
        self._stopped = True
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Engine:
    """Opens a GGUF file. Close it, or use it in a `with`."""

    def __init__(
        self, path: str | os.PathLike[str], *, context_tokens: int = 0, threads: int = 0
    ) -> None:
        self._lock = threading.RLock()
        self._model: Any = None
        self._session: Any = ffi.NULL
        self._cached: list[int] = []  # the tokens whose keys and values the session holds
        error, made = new_error(), ffi.new("struct td_model **")
        check(library().td_model_open(os.fsencode(path), ffi.NULL, made, error), error)
        self._model = made[0]
        options = ffi.new("struct td_session_options *")
        options.context_tokens, options.thread_count = context_tokens, threads
        session = ffi.new("struct td_session **")
        try:
            check(library().td_session_new(self._model, options, session, error), error)
        except EngineError:
            self.close()
            raise
        self._session = session[0]

    def close(self) -> None:
        """Waits for what runs, and gives the memory back. Twice is once."""
        with self._lock:
            if self._model is not None:
                library().td_session_free(self._session)
                library().td_model_close(self._model)
            self._model, self._session = None, ffi.NULL

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _opened(self) -> Any:
        if self._model is None:
            raise EngineError("invalid", "the engine is closed")
        return self._model

    @property
    def info(self) -> ModelInfo:
        with self._lock:
            model = self._opened()
            info = library().td_model_get_info(model)
            sets: list[str] = []
            while name := text_of(library().td_label_set(model, len(sets))):
                sets.append(name)
            return ModelInfo(
                name=ffi.string(info.name).decode(errors="replace"),
                architecture=ffi.string(info.architecture).decode(errors="replace"),
                quantization=ffi.string(info.quantization).decode(errors="replace"),
                parameter_count=info.parameter_count,
                context_tokens=info.context_tokens,
                embedding_size=info.embedding_size,
                label_sets=tuple(sets),
            )

    def tokenize(self, text: str) -> list[int]:
        view, count, error = View(text), ffi.new("size_t *"), new_error()
        capacity = len(text.encode()) + 2  # there are never more
        ids = ffi.new("int32_t[]", capacity)
        with self._lock:
            model = self._opened()
            status = library().td_tokenize(
                model, view.value[0], True, False, ids, capacity, count, error
            )
        check(status, error)
        return list(ids[0 : count[0]])

    def chat(self, messages: str | Sequence[Message], **sampling: Any) -> Generation:
        """The whole answer; the keywords are those of Sampling."""
        ids, options = self._chat_ids(as_messages(messages)), _Options(Sampling(**sampling))
        return self._generate(ids, options, lambda _: True)

    def stream(self, messages: str | Sequence[Message], **sampling: Any) -> Tokens:
        """The same, piece by piece."""
        ids, options = self._chat_ids(as_messages(messages)), _Options(Sampling(**sampling))
        return Tokens(self, ids, options)

    def classify(
        self,
        text: str,
        labels: Sequence[str] = (),
        *,
        label_set: str | None = None,
        instruction: str = "",
    ) -> dict[str, float]:
        """The probability of each label, the likeliest first: of `labels`, or of a set that the
        model's file brings (info.label_sets)."""
        views, words, said = [View(label) for label in labels], View(instruction), View(text)
        rows = ffi.new("struct td_str[]", [view.value[0] for view in views])
        name = ffi.new("char[]", label_set.encode()) if label_set else ffi.NULL
        options = ffi.new("struct td_classifier_options *")
        options.set, options.labels, options.label_count = name, rows, len(views)
        options.instruction = words.value[0]
        made, error = ffi.new("struct td_classifier **"), new_error()
        with self._lock:
            check(library().td_classifier_new(self._opened(), options, made, error), error)
            classifier = ffi.gc(made[0], library().td_classifier_free)
            count = library().td_classifier_count(classifier)
            self._cached = []  # the session's are replaced
            scores, out = ffi.new("float[]", count), ffi.new("struct td_classification *")
            status = library().td_classify(
                self._session, classifier, said.value[0], scores, out, error
            )
            check(status, error)
            names = [text_of(library().td_classifier_label(classifier, i)) for i in range(count)]
            ffi.release(classifier)
        return dict(sorted(zip(names, scores), key=lambda row: -row[1]))

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector of length 1 for each text."""
        made, error = ffi.new("struct td_embedder **"), new_error()
        vectors = []
        with self._lock:
            check(library().td_embedder_new(self._opened(), ffi.NULL, made, error), error)
            try:
                for text in texts:
                    view = View(text)
                    out = ffi.new("float[]", self.info.embedding_size)
                    status = library().td_embed_text(made[0], view.value[0], out, ffi.NULL, error)
                    check(status, error)
                    vectors.append(list(out))
            finally:
                library().td_embedder_free(made[0])
        return vectors

    def _chat_ids(self, messages: Sequence[Message]) -> list[int]:
        """Rendered by the model's template; no text can spell a control token."""
        views = [View(message["content"]) for message in messages]
        rows = ffi.new("struct td_message[]", len(views))
        for row, message, view in zip(rows, messages, views):
            if message["role"] not in ROLES:
                raise EngineError("invalid", f"a message's role is one of {', '.join(ROLES)}")
            row.role, row.content = ROLES.index(message["role"]), view.value[0]
        ids, count, error = ffi.new("int32_t **"), ffi.new("size_t *"), new_error()
        with self._lock:
            status = library().td_chat_tokenize(self._opened(), rows, len(views), ids, count, error)
        check(status, error)
        try:
            return list(ids[0][0 : count[0]])
        finally:
            library().free(ids[0])

    def _keep_beginning(self, ids: list[int]) -> int:
        """How many tokens of a conversation that goes on are computed already; the last one always
        runs. What the session holds beyond them is forgotten."""
        count = 0
        for old, new in zip(self._cached, ids[:-1]):
            if old != new:
                break
            count += 1
        library().td_session_truncate(self._session, count)
        return count

    def _generate(
        self, ids: list[int], options: _Options, put: Callable[[str], bool]
    ) -> Generation:
        pieces: list[str] = []
        said = list(ids)
        logprob, judged = 0.0, 0

        def on_token(_: Any, token: Any, text: Any) -> bool:
            nonlocal logprob, judged
            if token:
                said.append(token.id)
            if token and not token.stats.forced:  # what a grammar forces says nothing
                logprob += token.stats.logprob
                judged += 1
            pieces.append(text_of(text))
            return put(pieces[-1])

        callback = ffi.callback("td_token_fn *", on_token, error=False)
        result, error = ffi.new("struct td_generate_result *"), new_error()
        with self._lock:
            self._opened()
            kept = self._keep_beginning(ids)
            rest = ids[kept:]
            status = library().td_generate(
                self._session, rest, len(rest), options.value, callback, ffi.NULL, result, error
            )
            self._cached = said[: library().td_session_length(self._session)]
        check(status, error)
        return Generation(
            text="".join(pieces),
            finish=FINISH[result.finish],
            confidence=math.exp(logprob / judged) if judged else 1.0,
            prompt_tokens=len(ids),
            completion_tokens=result.completion_tokens,
        )
