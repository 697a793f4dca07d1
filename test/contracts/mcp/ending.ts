/** Checks of how things end: calls, sessions, connections. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { assertEqual } from '../assert.ts';
import { connect, echoing, failureOf, list, type McpConnectorCheck, reasonOf, secret, server } from './check.ts';
import { type Answer, createPeer, echo, events, failure } from './peer.ts';

/** The checks of servers of every revision. */
export const endingChecks: readonly McpConnectorCheck[] = [
  {
    name: 'ends a call with its signal, at the server too',
    async run(subject) {
      const { stuck, reached, left } = holding();
      const { connection } = await connect(subject, { 'tools/call': stuck });
      const stop = new AbortController();
      const call = failureOf(() => connection.callTool(echoing('Hi', { signal: stop.signal })));
      await reached;
      stop.abort(new PinnaceError('cancelled', 'The run was cancelled'));
      assertEqual((await call).code, 'cancelled');
      await left;
      await connection.close();
    },
  },
  {
    name: 'ends a call with its time, at the server too',
    async run(subject) {
      const { stuck, left } = holding();
      const { connection, peer } = await connect(subject, { 'tools/call': stuck });
      const call = failureOf(() => connection.callTool(echoing('Hi', { timeoutMs: 200 })));
      assertEqual((await call).code, 'deadline_exceeded');
      if (peer.of('tools/call').length > 0) await left; // on a busy machine, the time may be over before it is sent
      await connection.close();
    },
  },
  {
    name: 'sends nothing when the signal has already aborted',
    async run(subject) {
      const { connection, peer } = await connect(subject);
      const signal = AbortSignal.abort();
      assertEqual((await failureOf(() => connection.callTool(echoing('Hi', { signal })))).code, 'cancelled');
      assertEqual((await failureOf(() => connection.listTools({ signal }))).code, 'cancelled');
      assertEqual(peer.of('tools/call').length + peer.of('tools/list').length, 0);
      await connection.close();
    },
  },
  {
    name: 'stops connecting when its signal aborts, at the server too',
    async run({ era, open }) {
      const first = era === 'modern' ? ['server/discover'] : ['initialize', 'notifications/initialized'];
      for (const method of first) {
        const { silent, reached, left } = holding();
        const connector = await open(createPeer(era, { [method]: silent }).handle);
        const stop = new AbortController();
        const connecting = failureOf(() => connector.connect(server, { secret, signal: stop.signal }));
        await reached;
        stop.abort();
        assertEqual((await connecting).code, 'cancelled');
        await left;
      }
    },
  },
  {
    name: 'ends open calls when it is closed, and rejects later ones',
    async run(subject) {
      const { stuck, reached, left } = holding();
      const { connection } = await connect(subject, { 'tools/call': stuck });
      const call = failureOf(() => connection.callTool(echoing('Hi')));
      await reached;
      await connection.close();
      assertEqual((await call).code, 'cancelled');
      await left;
      await connection.close();
      assertEqual((await failureOf(() => connection.callTool(echoing('Hi')))).code, 'cancelled');
      assertEqual((await failureOf(() => list(connection))).code, 'cancelled');
    },
  },
  {
    name: 'closes without an error, whatever the server answers',
    async run(subject) {
      for (const answer of [() => new Response(null, { status: 500 }), () => Promise.reject(new Error('Gone'))]) {
        const { connection } = await connect(subject, { 'DELETE': answer });
        await connection.close();
      }
    },
  },
];

