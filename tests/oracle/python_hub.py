"""A hub on loopback in plain Python, for the scripts of this folder and of tests/bench: the hub itself, the store that its signed addresses lead to, and plain files of a server (/web/...). It counts every byte that it sends and
fails as it is told. It shares no code with Furrow, nor with the hub of tests/fakes.
"""
import hashlib
import http.server
import json
import random
import threading
import time
import urllib.parse

PAGE = 3  # entries of one page of the list
FAULTS = ["429", "500", "503", "cut", "stall", "wrong", "whole", "other", "short", "expired", "refuse"]
API_FAULTS = ["429", "500", "503", "refuse"]
PIECE = 1 << 14


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def git_name(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        """A client that was killed is no news."""


class Hub:
    """One repository, o/n. Thread-safe: what changes is set as a whole."""

    def __init__(self, files, seed=0, one_in=0, faults=(), bytes_per_second=0, digests=True):
        """@param files {path: bytes}  @param one_in  so many requests meet one fault; 0: none does  @param digests  plain files come with their SHA-256"""
        self.commits = {"a" * 40: files}
        self.head = "a" * 40
        self.random, self.one_in, self.faults, self.bytes_per_second, self.digests = random.Random(seed), one_in, list(faults), bytes_per_second, digests
        self.away = False
        self.sent = 0  # bytes of bodies that went out
        self.spoiled = []  # (kind, path, bytes that the answer asked for had), of every fault that was met
        self.lock = threading.Lock()
        self.servers = [Server(("127.0.0.1", 0), type("Bound", (Answer,), {"hub": self})) for _ in range(2)]  # the hub and its store: other hosts to their clients
        for server in self.servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.endpoint, self.store = [f"http://127.0.0.1:{server.server_port}" for server in self.servers]

    def move(self, files):
        """The branch goes on to another commit; the one before stays."""
        self.commits = self.commits | {"b" * 40: files}
        self.head = "b" * 40

    def fault(self, kinds):
        with self.lock:
            possible = [kind for kind in self.faults if kind in kinds]
            return self.random.choice(possible) if self.one_in and possible and self.random.randrange(self.one_in) == 0 else None

    def count(self, n):
        with self.lock:
            self.sent += n

    def met(self, kind, path, size):
        with self.lock:
            self.spoiled.append((kind, path, size))

    def stop(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        try:
            self.answer()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        parts = [urllib.parse.unquote(part) for part in url.path.split("/")[1:]]
        query = dict(urllib.parse.parse_qsl(url.query))
        if self.hub.away:
            return self.refuse(503)
        if parts[0] == "store":
            return self.store(query["commit"], "/".join(parts[1:]))
        if parts[0] == "web":
            return self.web("/".join(parts[1:]))
        if kind := self.hub.fault(API_FAULTS):
            self.hub.met(kind, "api", 0)
            return self.broken(kind)
        if parts[:4] == ["api", "datasets", "o", "n"]:
            return self.about(parts[4] if len(parts) > 4 else "revision", parts[5] if len(parts) > 5 else "main", "/".join(parts[6:]), int(query.get("cursor", 0)))
        if parts[:4] == ["datasets", "o", "n", "resolve"]:
            return self.resolve(parts[4], "/".join(parts[5:]))
        return self.refuse(404)

    def about(self, question, commit, folder, page):
        if question == "revision":
            known = {"main": self.hub.head} | {each: each for each in self.hub.commits}
            return self.json({"sha": known[commit], "id": "o/n"}) if commit in known else self.refuse(404)
        return self.tree(commit, folder, page) if question == "tree" else self.refuse(404)

    def json(self, value, headers=()):
        self.whole(200, json.dumps(value).encode(), [("Content-Type", "application/json"), *headers])

    def refuse(self, status, headers=()):
        self.whole(status, b"", headers)

    def whole(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def broken(self, kind):
        """An answer without a file."""
        if kind == "refuse":
            self.close_connection = True
            return None
        waits = {"429": [("RateLimit", '"resolvers";r=0;t=1')], "503": [("Retry-After", "1")]}
        return self.refuse({"429": 429, "500": 500, "503": 503, "expired": 403}[kind], waits.get(kind, []))

    def files(self, commit):
        return self.hub.commits.get(self.hub.head if commit == "main" else commit)

    def tree(self, commit, folder, page):
        files = self.files(commit)
        if files is None:
            return self.refuse(404)
        names = sorted(name for name in files if name.startswith(folder))
        entries = [{"type": "file", "path": name, "size": len(files[name]), "oid": git_name(files[name]), "lfs": {"oid": sha256(files[name]), "size": len(files[name]), "pointerSize": 130}} for name in names[page * PAGE:(page + 1) * PAGE]]
        more = (page + 1) * PAGE < len(names)
        return self.json(entries, [("Link", f'<{self.hub.endpoint}/api/datasets/o/n/tree/{commit}?recursive=true&cursor={page + 1}>; rel="next"')] if more else [])

    def resolve(self, commit, path):
        files = self.files(commit)
        if files is None or path not in files:
            return self.refuse(404, [("X-Error-Code", "EntryNotFound")])
        data = files[path]
        commit = self.hub.head if commit == "main" else commit
        return self.refuse(302, [("X-Repo-Commit", commit), ("X-Linked-Etag", f'"{sha256(data)}"'), ("X-Linked-Size", str(len(data))),
                                 ("Location", f"{self.hub.store}/store/{urllib.parse.quote(path)}?commit={commit}&X-Amz-Signature=SIGNED")])

    def store(self, commit, path):
        data = self.hub.commits[commit][path]
        self.part(path, data, [("ETag", f'"{sha256(data)}"')])

    def web(self, path):
        data = self.hub.commits["a" * 40].get(path)  # a server of files has no revisions
        if data is None:
            return self.refuse(404)
        digest = [("Repr-Digest", f"sha-256=:{__import__('base64').b64encode(hashlib.sha256(data).digest()).decode()}:")] if self.hub.digests else []
        return self.part(path, data, [("ETag", f'"{git_name(data)}"'), *digest])

    def part(self, path, data, headers):
        """All of the file or the range that was asked for, with or without what goes wrong."""
        begin, end = self.asked(len(data))
        if begin >= len(data) > 0:
            return self.refuse(416)
        kind = self.hub.fault(FAULTS)
        if kind:
            self.hub.met(kind, path, end - begin)
        if kind in ("429", "500", "503", "expired", "refuse"):
            return self.broken(kind)
        is_part = "Range" in self.headers and kind != "whole"
        if not is_part:
            begin, end = 0, len(data)
        body = data[begin:end]
        if kind == "wrong" and body:
            at = self.hub.random.randrange(len(body))
            body = body[:at] + bytes([body[at] ^ 1 << self.hub.random.randrange(8)]) + body[at + 1:]
        shown = begin + 1 if kind == "other" else begin
        self.send_response(206 if is_part else 200)
        for name, value in headers:
            self.send_header(name, value)
        if is_part:
            self.send_header("Content-Range", f"bytes {shown}-{end - 1 + shown - begin}/{len(data)}")
        self.send_header("Accept-Ranges", "bytes")
        if kind == "short":
            body = body[:len(body) // 2]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.send_slowly(body[:len(body) // 2] if kind == "cut" else body, kind)
        self.close_connection = self.close_connection or kind == "cut"

    def asked(self, size):
        text = self.headers.get("Range", "")
        if not text.startswith("bytes="):
            return 0, size
        first, last = text[6:].split("-")
        if first == "":
            return max(0, size - int(last)), size
        return int(first), min(size, int(last) + 1) if last else size

    def send_slowly(self, body, kind):
        for at in range(0, len(body), PIECE):
            piece = body[at:at + PIECE]
            if self.hub.bytes_per_second:
                time.sleep(len(piece) / self.hub.bytes_per_second)
            if kind == "stall" and at <= len(body) // 2 < at + PIECE:
                time.sleep(1.5)
            self.wfile.write(piece)
            self.hub.count(len(piece))
