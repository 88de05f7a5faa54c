"""Tandem for Python: `Client` asks a server, `Engine` runs a model file in this process."""

from .client import Answer, Classified, Client, Decision, Reason, Stream
from .engine import Engine, Generation, ModelInfo, Tokens
from .errors import APIError, ConnectionFailed, EngineError, TandemError
from .messages import Message, Role

__all__ = [
    "APIError",
    "Answer",
    "Classified",
    "Client",
    "ConnectionFailed",
    "Decision",
    "Engine",
    "EngineError",
    "Generation",
    "Message",
    "ModelInfo",
    "Reason",
    "Role",
    "Stream",
    "TandemError",
    "Tokens",
]
__version__ = "0.1.0"
