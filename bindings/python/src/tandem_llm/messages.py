"""Messages of a conversation, as both halves of the package take them."""

from collections.abc import Sequence
from typing import Literal, TypedDict

Role = Literal["system", "developer", "user", "assistant", "tool"]


class Message(TypedDict):
    role: Role
    content: str


def as_messages(messages: str | Sequence[Message]) -> list[Message]:
    """A text alone is one message of the user's."""
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    return list(messages)
