# Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.

VERSION = "0.1.0"
