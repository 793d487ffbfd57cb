// Written by assets/clients/generator from the OpenAPI document. Change the operation's declaration instead.

/** The version of this package, which is the version of the server that it is made for. */
export const VERSION = "0.1.0";
