"""A name server of the tests. `answers` maps a name to a list of addresses, to a name
(CNAME), or to None (NXDOMAIN); a function is called for each question. It records the
questions that arrive."""
import socket
import struct
import threading

A, CNAME, AAAA = 1, 5, 28


def encode(name):
    return b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0"


def question_of(packet):
    labels, at = [], 12
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode())
        at += 1 + packet[at]
    kind = struct.unpack("!H", packet[at + 1:at + 3])[0]
    return ".".join(labels).lower(), kind, packet[12:at + 5]


class NameServer:
    def __init__(self, answers, address="192.0.2.53"):
        self.answers, self.asked = answers, []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def records(self, name, kind):
        """Resource records for a question, or None: no such name."""
        found, out = self.answers.get(name), []
        if callable(found):
            found = found()
        while isinstance(found, str):
            out.append((name, CNAME, encode(found)))
            name, found = found, self.answers.get(found)
        if found is None:
            return None
        for address in found:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            if (family == socket.AF_INET6) == (kind == AAAA):
                out.append((name, kind, socket.inet_pton(family, address)))
        return out

    def serve(self):
        while True:
            packet, sender = self.socket.recvfrom(4096)
            if not packet:  # from close
                return
            name, kind, question = question_of(packet)
            self.asked.append(name)
            found = self.records(name, kind)
            body = b"".join(
                encode(n) + struct.pack("!HHIH", k, 1, 1, len(data)) + data
                for n, k, data in found or [])
            head = packet[:2] + struct.pack(
                "!HHHHH", 0x8180 | (3 if found is None else 0), 1, len(found or []), 0, 0)
            self.socket.sendto(head + question + body, sender)

    def close(self):
        self.socket.sendto(b"", self.socket.getsockname())
        self.thread.join()
        self.socket.close()
