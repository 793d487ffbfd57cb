"""Loads every module of a client that openapi-generator has written, and creates a contact twice with one idempotency key. Prints the IDs of
both responses. Usage: python generated.py FOLDER"""

import importlib
import json
import os
import pkgutil
import sys

sys.path.insert(0, sys.argv[1])
import mailmill_api

for module in pkgutil.walk_packages(mailmill_api.__path__, "mailmill_api."):
    importlib.import_module(module.name)

configuration = mailmill_api.Configuration(host=os.environ["MAILMILL_URL"], access_token=os.environ["MAILMILL_KEY"])
with mailmill_api.ApiClient(configuration) as client:
    contacts = mailmill_api.ContactsApi(client)
    ada = mailmill_api.ContactsCreateRequest(project_id=os.environ["PROJECT"], email="ada@example.com", first_name="Ada")
    ids = [contacts.contacts_create(ada, idempotency_key="generated-ada").data.id for _ in range(2)]
print(json.dumps(ids))
