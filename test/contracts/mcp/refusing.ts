/** Checks that a server cannot misuse a client. */

import { assert, assertEqual } from '../assert.ts';
import {
  connect,
  echoing,
  failureOf,
  list,
  type McpConnectorCheck,
  reasonOf,
  secret,
  server,
  serverUrl,
} from './check.ts';
import {
  type Answer,
  createPeer,
  echo,
  event,
  events,
  failure,
  listFields,
  result,
  serverText,
  unsupported,
} from './peer.ts';

const bait = 'https://collector.example.net/';
const refuses: Answer = () =>
  new Response(serverText, {
    status: 401,
    headers: { 'www-authenticate': `Bearer resource_metadata="${bait}meta", error="${serverText}"` },
  });
const redirects: Answer = () => new Response(serverText, { status: 307, headers: { location: bait } });
const hello: Answer = () => new Response(serverText, { headers: { 'content-type': 'text/html' } });

export const refusingChecks: readonly McpConnectorCheck[] = [
  {
    name: "sends requests only to the server's own URL, with the secret",
    async run(subject) {
      const { peer, connection } = await connect(subject);
      await list(connection);
      await connection.callTool(echoing('Hi'));
      await connection.close();
      assertEqual([...new Set(peer.received.map(({ request }) => request.url))], [serverUrl]);
      const credentials = peer.received.map(({ request }) => request.headers.get('authorization'));
      assertEqual([...new Set(credentials)], [`Bearer ${secret.reveal()}`]);
    },
  },
  {
    name: 'sends no credentials without a secret',
    async run({ era, open }) {
      const peer = createPeer(era);
      const connector = await open(peer.handle);
      const { signal } = new AbortController();
      await (await connector.connect(server, { secret: undefined, signal })).close();
      assertEqual(peer.received.some(({ request }) => request.headers.has('authorization')), false);
    },
  },
  {
    name: 'tries no other URL when the server rejects the secret',
    async run({ era, open }) {
      const peer = createPeer(era, { 'initialize': refuses, 'server/discover': refuses });
      const connector = await open(peer.handle);
      const { signal } = new AbortController();
      const error = await failureOf(() => connector.connect(server, { secret, signal }));
      assertEqual([error.code, error.details?.['reason'], error.retryable], ['unavailable', 'mcp_auth', false]);
      assertEqual([...new Set(peer.received.map(({ request }) => request.url))], [serverUrl]);
    },
  },
  {
    name: 'follows no redirect',
    async run(subject) {
      const { peer, connection } = await connect(subject, { 'tools/call': redirects, 'tools/list': redirects });
      assertEqual((await failureOf(() => connection.callTool(echoing('Hi')))).code, 'forbidden');
      assertEqual((await failureOf(() => list(connection))).code, 'forbidden');
      await connection.close();
      assertEqual([...new Set(peer.received.map(({ request }) => request.url))], [serverUrl]);
    },
  },
  {
    name: 'reports an unsupported protocol when the two share no revision',
    async run({ era, open }) {
      const odd: Answer = (message) => unsupported(message, ['2031-01-01']);
      const connector = await open(createPeer(era, { 'initialize': odd, 'server/discover': odd }).handle);
      const { signal } = new AbortController();
      const reason = await reasonOf(() => connector.connect(server, { secret, signal }));
      assertEqual(reason, 'unavailable: protocol_unsupported');
    },
  },
  {
    name: 'reports a method that the server does not know as not found, and refused parameters as invalid input',
    async run(subject) {
      for (
        const [code, reason] of [
          [-32_601, 'not_found: mcp_unknown_tool'],
          [-32_602, 'invalid_argument: mcp_invalid_input'],
        ] as const
      ) {
        const { connection } = await connect(subject, { 'tools/call': (message) => failure(message, code) });
        assertEqual(await reasonOf(() => connection.callTool(echoing('Hi'))), reason);
        await connection.close();
      }
    },
  },
  {
    name: 'reports the status of a refusal, whatever its body is',
    async run(subject) {
      const bodies: HeadersInit[] = [{}, { 'content-type': 'image/png' }, {
        'content-type': 'application/octet-stream',
      }];
      for (const status of [400, 405, 410, 415, 422, 500, 502, 504]) {
        for (const headers of bodies) {
          const refusal = () => new Response(new Blob([serverText]).stream(), { status, headers });
          const { connection } = await connect(subject, { 'tools/call': refusal });
          const { details, retryable } = await failureOf(() => connection.callTool(echoing('Hi')));
          const reason = status >= 500 ? 'mcp_failed' : 'mcp_refused';
          assertEqual([details, retryable], [{ reason, status }, status >= 500]);
          await connection.close();
        }
      }
    },
  },
  {
    name: 'takes any answer to a notification, with a body and without',
    async run(subject) {
      const empty = (): ReadableStream => new Blob([]).stream();
      for (
        const [status, body] of [[200, empty()], [202, empty()], [202, 'Accepted'], [204, null], [200, null]] as const
      ) {
        const taken = () => new Response(body, { status });
        const { connection } = await connect(subject, { 'notifications/initialized': taken });
        assertEqual((await list(connection)).length, 1);
        await connection.close();
      }
    },
  },
  {
    name: 'includes no text of the server in an error',
    async run(subject) {
      const answers: readonly Answer[] = [
        (message) => failure(message, -32_603),
        (message) => failure(message, -32_602, { status: 400 }),
        () => new Response(serverText, { status: 500 }),
        () => new Response(serverText, { status: 400 }),
        () => new Response(serverText, { status: 429, headers: { 'retry-after': '3' } }),
        () => new Response(serverText, { headers: { 'content-type': 'application/json' } }),
        (message) => result(message, { resultType: serverText }),
        refuses,
        hello,
      ];
      for (const answer of answers) {
        const { connection } = await connect(subject, { 'tools/call': answer });
        const error = await failureOf(() => connection.callTool(echoing('Hi')));
        const texts = [error.message, String(error.stack), JSON.stringify(error.details), String(error.cause)];
        assert(!texts.join().includes(serverText), `An error repeats the server: ${error.code}`);
        assert(error.code !== 'internal', 'An error of the server is taken for one of ours');
        await connection.close();
      }
    },
  },
  {
    name: 'rejects an answer that is too long, as JSON and as events',
    async run(subject) {
      for (const [type, text] of [['application/json', ' '], ['text/event-stream', 'data: x\n']] as const) {
        const { connection } = await connect(subject, { 'tools/call': () => endless(type, text) });
        assertEqual((await failureOf(() => connection.callTool(echoing('Hi')))).code, 'budget_exceeded');
        await connection.close();
      }
    },
  },
  {
    name: 'reads a list whose pages lead in a circle once, and rejects an endless one',
    async run(subject) {
      let page = 0;
      const listing = (cursor: () => string): Answer => (message) =>
        result(message, { ...listFields, tools: [echo], nextCursor: cursor() });
      const next = ['b', 'c', 'a', 'b'];
      const circle = await connect(subject, { 'tools/list': listing(() => next.shift() ?? '') });
      assertEqual(await list(circle.connection), [echo]);
      assertEqual(circle.peer.of('tools/list').length, 4);
      const spiral = await connect(subject, { 'tools/list': listing(() => `page ${++page}`) });
      assertEqual((await failureOf(() => list(spiral.connection))).code, 'budget_exceeded');
      assert(spiral.peer.of('tools/list').length < 1000, 'The list is read for ever');
      await Promise.all([circle.connection.close(), spiral.connection.close()]);
    },
  },
  {
    name: 'rejects answers that are malformed, that break off, or that belong to another request',
    async run(subject) {
      const other = event({ id: 'other', result: { content: [] } });
      const answers: readonly Answer[] = [
        () => events([]),
        () => events(['data: {"jsonrpc":\n\n']),
        () => events([': nothing but comments\n\n', other]),
        () => broken(),
        () => new Response(null, { status: 202 }),
        () => Response.json({ jsonrpc: '2.0', id: 'other', result: {} }),
        () => Response.json([]),
        hello,
      ];
      for (const answer of answers) {
        const { connection } = await connect(subject, { 'tools/call': answer });
        assertEqual((await failureOf(() => connection.callTool(echoing('Hi')))).code, 'unavailable');
        await connection.close();
      }
    },
  },
];

type Bytes = Uint8Array<ArrayBuffer>;

function endless(type: string, text: string): Response {
  const chunk = new TextEncoder().encode(text.repeat(65_536 / text.length));
  const body = new ReadableStream<Bytes>({ pull: (controller) => controller.enqueue(chunk.slice()) });
  return new Response(body, { headers: { 'content-type': type } });
}

function broken(): Response {
  const body = new ReadableStream<Bytes>({ pull: (controller) => controller.error(new Error(serverText)) });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
