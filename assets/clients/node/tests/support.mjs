// What the tests share: a website to import, and a server whose responses the test sets.

import { createServer } from "node:http";

/** Starts a server on loopback; `handle(request, response, body, number)` responds. */
export async function serve(handle) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    requests.push({ method: request.method, url: request.url, headers: request.headers, body: body.toString() });
    handle(request, response, body, requests.length);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    requests,
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts the website of a made-up shop. */
export function shop() {
  return serve((request, response) => {
    response.setHeader("Content-Type", "text/html; charset=utf-8");
    response.end(`<!doctype html><html lang="en"><head><title>Leaf Tea</title>
      <meta name="description" content="Loose leaf tea from small gardens"></head>
      <body><h1>Leaf Tea</h1><p>We sell loose leaf tea from small gardens in Assam and Darjeeling. We pack every order on the same day.</p>
      <footer>Leaf Tea GmbH, Teestr. 1, 20095 Hamburg, Germany</footer></body></html>`);
  });
}

/** Sends an envelope. */
export function answer(response, status, body, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/json", "X-Request-Id": "req_00000000000000000001", ...headers });
  response.end(JSON.stringify(body));
}

export const success = (data, more = {}) => ({ success: true, data, error: null, metadata: {}, ...more });
export const failure = (code, error, data) => ({ success: false, error, code, data, metadata: {} });
