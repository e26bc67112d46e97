# SPDX-License-Identifier: Apache-2.0
"""What operators do to a server: certificates that cannot be read to their end, too few descriptors."""
import os, signal, subprocess, sys, time
from harness import client_context, exchange

STOP_SECONDS = 60  # much more than connections are flushed for


def certificate_without_end(server, ready, done):
    """The certificate is to be read again, and is a FIFO that nobody writes to, and then /dev/zero. TLS goes on with
    the certificate before, and with the new one when there is one."""
    path = server.certificate
    kept = path + ".kept"
    os.rename(path, kept)
    os.mkfifo(path)
    reload(server)
    ready.set()
    turn = 0
    while not done.wait(0.25):
        over_tls(server)
        turn += 1
        if turn == 4:
            os.unlink(path)
            os.symlink("/dev/zero", path)
            reload(server)
    os.unlink(path)
    os.rename(kept, path)
    reload(server)
    over_tls(server)


def reload(server):
    os.kill(server.process.pid, signal.SIGHUP)


def over_tls(server):
    """A client shakes hands and is answered."""
    with client_context().wrap_socket(server.connect(server.tls_port), server_hostname="localhost") as sock:
        request, reply = server.protocol.set(b"tls", b"1")
        if exchange(sock, request, reply[-5:]) != reply:
            sys.exit("FAIL: a wrong reply over TLS")


def few_descriptors(server, ready, done):
    """Three times as many clients as there are descriptors: each is served or is told that there are too many, and
    the admin port answers."""
    request, reply = server.protocol.get(b"nothing", b"")[0], server.protocol.missing
    socks = [server.connect() for _ in range(3 * few_descriptors.descriptors)]
    served = told = 0
    for sock in socks:
        try:
            sock.sendall(request)
        except ConnectionError:
            pass  # it was closed: what it was told is still to be read
        words = said(sock, len(reply))
        served += words == reply
        told += words == server.protocol.too_many
        if words not in (reply, server.protocol.too_many):
            sys.exit(f"FAIL: {words!r} with too few descriptors")
    if not served or not told:
        sys.exit(f"FAIL: {served} clients were served, {told} were told that there are too many")
    ready.set()
    while not done.wait(0.1):
        if server.health() != 200:
            sys.exit("FAIL: the admin port does not answer")
    for sock in socks:
        sock.close()


few_descriptors.descriptors = 64


def said(sock, enough):
    """What a client is told, up to so many bytes or the end of a line that is longer."""
    words = b""
    try:
        while len(words) < enough or not words.endswith(b"\n"):
            if not (piece := sock.recv(4096)):
                break
            words += piece
    except ConnectionResetError:
        pass
    except TimeoutError:
        sys.exit(f"FAIL: a client waits for nothing with too few descriptors, after {words!r}")
    return words


def stops_while_reading(server):
    """SIGTERM ends a server that waits for a certificate which never comes; says what is wrong, if anything is."""
    os.unlink(server.certificate)
    os.mkfifo(server.certificate)
    reload(server)
    time.sleep(0.2)
    server.process.send_signal(signal.SIGTERM)
    try:
        code = server.process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.process.kill()
        return [f"SIGTERM did not end the server in {STOP_SECONDS} s while it read a certificate"]
    return [f"the server ended with code {code}"] if code else []
