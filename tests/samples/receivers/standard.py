"""A webhook receiver that verifies signatures with the public Standard Webhooks library.

Prints its port, reads the secret from standard input, then prints one line with the library's result for each delivery.
"""

import http.server
import json
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            Webhook(secret).verify(body, {name.lower(): value for name, value in self.headers.items()})
            good = True
        except WebhookVerificationError:
            good = False
        self.send_response(200 if good else 400)
        self.end_headers()
        print(json.dumps({"good": good, "data": json.loads(body)["data"]}), flush=True)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
secret = sys.stdin.readline().strip()
server.serve_forever()
