/** Checks of connecting, listing and calling. */

import { assert, assertEqual } from '../assert.ts';
import { connect, echoing, list, type McpConnectorCheck, secret, server } from './check.ts';
import { about, createPeer, echo, event, events, listFields, result } from './peer.ts';

/** The checks. */
export const talkingChecks: readonly McpConnectorCheck[] = [
  {
    name: "connects, and returns the revision and the server's description",
    async run(subject) {
      const { connection } = await connect(subject);
      const { name, version, instructions } = about;
      assertEqual(connection.protocolVersion, subject.era === 'modern' ? '2026-07-28' : '2025-11-25');
      assertEqual([connection.serverInfo, connection.instructions], [{ name, version }, instructions]);
      await connection.close();
    },
  },
  {
    name: 'declares no capabilities',
    async run(subject) {
      const { peer, connection } = await connect(subject);
      await list(connection);
      const declared = peer.received.flatMap(({ params }) => {
        const meta = params['_meta'] as Record<string, unknown> | undefined;
        return [params['capabilities'], meta?.['io.modelcontextprotocol/clientCapabilities']];
      }).filter((capabilities) => capabilities !== undefined);
      assert(declared.length > 0, 'The client declares nothing at all');
      assertEqual(declared.every((capabilities) => JSON.stringify(capabilities) === '{}'), true);
      await connection.close();
    },
  },
  {
    name: 'lists the tools of all pages unchanged, including unusual and malformed ones',
    async run(subject) {
      const odd = [
        { ...echo, 'x-own': { deep: [1, null] }, icons: [{ src: 'https://x.example/i.png' }], _meta: { a: 1 } },
        { name: 'no schema' },
        { name: 7, inputSchema: true },
        'no tool',
        null,
      ];
      const { peer, connection } = await connect(subject, {
        'tools/list': (message) => {
          const [tools, nextCursor] = message.params['cursor'] === undefined ? [odd, 'page 2'] : [[echo], undefined];
          return result(message, { ...listFields, tools, nextCursor });
        },
      });
      assertEqual(await list(connection), [...odd, echo]);
      assertEqual(peer.of('tools/list').map(({ params }) => params['cursor']), [undefined, 'page 2']);
      await connection.close();
    },
  },
  {
    name: 'calls a tool, and returns content, structured content and error mark unchanged',
    async run(subject) {
      const content = [{ type: 'text', text: 'Hi' }, { type: 'of-tomorrow', data: 1 }];
      const structuredContent = { celsius: 21, constructor: 'Ferrari' };
      const { connection, peer } = await connect(subject, {
        'tools/call': (message) =>
          result(message, {
            resultType: 'complete',
            content,
            structuredContent,
            isError: message.params['name'] === 'bad',
          }),
      });
      const called = await connection.callTool(echoing('Hi'));
      assertEqual(called, { content, structuredContent, isError: false });
      assertEqual((await connection.callTool(echoing('Hi', { name: 'bad' }))).isError, true);
      assertEqual(peer.of('tools/call').map(({ params }) => [params['name'], params['arguments']]), [
        ['echo', { text: 'Hi' }],
        ['bad', { text: 'Hi' }],
      ]);
      await connection.close();
    },
  },
  {
    name: 'leaves the check of a result against the definition to its caller',
    async run(subject) {
      const { connection } = await connect(subject);
      const definition = { ...echo, outputSchema: { type: 'object', required: ['x'] } };
      assertEqual(await connection.callTool(echoing('Hi', { definition })), {
        content: [{ type: 'text', text: 'Hi' }],
        isError: false,
      });
      await connection.close();
    },
  },
  {
    name: 'calls many tools at once, each with its own result',
    async run(subject) {
      const { connection } = await connect(subject);
      const texts = Array.from({ length: 10 }, (_, at) => `call ${at}`);
      const called = await Promise.all(texts.map((text) => connection.callTool(echoing(text))));
      assertEqual(called.map(({ content }) => content), texts.map((text) => [{ type: 'text', text }]));
      await connection.close();
    },
  },
  {
    name: 'reports when the server announces changed tools',
    async run({ era, open }) {
      const changed = { method: 'notifications/tools/list_changed' };
      const peer = createPeer(era, {
        'tools/call': ({ id }) =>
          events([event(changed), event({ id, result: { resultType: 'complete', content: [] } })]),
      });
      let changes = 0;
      const connector = await open(peer.handle);
      const { signal } = new AbortController();
      const connection = await connector.connect(server, { secret, signal, onToolsChanged: () => changes++ });
      await connection.callTool(echoing('Hi'));
      assertEqual(changes, 1);
      await connection.close();
    },
  },
  {
    name: 'reports progress, and accepts an event stream as the answer',
    async run(subject) {
      const notified: unknown[] = [];
      const { connection } = await connect(subject, {
        'tools/call': ({ id, params }) => {
          const { progressToken } = params['_meta'] as { readonly progressToken: unknown };
          const progress = (amount: number): string =>
            event({ method: 'notifications/progress', params: { progressToken, progress: amount, total: 2 } });
          const answer = { id, result: { resultType: 'complete', content: [] } };
          return events([progress(1), progress(2), event(answer)], { open: true });
        },
      });
      const onProgress = (progress: unknown): void => void notified.push(progress);
      assertEqual(await connection.callTool(echoing('Hi', { onProgress })), { content: [], isError: false });
      assertEqual(notified, [{ progress: 1, total: 2 }, { progress: 2, total: 2 }]);
      await connection.close();
    },
  },
];
