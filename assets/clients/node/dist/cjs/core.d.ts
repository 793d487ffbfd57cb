/** The settings of a client. */
export interface ClientOptions {
 /** The API key; `MAILMILL_KEY` of the environment if absent. */
 apiKey?: string | undefined;
 /** The address of the server, such as `https://mail.example.com`, with or without `/v1`; `MAILMILL_URL` of the environment if absent. */
 baseUrl?: string | undefined;
 /** The milliseconds that an attempt may take, until the end of the response; 60,000 if absent, and 600,000 for uploads. */
 timeout?: number | undefined;
 /** How often a failed request is retried; 2 if absent. */
 maxRetries?: number | undefined;
 /** Headers for every request. */
 headers?: Record<string, string> | undefined;
 /** The function that makes requests, for example with a proxy; the global `fetch` if absent. */
 fetch?: typeof fetch | undefined;
}
/** Details of a successful response. */
export interface ResponseInfo {
 status: number;
 headers: Headers;
 /** The ID of the request in the server's log. */
 requestId: string | undefined;
 /** Whether the server repeated the response to an earlier request with the same idempotency key. */
 replayed: boolean;
 /** The idempotency key that was sent. */
 idempotencyKey: string | undefined;
}
/** The settings of one call. */
export interface CallOptions {
 /**
  * Identifies the operation: a repeat within 24 hours returns the first response. By default, each call of an operation that supports a key
  * gets a random one, which its retries share. Choose a key, such as `welcome-${contact.id}`, so that a repeat by your own program is safe,
  * too. A key has 1 to 100 ASCII characters.
  */
 idempotencyKey?: string | undefined;
 /** Cancels the call, which then throws the signal's reason. */
 signal?: AbortSignal | undefined;
 /** The milliseconds that an attempt may take, until the end of the response. */
 timeout?: number | undefined;
 /** How often a failed request is retried. */
 maxRetries?: number | undefined;
 /** More headers. */
 headers?: Record<string, string> | undefined;
 /** Receives details of the successful response. */
 onResponse?: ((response: ResponseInfo) => void) | undefined;
}
/** The settings of a call that waits for a job. */
export interface WaitOptions<Status> extends CallOptions {
 /** Receives each status that the job reports. */
 onProgress?: ((status: Status) => void) | undefined;
 /** The milliseconds between two requests for the status; 2,000 if absent. */
 pollInterval?: number | undefined;
 /** The milliseconds that the job may take; 600,000 if absent. The job continues on the server after that. */
 waitTimeout?: number | undefined;
}
/** Sends requests. {@link Mailmill} adds the operations. */
export declare class Client {
 #private;
 /** The address of the API, which ends with `/v1`. */
 readonly baseUrl: string;
 /**
  * @example
  * ```ts
  * const mailmill = new Mailmill({ apiKey: "sk_test_…", baseUrl: "https://mail.example.com" });
  * ```
  */
 constructor(options?: ClientOptions);
 /** Returns what `JSON.stringify` shows of a client, for example in a log: the address without the key. */
 toJSON(): {
  baseUrl: string;
 };
}
/** The base of the resources. */
export declare class Resource<Root extends Client> {
 #private;
}
