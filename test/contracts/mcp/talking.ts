/** Checks of connecting, listing and calling. */

import { assert, assertEqual } from '../assert.ts';
import { connect, echoing, list, type McpConnectorCheck, secret, server } from './check.ts';
import { about, type Answer, createPeer, echo, event, events, listFields, result } from './peer.ts';

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
    name: 'lists no tools of a server that declares other things and no tools',
    async run({ era, open }) {
      const peer = createPeer(era);
      const without: typeof peer.handle = async (request) => {
        const response = await peer.handle(request);
        const text = (await response.text()).replace('"capabilities":{"tools":{}}', '"capabilities":{"prompts":{}}');
        return new Response(text === '' ? null : text, response);
      };
      const connector = await open(without);
      const connection = await connector.connect(server, { secret, signal: new AbortController().signal });
      assertEqual(await list(connection), []);
      assertEqual(peer.of('tools/list').length, 0);
      await connection.close();
    },
  },
  {
    name: 'takes a result without a type for a complete one',
    async run(subject) {
      const { connection } = await connect(subject, {
        'tools/list': (message) => result(message, { tools: [echo] }),
        'tools/call': (message) => result(message, { content: [] }),
      });
      assertEqual(await list(connection), [echo]);
      assertEqual(await connection.callTool(echoing('Hi')), { content: [], isError: false });
      await connection.close();
    },
  },
  {
    name: 'uses no request id in two connections',
    async run(subject) {
      const ids = await Promise.all([1, 2, 3, 4].map(async () => {
        const { peer, connection } = await connect(subject);
        await Promise.all([connection.callTool(echoing('a')), connection.callTool(echoing('b'))]);
        await connection.close();
        return peer.received.flatMap(({ id }) => typeof id === 'number' ? [id] : []);
      }));
      assertEqual(new Set(ids.flat()).size, ids.flat().length);
      assert(ids.flat().every((id) => Number.isInteger(id) && id < 2 ** 31), 'An id does not fit 31 bits');
    },
  },
  {
    name: 'sends the cookies of the server back to it, within one connection',
    async run({ era, open }) {
      if ('document' in globalThis) return; // a browser sends its own cookies, and shows no code those of a server
      const first = era === 'modern' ? 'server/discover' : 'initialize';
      const cookies: (string | null)[] = [];
      const peer = createPeer(era);
      const sticky: typeof peer.handle = async (request) => {
        const { method } = request.method === 'POST'
          ? await request.clone().json() as { method: string }
          : { method: '' };
        cookies.push(request.headers.get('cookie'));
        const response = await peer.handle(request);
        if (method !== first) return response;
        const headers = new Headers(response.headers);
        headers.append('set-cookie', 'lb=node-a; Path=/; HttpOnly');
        headers.append('set-cookie', 'old=1; Max-Age=0');
        headers.append('set-cookie', 'far=1; Path=/elsewhere');
        headers.append('set-cookie', 'other=1; Domain=example.net');
        return new Response(response.body, { status: response.status, headers });
      };
      const connector = await open(sticky);
      for (const _ of [1, 2]) {
        cookies.length = 0;
        const connection = await connector.connect(server, { secret, signal: new AbortController().signal });
        await list(connection);
        await connection.close();
        assertEqual([...new Set(cookies)], [null, 'lb=node-a']);
      }
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
  {
    name: 'reads answers that are not exact about the protocol',
    async run(subject) {
      const said = { content: [{ type: 'text', text: 'Hi' }], isError: false };
      const complete = { resultType: 'complete', content: said.content };
      const plain = (text: string, type: string) => new Response(text, { headers: { 'content-type': type } });
      const cases: readonly (readonly [Answer, unknown])[] = [
        [({ id }) => Response.json({ id: String(id), result: complete, error: null }), said],
        [() => Response.json({ jsonrpc: '2.0', id: null, result: complete }), said],
        [({ id }) => plain(JSON.stringify({ jsonrpc: '2.0', id, result: complete }), 'text/plain'), said],
        [({ id }) => plain(event({ id, result: complete }).trimEnd(), 'application/json'), said],
        [({ id }) => events([event({ id, result: complete }).trimEnd()]), said],
        [(message) => result(message, { ...complete, content: said.content[0] }), said],
        [(message) => result(message, { ...complete, content: 'Hi' }), said],
        [(message) => result(message, { resultType: 'complete' }), { content: [], isError: false }],
        [(message) => result(message, { resultType: 'complete', content: null }), { content: [], isError: false }],
        [(message) => result(message, { ...complete, isError: 'true' }), { ...said, isError: true }],
        [(message) => result(message, { ...complete, structuredContent: null, resultType: null }), said],
        [({ id }) => Response.json({ jsonrpc: '2.0', id, result: complete, time: 1 }), said],
        [({ id }) => Response.json({ jsonrpc: '2.0', id, result: 'Hi' }), said],
        [({ id }) => Response.json({ jsonrpc: '2.0', id, result: [said.content] }), said],
        [({ id }) => Response.json({ jsonrpc: '2.0', id, result: null }), { content: [], isError: false }],
        [({ id }) => plain(JSON.stringify({ jsonrpc: '2.0', id, result: complete }), 'application/json-rpc'), said],
        [({ id }) => plain(JSON.stringify({ jsonrpc: '2.0', id, result: complete }), 'text/event-stream'), said],
        [({ id }) => events(['data: connected\n\ndata: [DONE]\n\n', event({ id, result: complete })]), said],
      ];
      for (const [answer, expected] of cases) {
        const { connection } = await connect(subject, { 'tools/call': answer });
        assertEqual(await connection.callTool(echoing('Hi')), expected);
        await connection.close();
      }
      const { connection } = await connect(subject, {
        'tools/list': (message) => result(message, { ...listFields, tools: null, nextCursor: '' }),
      });
      assertEqual(await list(connection), []);
      await connection.close();
      const paged = await connect(subject, {
        'tools/list': (message) =>
          result(message, {
            ...listFields,
            tools: [echo],
            nextCursor: message.params['cursor'] === '2' ? '' : subject.era === 'legacy' ? 2 : '2',
          }),
      });
      assertEqual(await list(paged.connection), [echo]); // the second page repeats the first
      await paged.connection.close();
    },
  },
  {
    name: 'connects to older servers that are not exact about their start',
    async run(subject) {
      if (subject.era !== 'legacy') return;
      const hello = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'p', version: '1' },
      };
      const starts: readonly Answer[] = [
        (message) => result(message, { ...hello, capabilities: { tools: [], logging: null } }),
        (message) => result(message, { ...hello, capabilities: [], instructions: null, _meta: null }),
        (message) => result(message, { ...hello, serverInfo: { name: 'p', version: 1 } }),
        (message) => result(message, { capabilities: { tools: { listChanged: 'true' } } }),
        (message) =>
          message.params['protocolVersion'] === '2025-06-18'
            ? result(message, { ...hello, protocolVersion: '2025-06-18' })
            : new Response('Unsupported protocol version: 2025-06-18 and 2025-03-26 are known', { status: 400 }),
      ];
      for (const initialize of starts) {
        const failing = () => new Response(null, { status: 500 });
        const tools: Answer = (message) => result(message, { tools: [echo] });
        const { connection } = await connect(subject, {
          initialize,
          'notifications/initialized': failing,
          'tools/list': tools,
        });
        assertEqual((await list(connection)).length, 1);
        await connection.close();
      }
      for (const discover of [() => new Response('<p>', { status: 502 }), () => new Response(null, { status: 204 })]) {
        const { connection } = await connect(subject, { 'server/discover': discover });
        assertEqual(connection.protocolVersion, '2025-11-25');
        await connection.close();
      }
    },
  },
];
