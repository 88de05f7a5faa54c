"""What can go wrong. Every error of this package is a TandemError."""


class TandemError(Exception):
    """The words say what was wrong, where, and what to do."""


class EngineError(TandemError):
    """The engine refused. `status` is the library's: "invalid", "not_found", "corrupt", "limit"
    and the others of tandem/types.h."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message or status)
        self.status = status


class ConnectionFailed(TandemError):
    """The server cannot be reached, left in the middle, or did not answer in time."""


class APIError(TandemError):
    """The server refused. `retry_after_s` says when to try again, where the server does."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None = None,
        param: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message or f"status {status}")
        self.status, self.code, self.param = status, code, param
        self.retry_after_s = retry_after_s
