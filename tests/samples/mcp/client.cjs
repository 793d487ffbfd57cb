// Runs one scenario against the MCP server with the official TypeScript SDK of the protocol, and prints the results as one line of JSON.
// Usage: TOOLS=<folder with node_modules> node client.cjs <scenario> <base URL> <key> <JSON with further input>
const { createRequire } = require('node:module');
const readline = require('node:readline');

const load = createRequire(`${process.env.TOOLS}/`);
const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
const { ElicitRequestSchema } = load('@modelcontextprotocol/sdk/types.js');

const [scenario, base, key, more] = process.argv.slice(2);
const input = JSON.parse(more || '{}');
const info = { name: 'test', version: '1.0.0' };

function overHttp() {
  return new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${key}` } } });
}

function overStdio() {
  const env = { PATH: process.env.PATH, MAILMILL_URL: base, MAILMILL_KEY: key };
  return new StdioClientTransport({ command: input.program, args: ['mcp'], env, stderr: 'inherit' });
}

async function connected(transport, capabilities = {}) {
  const client = new Client(info, { capabilities });
  await client.connect(transport);
  // The SDK checks results against the output schemas of the tools that it has listed.
  client.listed = (await client.listTools()).tools;
  return client;
}

async function call(client, name, args, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
}

// The main workflow, as an agent would do it. A second run finds or repeats everything that the first one made.
async function workflow(client) {
  const { projectId } = input;
  const progress = [];
  const capabilities = await call(client, 'get_capabilities', {});
  const contact = await call(client, 'contacts_create', {
    projectId, email: 'reader@example.com', firstName: 'Ada', idempotency_key: 'workflow-contact',
  });
  let emails = (await call(client, 'emails_list', { projectId })).data.emails;
  if (emails.length === 0) {
    const generated = await call(client, 'emails_generate', { projectId, prompt: 'Winter teas, 10% off with the code TEA10', wait: true }, {
      onprogress: (notice) => progress.push(notice.progress), timeout: 120000, resetTimeoutOnProgress: true,
    });
    if (generated.finalStatus.status !== 'completed') throw new Error(JSON.stringify(generated));
    emails = (await call(client, 'emails_list', { projectId })).data.emails;
  }
  const generation = (await call(client, 'emails_status', { conversationId: emails[0].conversationId })).data;
  const emailId = generation.result.emails[0].emailId;
  const email = (await call(client, 'emails_get', { emailId })).data;
  let campaigns = (await call(client, 'campaigns_list', { projectId })).data.campaigns;
  if (campaigns.length === 0) {
    await call(client, 'campaigns_create', {
      projectId, name: 'Winter teas', conversationId: email.conversationId, from: 'news@acme.example', fromName: 'Acme',
      recipientType: 'audience',
    });
    campaigns = (await call(client, 'campaigns_list', { projectId })).data.campaigns;
  }
  const id = campaigns[0].id;
  const dryRun = (await call(client, 'campaigns_dry_run', { id })).data;
  const unconfirmed = await client.callTool({ name: 'campaigns_send', arguments: { id, idempotency_key: id } });
  const sent = await call(client, 'campaigns_send', { id, idempotency_key: id, confirm: true });
  const stats = (await call(client, 'campaigns_stats', { id })).data;
  return {
    environment: capabilities.data.environment, contact: contact.data.id, contactReplayed: contact.replayed === true, progress, emailId,
    campaign: id, campaigns: campaigns.length, emails: emails.length, recipients: dryRun.recipients, unconfirmed: unconfirmed.content[0].text,
    sentReplayed: sent.replayed === true, stats,
  };
}

async function resources(client) {
  const { emailId, campaign, projectId } = input;
  const read = async (uri) => (await client.readResource({ uri })).contents[0];
  const image = await read(`mailmill://emails/${emailId}/image`);
  const [, notice] = (await client.readResource({ uri: `mailmill://brands/${projectId}` })).contents;
  return {
    notice: notice.text, listed: (await client.listResources()).resources.map((one) => one.uri),
    templates: (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
    brand: (await read(`mailmill://brands/${projectId}`)).text,
    html: (await read(`mailmill://emails/${emailId}/html`)).text,
    image: { mimeType: image.mimeType, start: image.blob.slice(0, 8) },
    report: (await read(`mailmill://campaigns/${campaign}/report`)).text,
    unknown: await read('mailmill://emails/0123456789abcdef01234567/html').catch((error) => error.code),
    foreign: await read('file:///etc/passwd').catch((error) => error.code),
    prompts: (await client.listPrompts()).prompts.map((one) => one.name),
    prompt: (await client.getPrompt({ name: 'import_brand_and_generate', arguments: { website: 'https://a.example', email: 'x' } })).messages,
  };
}

const scenarios = {
  async list() {
    const client = await connected(overHttp());
    const started = performance.now();
    for (let count = 0; count < 100; count += 1) await call(client, 'projects_list', {});
    const capabilities = await client.callTool({ name: 'get_capabilities', arguments: {} });
    return { tools: client.listed, capabilities, milliseconds: (performance.now() - started) / 100, instructions: client.getInstructions() };
  },
  async workflow() {
    return workflow(await connected(overHttp()));
  },
  async resources() {
    return resources(await connected(overHttp()));
  },
  // The user answers the confirmation request with `input.answer`.
  async elicitation() {
    const client = new Client(info, { capabilities: { elicitation: {} } });
    const questions = [];
    let form;
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
      if (input.fails) throw new Error('no dialog');
      questions.push(request.params.message);
      form = request.params.requestedSchema;
      return input.answer;
    });
    await client.connect(input.program ? overStdio() : overHttp());
    const result = await client.callTool({ name: input.tool, arguments: { ...input.arguments, confirm: true } });
    return { questions, form, isError: result.isError === true, text: result.content[0].text };
  },
  // Cancels a waiting call when its first progress arrives.
  async cancellation() {
    const client = await connected(overHttp());
    const stop = new AbortController();
    const prompt = 'Newsletter about winter teas';
    const waiting = client.callTool({ name: 'emails_generate', arguments: { projectId: input.projectId, prompt, count: 5, wait: true } }, undefined, {
      signal: stop.signal, onprogress: () => stop.abort('enough'), timeout: 60000,
    });
    const outcome = await waiting.then(() => 'finished', (error) => String(error.message || error));
    const after = await call(client, 'projects_list', {});
    return { outcome, usable: Array.isArray(after.data.projects) };
  },
  async call() {
    const client = await connected(overHttp());
    const results = [];
    for (const [name, args] of input.calls) results.push(await client.callTool({ name, arguments: args }));
    return { results };
  },
  async stdio() {
    const client = await connected(overStdio());
    const result = await workflow(client);
    const waited = [];
    await call(client, 'emails_generate', { projectId: input.projectId, prompt: 'Spring teas', wait: true }, {
      onprogress: (notice) => waited.push(notice.progress), timeout: 120000, resetTimeoutOnProgress: true,
    });
    await client.close();
    return { tools: client.listed.length, waited, ...result };
  },
  // The stateless protocol of 2026, with the newer SDK: without a session, and the question is part of a result.
  async modern() {
    const sdk = load('@modelcontextprotocol/client');
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    const transport = new sdk.StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit });
    const client = new sdk.Client(info, { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } });
    const questions = [];
    let form;
    client.setRequestHandler('elicitation/create', async (request) => {
      questions.push(request.params.message);
      form = request.params.requestedSchema;
      return input.answer;
    });
    await client.connect(transport);
    const { tools } = await client.listTools();
    const result = await client.callTool({ name: input.tool, arguments: input.arguments });
    return {
      version: client.getNegotiatedProtocolVersion(), session: transport.sessionId ?? null, tools: tools.length, questions, form,
      isError: result.isError === true, text: result.content[0].text,
    };
  },
  // Connects like a program that knows only the URL: discovery, registration, consent, tokens. The test acts as the browser.
  async oauth() {
    const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const kept = {};
    const provider = {
      redirectUrl: 'http://127.0.0.1:51999/callback',
      clientMetadata: {
        client_name: 'SDK test', redirect_uris: ['http://127.0.0.1:51999/callback'], grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'], token_endpoint_auth_method: 'none',
      },
      clientInformation: () => kept.client,
      saveClientInformation: (client) => { kept.client = client; },
      tokens: () => kept.tokens,
      saveTokens: (tokens) => { kept.tokens = tokens; },
      redirectToAuthorization: (url) => { console.log(JSON.stringify({ authorize: url.toString() })); },
      saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
      codeVerifier: () => kept.verifier,
      state: () => 'the state',
    };
    const address = new URL(`${base}/mcp`);
    const transport = new StreamableHTTPClientTransport(address, { authProvider: provider });
    const first = await new Client(info).connect(transport).then(() => 'connected', (error) => error.constructor.name);
    const code = new URL((await lines.next()).value).searchParams.get('code');
    await transport.finishAuth(code);
    const tokens = { ...kept.tokens };
    const client = await connected(new StreamableHTTPClientTransport(address, { authProvider: provider }));
    // An access token that no longer works is replaced with the refresh token.
    kept.tokens = { ...kept.tokens, access_token: 'mm_at_expired' };
    const again = await connected(new StreamableHTTPClientTransport(address, { authProvider: provider }));
    return {
      first, client: kept.client, tokens, renewed: kept.tokens, tools: client.listed.length, toolsAgain: again.listed.length,
      brands: (await call(again, 'projects_list', {})).data.projects.length,
    };
  },
};

scenarios[scenario]().then((result) => {
  // The process may end only after everything is written.
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, (error) => {
  console.error(error);
  process.exit(1);
});
