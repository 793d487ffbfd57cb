"""A webhook receiver that uses only the standard library and was written only from `assets/docs/webhooks.md`.

Prints its port, reads the secret from standard input, then prints one line with the result for each delivery.
"""

import hashlib
import hmac
import http.server
import json
import sys


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        event = json.loads(body)
        good = (
            hmac.compare_digest(digest, self.headers["X-Service-Signature"])
            and self.headers["Content-Type"] == "application/json"
            and self.headers["User-Agent"] == "Service-Webhooks/1.0"
            and self.headers["X-Service-Event-Type"] == event["type"]
            and self.headers["X-Service-Event-Id"] == event["id"]
            and event["apiVersion"] == "v1"
            and bool(self.headers["X-Service-Delivery-Id"])
        )
        self.send_response(200 if good else 400)
        self.end_headers()
        print(json.dumps({"good": good, "data": event["data"]}), flush=True)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
secret = sys.stdin.readline().strip()
server.serve_forever()
