/** Laws of what a server cannot make of a client. */

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

/** The checks. */
export const refusingChecks: readonly McpConnectorCheck[] = [
  {
    name: "asks only the server's own URL, with the secret",
    async run(subject) {
      const { peer, connection } = await connect(subject);
      await list(connection);
      await connection.callTool(echoing('Hi'));
      await connection.close();
      assertEqual([...new Set(peer.seen.map(({ request }) => request.url))], [serverUrl]);
      const credentials = peer.seen.map(({ request }) => request.headers.get('authorization'));
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
      assertEqual(peer.seen.some(({ request }) => request.headers.has('authorization')), false);
    },
  },
  {
    name: 'looks for no other place where the server refuses the secret',
    async run({ era, open }) {
      const peer = createPeer(era, { 'initialize': refuses, 'server/discover': refuses });
      const connector = await open(peer.handle);
      const { signal } = new AbortController();
      const error = await failureOf(() => connector.connect(server, { secret, signal }));
      assertEqual([error.code, error.details?.['reason'], error.retryable], ['unavailable', 'mcp_auth', false]);
      assertEqual([...new Set(peer.seen.map(({ request }) => request.url))], [serverUrl]);
    },
  },
  {
    name: 'follows no redirect',
    async run(subject) {
      const { peer, connection } = await connect(subject, { 'tools/call': redirects, 'tools/list': redirects });
      assertEqual((await failureOf(() => connection.callTool(echoing('Hi')))).code, 'forbidden');
      assertEqual((await failureOf(() => list(connection))).code, 'forbidden');
      await connection.close();
      assertEqual([...new Set(peer.seen.map(({ request }) => request.url))], [serverUrl]);
    },
  },
  {
    name: 'says that the protocol is unsupported where no revision is known to both',
    async run({ era, open }) {
      const odd: Answer = (asked) => unsupported(asked, ['2031-01-01']);
      const connector = await open(createPeer(era, { 'initialize': odd, 'server/discover': odd }).handle);
      const { signal } = new AbortController();
      const reason = await reasonOf(() => connector.connect(server, { secret, signal }));
      assertEqual(reason, 'unavailable: protocol_unsupported');
    },
  },
  {
    name: 'says that a tool is not found where the server does not know it',
    async run(subject) {
      for (const code of [-32_602, -32_601]) {
        const { connection } = await connect(subject, { 'tools/call': (asked) => failure(asked, code) });
        assertEqual((await failureOf(() => connection.callTool(echoing('Hi')))).code, 'not_found');
        await connection.close();
      }
    },
  },
  {
    name: 'repeats no text of the server in an error',
    async run(subject) {
      const answers: readonly Answer[] = [
        (asked) => failure(asked, -32_603),
        (asked) => failure(asked, -32_602, { status: 400 }),
        () => new Response(serverText, { status: 500 }),
        () => new Response(serverText, { status: 400 }),
        () => new Response(serverText, { status: 429, headers: { 'retry-after': '3' } }),
        () => new Response(serverText, { headers: { 'content-type': 'application/json' } }),
        (asked) => result(asked, { resultType: serverText }),
        (asked) => result(asked, { resultType: 'complete', content: serverText }),
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
    name: 'refuses an answer that is too long, of JSON and of events',
    async run(subject) {
      for (const [type, text] of [['application/json', ' '], ['text/event-stream', 'data: x\n']] as const) {
        const { connection } = await connect(subject, { 'tools/call': () => endless(type, text) });
        assertEqual((await failureOf(() => connection.callTool(echoing('Hi')))).code, 'budget_exceeded');
        await connection.close();
      }
    },
  },
  {
    name: 'refuses a list that leads in a circle, and one without end',
    async run(subject) {
      let page = 0;
      const listing = (cursor: () => string): Answer => (asked) =>
        result(asked, { ...listFields, tools: [echo], nextCursor: cursor() });
      const circle = await connect(subject, { 'tools/list': listing(() => 'again') });
      assertEqual(await reasonOf(() => list(circle.connection)), 'unavailable: mcp_invalid_answer');
      const spiral = await connect(subject, { 'tools/list': listing(() => `page ${++page}`) });
      assertEqual((await failureOf(() => list(spiral.connection))).code, 'budget_exceeded');
      assert(spiral.peer.of('tools/list').length < 1000, 'The list is read for ever');
      await Promise.all([circle.connection.close(), spiral.connection.close()]);
    },
  },
  {
    name: 'waits for no answer that has ended, broken off or come to something else',
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
