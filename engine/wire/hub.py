"""Whether the hub that models are downloaded from may be reached, asked without its client, which
retries for half a minute."""

import socket
from urllib.parse import urlsplit
from urllib.request import getproxies

_ANSWER_S = 5.0


def may_answer(endpoint: str, *, is_offline: bool, timeout_s: float = _ANSWER_S) -> bool:
    """Whether ``endpoint`` takes a connection, or a proxy may know the way to it."""
    if is_offline:
        return False
    if getproxies():  # the client finds out
        return True
    address = urlsplit(endpoint)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        with socket.create_connection((address.hostname or "", port), timeout=timeout_s):
            return True
    except OSError:
        return False
