"""What a client is told in place of an answer."""

from __future__ import annotations

__all__ = ["Refusal"]


class Refusal(Exception):
    """A request that gets no answer, with the HTTP status that says so.

    Attributes
    ----------
    status
        Of HTTP.
    message
        What was wanted, what came, where.
    retry_after
        Seconds after which the client may try again; None: not said.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None):
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the answer that say more than its body does."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        if self.status == 408:  # what the rest of it is nobody knows
            headers["Connection"] = "close"
        return headers