/** The checks of servers that keep sessions. */
export const sessionChecks: readonly McpConnectorCheck[] = [
  {
    name: 'opens a separate session for each connection, and ends it',
    async run({ era, open }) {
      const peer = createPeer(era);
      const connector = await open(peer.handle);
      const { signal } = new AbortController();
      const connections = await Promise.all([1, 2].map(() => connector.connect(server, { secret, signal })));
      await Promise.all(connections.map((connection) => connection.callTool(echoing('Hi'))));
      await Promise.all(connections.map((connection) => connection.close()));
      const sessionsOf = (method: string): ReadonlySet<unknown> =>
        new Set(peer.of(method).map(({ request }) => request.headers.get('mcp-session-id')));
      const both = new Set(['session-1', 'session-2']);
      assertEqual(sessionsOf('tools/call').symmetricDifference(both).size, 0);
      assertEqual(sessionsOf('DELETE').symmetricDifference(both).size, 0);
    },
  },
  {
    name: 'starts a new session when the server no longer knows it, and repeats what was refused for it alone',
    async run(subject) {
      const { peer, connection } = await connect(subject);
      peer.forget();
      assertEqual(await list(connection), [echo]);
      peer.forget();
      const calls = ['a', 'b'].map((text) => connection.callTool(echoing(text)));
      assertEqual((await Promise.all(calls)).map(({ content }) => content), [
        [{ type: 'text', text: 'a' }],
        [{ type: 'text', text: 'b' }],
      ]);
      assertEqual(peer.of('initialize').length, 3);
      await connection.close();
    },
  },
  {
    name: 'repeats a call with side effects that was refused for its session, under 404 and under 400',
    async run(subject) {
      const refusals: readonly Answer[] = [
        () => new Response(null, { status: 404 }),
        (message) => failure(message, -32_001, { status: 404 }),
        (message) => failure(message, -32_000, { status: 400 }),
      ];
      for (const refuse of refusals) {
        const answer: Answer = (message) =>
          message.request.headers.get('mcp-session-id') === 'session-1' ? refuse(message) : undefined;
        const { peer, connection } = await connect(subject, { 'tools/call': answer });
        assertEqual((await connection.callTool(echoing('Hi', { definition: writing }))).isError, false);
        assertEqual([peer.of('tools/call').length, peer.of('initialize').length], [2, 2]);
        await connection.close();
      }
    },
  },
  {
    name: 'does not repeat a call with side effects whose answer broke off with the session',
    async run(subject) {
      const { peer, connection } = await connect(subject, {
        'tools/call': () => events(['retry: 100\nid: 1\ndata:\n\n']),
        'GET': ({ request }) => request.headers.has('last-event-id') ? new Response(null, { status: 404 }) : undefined,
      });
      const failed = await reasonOf(() => connection.callTool(echoing('Hi', { definition: writing })));
      assertEqual(failed, 'unavailable: mcp_session_lost');
      assertEqual(peer.of('tools/call').length, 1);
      assertEqual(await list(connection), [echo]);
      assertEqual(peer.of('initialize').length, 2);
      await connection.close();
    },
  },
  {
    name: 'reports a session as expired when no other can be started',
    async run(subject) {
      let starts = 0;
      const { peer, connection } = await connect(subject, {
        initialize: () => starts++ === 0 ? undefined : new Response(null, { status: 503 }),
      });
      peer.forget();
      const failed = await reasonOf(() => connection.callTool(echoing('Hi', { definition: writing })));
      assertEqual(failed, 'unavailable: mcp_session_expired');
      await connection.close();
    },
  },
  {
    name: 'repeats a call once, and no more',
    async run(subject) {
      const gone: Answer = () => new Response(null, { status: 404 });
      const { peer, connection } = await connect(subject, { 'tools/call': gone });
      assertEqual(await reasonOf(() => connection.callTool(echoing('Hi'))), 'unavailable: mcp_session_expired');
      assertEqual(peer.of('tools/call').length, 2);
      await connection.close();
    },
  },
];

const writing = { ...echo, annotations: { destructiveHint: false } };

interface Holding {
  /** Starts an answer that never ends. */
  readonly stuck: Answer;
  /** Never answers. */
  readonly silent: Answer;
  readonly reached: Promise<void>;
  readonly left: Promise<void>;
}

/** Returns answers that never come, and promises that resolve when the request arrives and when it is aborted. */
function holding(): Holding {
  const reached = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const stuck: Answer = ({ request }) => {
    request.signal.addEventListener('abort', () => left.resolve());
    reached.resolve();
    return events([': nothing yet\n\n'], { open: true });
  };
  const silent: Answer = async (message) => {
    void stuck(message);
    return await new Promise(() => {});
  };
  return { stuck, silent, reached: reached.promise, left: left.promise };
}
