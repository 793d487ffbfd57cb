// Runs the server scenarios of the protocol's conformance suite against the MCP server, and exits with the suite's exit code.
// Usage: node conformance.cjs <folder with node_modules> <base URL> <key>
//
// The suite cannot send an API key, so a proxy in front of the server adds it. The proxy also replaces its own origin with the server's,
// like every proxy that changes the address of the pages.
const { spawn } = require('node:child_process');
const http = require('node:http');
const path = require('node:path');

const [tools, base, key] = process.argv.slice(2);
const suite = path.join(tools, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const baseline = path.join(__dirname, 'conformance.yml');

const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${key}` };
  if (headers.origin === `http://127.0.0.1:${proxy.address().port}`) headers.origin = base;
  const onward = http.request(base + request.url, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});

proxy.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${proxy.address().port}/mcp`;
  const run = spawn(process.execPath, [suite, 'server', '--url', url, '--expected-failures', baseline], { stdio: 'inherit' });
  run.on('exit', (code) => process.exit(code ?? 1));
});
