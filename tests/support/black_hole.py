"""A network that swallows packets: a port whose queue of connections is full. The kernel drops each
further SYN, so that a client waits as it does behind a dead link, without an error."""

import socket


class BlackHole:
    """base_url for a tier; close() frees the port, on which a server may be started then."""

    def __init__(self) -> None:
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        self.port = self._listener.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._fillers = []
        for _ in range(4):  # the queue holds one more than asked for
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", self.port))
            self._fillers.append(filler)

    def close(self) -> None:
        for filler in self._fillers:
            filler.close()
        self._listener.close()
