"""Imitates the requests that Google Cloud Storage (XML API) and Azure Blob Storage offer for whole objects, as their references describe
them: create if absent, replace, read, list by prefix, delete. Everything is in memory. Azure's signatures are checked.

Arguments: the port, and for Azure the account and its key."""

import base64
import hashlib
import hmac
import sys
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

PAGE = 3  # Small, so that lists have several pages.
objects, lock = {}, Lock()
account, key = (sys.argv[2], base64.b64decode(sys.argv[3])) if len(sys.argv) > 2 else (None, None)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def is_signed(self, path, query):
        """Checks the signature of Azure: https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key"""
        head = {name.lower(): value for name, value in self.headers.items()}
        length = head.get("content-length", "")
        standard = ["content-encoding", "content-language", None, "content-md5", "content-type", "date", "if-modified-since",
                    "if-match", "if-none-match", "if-unmodified-since", "range"]
        lines = [self.command]
        lines += ["" if length == "0" and name is None else length if name is None else head.get(name, "") for name in standard]
        lines += [f"{name}:{head[name].strip()}" for name in sorted(head) if name.startswith("x-ms-")]
        resource = f"/{account}{path}"
        resource += "".join(f"\n{name}:{','.join(sorted(query[name]))}" for name in sorted(query))
        text = "\n".join(lines + [resource])
        wanted = base64.b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode()
        return head.get("authorization") == f"SharedKey {account}:{wanted}"

    def handle_request(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        parts = urlsplit(self.path)
        query = parse_qs(parts.query, keep_blank_values=True)
        if account and not self.is_signed(parts.path, query):
            return self.reply(403, b"<Error><Code>AuthenticationFailed</Code></Error>")
        name = unquote(parts.path.lstrip("/")).partition("/")[2]
        with lock:
            if not name:
                return self.list(query)
            return getattr(self, f"do_object_{self.command.lower()}")(name, body)

    do_GET = do_PUT = do_DELETE = do_HEAD = handle_request

    def described(self, content):
        return [("ETag", f'"{hashlib.md5(content).hexdigest()}"'), ("Last-Modified", formatdate(usegmt=True))]

    def do_object_put(self, name, body):
        is_new = self.headers.get("x-goog-if-generation-match") == "0" or self.headers.get("If-None-Match") == "*"
        if account and self.headers.get("x-ms-blob-type") != "BlockBlob":
            return self.reply(400, b"<Error><Code>MissingRequiredHeader</Code></Error>")
        if is_new and name in objects:
            return self.reply(409 if account else 412, b"<Error><Code>BlobAlreadyExists</Code></Error>")
        objects[name] = body
        return self.reply(201 if account else 200, headers=self.described(body))

    def do_object_get(self, name, _):
        if name not in objects:
            return self.reply(404, b"<Error><Code>NotFound</Code></Error>")
        return self.reply(200, objects[name], self.described(objects[name]))

    do_object_head = do_object_get

    def do_object_delete(self, name, _):
        if objects.pop(name, None) is None:
            return self.reply(404, b"<Error><Code>NotFound</Code></Error>")
        return self.reply(202 if account else 204)

    def list(self, query):
        first = lambda name: (query.get(name) or [""])[0]
        after = first("marker") or first("continuation-token") or first("start-after")
        found = sorted(name for name in objects if name.startswith(first("prefix")) and name > after)
        page, more = found[:PAGE], len(found) > PAGE
        if account:
            blobs = "".join(
                f"<Blob><Name>{escape(name)}</Name><Properties><Last-Modified>{formatdate(usegmt=True)}</Last-Modified><Etag>1</Etag>"
                f"<Content-Length>{len(objects[name])}</Content-Length><Content-Type>x</Content-Type></Properties></Blob>"
                for name in page)
            marker = escape(page[-1]) if more else ""
            text = f"<EnumerationResults><Blobs>{blobs}</Blobs><NextMarker>{marker}</NextMarker></EnumerationResults>"
        else:
            contents = "".join(
                f"<Contents><Key>{escape(name)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>1</ETag>"
                f"<Size>{len(objects[name])}</Size></Contents>" for name in page)
            token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
            text = f"<ListBucketResult>{contents}{token}</ListBucketResult>"
        return self.reply(200, b'<?xml version="1.0" encoding="utf-8"?>' + text.encode())


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
server.serve_forever()
