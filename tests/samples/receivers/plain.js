// A webhook receiver, written only from `assets/docs/webhooks.md`, with Node's own modules.
//
// Prints its port, reads the secret from standard input, then prints one line for each delivery: what it made of it.

const crypto = require('node:crypto');
const http = require('node:http');
const readline = require('node:readline');

let secret;

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const digest = crypto.createHmac('sha256', secret).update(body).digest('hex');
    const event = JSON.parse(body.toString('utf8'));
    const headers = request.headers;
    const good =
      digest === headers['x-service-signature'] &&
      headers['content-type'] === 'application/json' &&
      headers['user-agent'] === 'Service-Webhooks/1.0' &&
      headers['x-service-event-type'] === event.type &&
      headers['x-service-event-id'] === event.id &&
      event.apiVersion === 'v1' &&
      Boolean(headers['x-service-delivery-id']);
    response.writeHead(good ? 200 : 400).end();
    console.log(JSON.stringify({ good, data: event.data }));
  });
});

readline.createInterface({ input: process.stdin }).once('line', (line) => {
  secret = line.trim();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
