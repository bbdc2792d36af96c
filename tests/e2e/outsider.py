# SPDX-License-Identifier: GPL-3.0-or-later
"""A stranger looks at a port: connects, says nothing, nonsense, other protocols, and halves of TLS, and reads.

outsider.py HOST PORT   prints "NAME verdict BYTES": silent, alert (nothing but alerts of TLS) or TOLD with the bytes in hex
"""
import os, socket, ssl, sys, threading

host, port = sys.argv[1], int(sys.argv[2])


def tell(*words):
    """Print a line in one piece: many threads do."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def first_words(**how):
    """The first bytes of a client of TLS that has no key of titan."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    for name, value in how.items():
        setattr(context, name, value)
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    end = context.wrap_bio(into, out, server_hostname="titan")
    try:
        end.do_handshake()
    except ssl.SSLError:
        pass
    return out.read()


TLS13, TLS12 = ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_2
modern = first_words(minimum_version=TLS13)
frame = bytes([2, 1, 0, 0]) + (5).to_bytes(4, "big") + b"\x82\x01\x02\x02\x01"
saying = {
    "nothing": b"", "zeros": bytes(600), "random": os.urandom(600), "http": b"GET / HTTP/1.1\r\nHost: titan\r\n\r\n",
    "http-connect": b"CONNECT a:1 HTTP/1.0\r\n\r\n", "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "smtp": b"EHLO me\r\n", "newlines": b"\r\n\r\n", "help": b"help\n", "frame": frame, "tls-1.3": modern,
    "tls-1.2": first_words(minimum_version=TLS12, maximum_version=TLS12), "tls-any": first_words(), "tls-half": modern[:len(modern) // 2],
    "tls-twice": modern + modern, "tls-then-noise": modern + os.urandom(100), "tls-record-too-long": b"\x16\x03\x01\xff\xff" + bytes(70000),
    "tls-alert": b"\x15\x03\x03\x00\x02\x02\x28", "tls-data": b"\x17\x03\x03\x00\x10" + bytes(16), "sslv2": b"\x80\x2e\x01\x00\x02" + bytes(43),
    "rdp": b"\x03\x00\x00\x13\x0e\xe0\x00\x00\x00\x00\x00\x01\x00\x08\x00\x03\x00\x00\x00", "long": b"A" * 300000,
}


def verdict(answer):
    """Alerts of TLS are records of type 21 with two bytes."""
    at = 0
    while at < len(answer):
        if answer[at] != 21 or answer[at + 1:at + 2] != b"\x03" or answer[at + 3:at + 5] != b"\x00\x02":
            return "TOLD"
        at += 7
    return "alert" if answer else "silent"


def look(name, words):
    answer = b""
    try:
        end = socket.create_connection((host, port), 20)
        end.settimeout(30)
        try:
            end.sendall(words)
        except OSError:
            pass
        while True:
            got = end.recv(65536)
            if not got:
                break
            answer += got
    except socket.timeout:
        tell(name, "NEVER-CLOSED", len(answer))
        return
    except OSError:
        pass
    what = verdict(answer)
    tell(name, what, answer.hex() if what == "TOLD" else len(answer))


looks = [threading.Thread(target=look, args=item) for item in saying.items()]
for each in looks:
    each.start()
for each in looks:
    each.join()
