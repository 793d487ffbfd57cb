"""An agent that requests a key from a user with Authlib, a public OAuth client. It reads the metadata, registers, prints the code that the
user must confirm, polls until the user decides, and prints the result."""

import json
import os
import sys
import time
import urllib.parse

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # The server under test has no TLS, but the URLs in the metadata use https.

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata

base, hint = sys.argv[1], sys.argv[2]


def here(url):
    """Returns the URL with the same path on the server under test."""
    return base + urllib.parse.urlsplit(url).path


found = requests.get(base + "/.well-known/oauth-authorization-server", timeout=120).json()
metadata = AuthorizationServerMetadata(found)
metadata.validate()
grant = next(kind for kind in metadata["grant_types_supported"] if "agent-auth" in kind)

registered = requests.post(
    here(metadata["agent_auth"]["identity_endpoint"]),
    json={"type": "service_auth", "login_hint": hint, "agent_name": "Authlib", "scope": "audience:read email:read"},
    timeout=120,
).json()
print(json.dumps({"code": registered["claim"]["user_code"]}), flush=True)

session = OAuth2Session(client_id="agent", token_endpoint_auth_method="none")
refusals = set()
for _ in range(200):
    try:
        token = session.fetch_token(here(metadata["token_endpoint"]), grant_type=grant, claim_token=registered["claim_token"])
        break
    except OAuthError as error:
        if error.error not in refusals:
            print(json.dumps({"refusal": error.error}), flush=True)
        refusals.add(error.error)
        if error.error != "authorization_pending":
            raise
        time.sleep(0.1)
print(json.dumps({"refusals": sorted(refusals), "token": token}), flush=True)
