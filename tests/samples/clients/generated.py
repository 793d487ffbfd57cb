"""Creates a contact twice with one idempotency key, with the client that openapi-python-client has written. Prints the IDs of both
responses."""

import json
import os

from generated import AuthenticatedClient
from generated.api.contacts import contacts_create
from generated.models import ContactsCreateBody, ContactsCreateResponse201

client = AuthenticatedClient(base_url=os.environ["MAILMILL_URL"], token=os.environ["MAILMILL_KEY"])
ada = ContactsCreateBody(project_id=os.environ["PROJECT"], email="ada@example.com", first_name="Ada")
ids = []
for _ in range(2):
    created = contacts_create.sync(client=client, body=ada, idempotency_key="generated-ada")
    assert isinstance(created, ContactsCreateResponse201), created
    ids.append(created.data.id)
print(json.dumps(ids))
