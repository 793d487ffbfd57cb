/** The version of this package, which is the version of the server that it is made for. */
export declare const VERSION = "0.1.0";
