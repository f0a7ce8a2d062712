"""An https server of the tests: plain pages, an index of Python packages, and git
repositories behind git's own http-backend. Its certificate is from an authority of the
tests, which openssl makes inside a sandbox, so that the host needs no program for it."""
import http.server
import os
import pathlib
import ssl
import subprocess
import threading

HOSTS = "web.example", "index.example", "git.example"
MAKE_KEYS = r"""
exec 2>/dev/null
cd /tmp
new() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "$@"; }
new -x509 -days 9999 -subj '/CN=Authority of the tests' -keyout ca.key -out ca.crt \
    -addext keyUsage=critical,keyCertSign
new -subj /CN=web.example -keyout key -out request
printf 'subjectAltName=%s\n' "$HOSTS" >extensions
openssl x509 -req -in request -CA ca.crt -CAkey ca.key -CAcreateserial -days 9999 \
    -extfile extensions -out crt
for file in ca.crt crt key; do cat $file; echo ===; done
"""


def make_keys(folder):
    """Writes ca.crt, crt and key into a folder."""
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    done = subprocess.run(
        [os.environ["WASM_SANDBOX"], "shell", "-c", f"HOSTS={names}\n{MAKE_KEYS}"],
        capture_output=True, text=True, timeout=200, check=True)
    for name, text in zip(("ca.crt", "crt", "key"), done.stdout.split("===\n")):
        (folder / name).write_text(text)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def answer(self, status, content, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def backend(self, path, query):
        """Runs git http-backend as a web server would."""
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(self.server.repositories),
            "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path.removeprefix("/git"), "QUERY_STRING": query,
            "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "REMOTE_ADDR": "tests"}
        done = subprocess.run(["git", "http-backend"], input=self.body(), env=environment,
                              stdout=subprocess.PIPE, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.answer(int(headers.pop("Status", "200").split()[0]), content, headers.items())

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if path.startswith("/git/"):
            return self.backend(path, query)
        if path in self.server.redirects:
            return self.answer(302, b"", [("Location", self.server.redirects[path])])
        page = self.server.pages.get(path)
        return self.answer(404, b"not found\n") if page is None else self.answer(
            200, page, [("Content-Type", "text/html")] if path.startswith("/simple/") else ())

    do_POST = do_GET


class Server(http.server.ThreadingHTTPServer):
    """`pages` maps paths to contents, `redirects` to other places; `repositories` is the folder behind /git/."""

    def __init__(self, address, keys, repositories):
        super().__init__(address, Handler)
        self.pages, self.redirects, self.repositories = {}, {}, repositories
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / "crt", keys / "key")
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A client that refuses the certificate ends its connection."""

    def add_package(self, name, **files):
        """Adds a project to the index, with the content of its files by their names."""
        links = []
        for file, content in files.items():
            self.pages[f"/files/{file}"] = content
            links.append(f'<a href="/files/{file}">{file}</a>')
        self.pages[f"/simple/{name}/"] = "\n".join(links).encode()

    def add_repository(self, name):
        path = pathlib.Path(self.repositories, name)
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True)
        subprocess.run(["git", "-C", path, "config", "http.receivepack", "true"], check=True)
        return path

    def close(self):
        self.shutdown()
        self.server_close()
