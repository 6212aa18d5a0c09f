"""The service as a process: restart, Ctrl-C, a port that is taken, live updates, slow senders."""

import asyncio
import signal
import socket
import threading
import urllib.request

import pytest

from desks import service
from eventide.errors import InputError
from eventide.serving.server import bound_socket
from processes import until


def test_a_port_that_is_taken_is_said_before_anything_slow():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="--port"):
            bound_socket("127.0.0.1", taken.getsockname()[1])


def test_answers_do_not_wait_for_each_other():
    """Nagle's algorithm is off on every connection; with it single messages take twice as long."""

    async def main():
        found = []

        def taken(_, writer):
            connection = writer.get_extra_info("socket")
            found.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        listening = bound_socket("127.0.0.1", 0)
        async with await asyncio.start_server(taken, sock=listening):
            reader, writer = await asyncio.open_connection(*listening.getsockname())
            await asyncio.wait_for(reader.read(), 60)
            writer.close()
        return found

    assert asyncio.run(main()) == [1]


@pytest.mark.slow
def test_live_updates_slow_senders_and_a_stop_in_good_order(
    model_path, tmp_path, new_messages, request
):
    store = str(tmp_path / "desk.sqlite")
    with service(model_path, store) as desk:
        host, port = "127.0.0.1", int(desk.address.rsplit(":", 1)[1])
        heard = []

        def listen():
            with urllib.request.urlopen(desk.address + "/v1/updates", timeout=60) as stream:
                heard.extend(line.decode() for line in stream if line.startswith(b"event"))

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        slow = socket.create_connection((host, port))
        request.addfinalizer(slow.close)
        head = "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        slow.sendall(f"{head}Content-Length: 500\r\n\r\n{{".encode())  # and then nothing for long

        def told():  # the listener may come a moment after the first message
            status, _ = desk.ask("/v1/messages", new_messages[:5])
            assert status in (200, 201)
            desk.ask(f"/v1/review/{new_messages[0]['id']}", {"action": "accept"})
            return heard

        until(told, "a live update", pause=0.2)
        desk.process.send_signal(signal.SIGINT)
        assert desk.process.wait(40) == 0
        listener.join(20)
        assert not listener.is_alive()
    with service(model_path, store) as again:
        status, message = again.ask(f"/v1/messages/{new_messages[0]['id']}")
        assert status == 200
        assert message["review"]["action"] == "accept"
