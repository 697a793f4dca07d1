import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { mcpConnector } from '../../../adapters/mcp/client.ts';
import { Secret } from '../../../src/base/secret.ts';
import { echoing, list, secret, server } from '../../contracts/mcp/check.ts';
import { type Answer, createPeer, echo, event, events, failure, listFields, result } from '../../contracts/mcp/peer.ts';
import { connectors, connectTo, egressTo } from '../../fixtures/mcp/mcp-peer.ts';

const { signal } = new AbortController();
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe.each(connectors)('$name, with a hostile server of the era $era', (way) => {
  it('refuses answers that are nested too deep, of JSON and of events', async () => {
    const text = `{"jsonrpc":"2.0","id":1,"result":{"content":${nested(200_000)}}}`;
    const headers = { 'content-type': 'application/json' };
    for (const answer of [() => new Response(text, { headers }), () => events([`data: ${text}\n\n`])]) {
      const { connection } = await connectTo(way, { 'tools/call': answer });
      await expect(connection.callTool(echoing('Hi'))).rejects.toMatchObject({
        code: 'unavailable',
        details: { reason: 'mcp_invalid_answer' },
      });
      await connection.close();
    }
  });

  it('takes no word for an error or a result of its own', async () => {
    const data = { fault: crypto.randomUUID() };
    const meta = { 'pinnace/held': crypto.randomUUID() };
    const answers: readonly Answer[] = [
      (asked) => failure(asked, -32_000, { data }),
      (asked) => result(asked, { resultType: 'complete', content: [], _meta: meta }),
    ];
    const { connection, peer } = await connectTo(way, {
      'tools/call': (asked) => answers[peer.of('tools/call').length - 1]!(asked),
    });
    await expect(connection.callTool(echoing('Hi'))).rejects.toMatchObject({ details: { reason: 'mcp_error' } });
    expect(await connection.callTool(echoing('Hi'))).toEqual({ content: [], isError: false });
    await connection.close();
  });

  it('ends a flood of progress with the time of the call', async () => {
    let left = false;
    const { connection } = await connectTo(way, {
      'tools/call': ({ params, request }) => {
        const { progressToken } = params['_meta'] as { readonly progressToken: unknown };
        request.signal.addEventListener('abort', () => (left = true));
        const line = event({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
        const drop = new TextEncoder().encode(line);
        const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
          async pull(controller) {
            await new Promise((resolve) => setTimeout(resolve, 1000));
            if (!left) controller.enqueue(drop);
          },
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let told = 0;
    const call = connection.callTool(echoing('Hi', { timeoutMs: 60_000, onProgress: () => told++ }));
    const ended = call.catch((error: unknown) => error);
    while (told < 10) await vi.advanceTimersByTimeAsync(1000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await ended).toMatchObject({ code: 'deadline_exceeded' });
    expect(left).toBe(true);
    await connection.close();
  });

  it('drops a response that continues after its end', async () => {
    let left = false;
    const { connection } = await connectTo(way, {
      'tools/call': ({ id, request }) => {
        request.signal.addEventListener('abort', () => (left = true));
        const answer = event({ id, result: { resultType: 'complete', content: [] } });
        const second = event({ id, result: { resultType: 'complete', content: ['second'] } });
        const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
          start: (controller) => controller.enqueue(new TextEncoder().encode(answer + second)),
          cancel: () => void (left = true),
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      },
    });
    expect(await connection.callTool(echoing('Hi'))).toEqual({ content: [], isError: false });
    await expect.poll(() => left).toBe(true);
    await connection.close();
  });

  it('answers no question but a ping, and not many of those', async () => {
    const ask = (method: string, id: string): string => event({ id, method, params: { messages: [], maxTokens: 9 } });
    const questions = [
      ask('sampling/createMessage', 'q1'),
      ask('elicitation/create', 'q2'),
      ask('roots/list', 'q3'),
      ...Array.from({ length: 1200 }, (_, at) => ask('ping', `p${at}`)),
    ];
    const { connection, peer } = await connectTo(way, {
      'tools/call': ({ id }) => events([...questions, event({ id, result: { resultType: 'complete', content: [] } })]),
      '(answer)': () => new Response(null, { status: 202 }),
    });
    await connection.callTool(echoing('Hi'));
    await connection.close();
    const answered = peer.of('(answer)').map((asked) => asked as unknown as { readonly result?: unknown });
    expect(answered.length).toBeLessThanOrEqual(1000 + 32);
    expect(answered.filter((one) => 'result' in one).every((one) => JSON.stringify(one.result) === '{}')).toBe(true);
  });

  it('bounds a list by its tools and by its bytes', async () => {
    const many = Array.from({ length: 2001 }, () => 1);
    const first = await connectTo(way, {
      'tools/list': (asked) => result(asked, { ...listFields, tools: many }),
    });
    await expect(list(first.connection)).rejects.toMatchObject({ code: 'budget_exceeded' });
    let page = 0;
    const long = { ...echo, description: 'x'.repeat(1_000_000) };
    const second = await connectTo(way, {
      'tools/list': (asked) => result(asked, { ...listFields, tools: [long], nextCursor: `${++page}` }),
    });
    await expect(list(second.connection)).rejects.toMatchObject({ code: 'budget_exceeded' });
    expect(page).toBeLessThan(10);
    await Promise.all([first.connection.close(), second.connection.close()]);
  });

  it('reaches no server inside, and none without https', async () => {
    const peer = createPeer(way.era);
    const connector = way.make({ egress: egressTo(peer.handle) });
    for (const url of ['https://169.254.169.254/mcp', 'http://tools.example.com/mcp', 'https://localhost/mcp']) {
      await expect(connector.connect({ ...server, url }, { secret, signal })).rejects.toMatchObject({
        code: 'forbidden',
        details: { reason: 'url_refused' },
      });
    }
    expect(peer.received).toEqual([]);
  });

  it('sends no secret that would break a header, and does not repeat it', async () => {
    const connector = way.make({ egress: egressTo(createPeer(way.era).handle) });
    const broken = new Secret({ id: 'tools-key', version: '1', value: 'two\nlines', origins: 'any' });
    const error: unknown = await connector.connect(server, { secret: broken, signal }).catch((reason: unknown) =>
      reason
    );
    expect(error).toMatchObject({ code: 'invalid_argument', details: { reason: 'header_value' } });
    expect(String(error)).not.toContain('lines');
  });

  it('gives up on a server that keeps it waiting', async () => {
    const stuck: Answer = () => events([': nothing yet\n\n'], { open: true });
    const keeping = (method: string) => egressTo(createPeer(way.era, { [method]: stuck }).handle);
    const slow = way.make({
      egress: keeping(way.era === 'modern' ? 'server/discover' : 'initialize'),
      connectTimeoutMs: 30,
    });
    await expect(slow.connect(server, { secret, signal })).rejects.toMatchObject({ code: 'deadline_exceeded' });
    const listing = way.make({ egress: keeping('tools/list'), listTimeoutMs: 30 });
    const connection = await listing.connect(server, { secret, signal });
    await expect(list(connection)).rejects.toMatchObject({ code: 'deadline_exceeded' });
    await connection.close();
  });

  it('reports a server that limits the rate of requests', async () => {
    const busy: Answer = () => new Response(null, { status: 429, headers: { 'retry-after': '7' } });
    const { connection } = await connectTo(way, { 'tools/call': busy });
    await expect(connection.callTool(echoing('Hi'))).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 7000,
    });
    await connection.close();
  });
});

describe.each(connectors.filter(({ era }) => era === 'legacy'))('$name, with a server of sessions', (way) => {
  it('opens no stream to wait for news', async () => {
    const { connection, peer } = await connectTo(way);
    await connection.callTool(echoing('Hi'));
    await connection.close();
    expect(peer.of('GET')).toEqual([]);
  });

  it('keeps its session, whatever later answers call it', async () => {
    const { connection, peer } = await connectTo(way, {
      'tools/list': (asked) => result(asked, { tools: [echo] }, { 'mcp-session-id': 'stolen' }),
    });
    await list(connection);
    await connection.callTool(echoing('Hi'));
    await connection.close();
    const sessions = peer.of('tools/call').map(({ request }) => request.headers.get('mcp-session-id'));
    expect(sessions).toEqual(['session-1']);
  });

  it('notifies the server which call was canceled', async () => {
    const stop = new AbortController();
    const { connection, peer } = await connectTo(way, {
      'tools/call': () => (stop.abort(), events([': nothing yet\n\n'], { open: true })),
    });
    await expect(connection.callTool(echoing('Hi', { signal: stop.signal }))).rejects.toMatchObject({
      code: 'cancelled',
    });
    await expect.poll(() => peer.of('notifications/cancelled').map(({ params }) => params['requestId'])).toEqual(
      peer.of('tools/call').map(({ id }) => id),
    );
    await connection.close();
  });

  it('resumes a response that the server ends early or whose connection breaks', async () => {
    const rest = ({ request }: { readonly request: Request }): Response => {
      expect(request.headers.get('last-event-id')).toBe('e1');
      const { id } = peer.of('tools/call').at(-1)!;
      return events([event({ id, result: { content: [{ type: 'text', text: 'at last' }] } }, 'e2')]);
    };
    const begin = `retry: 1\nid: e1\ndata:\n\n`;
    let breaks = false;
    const { connection, peer } = await connectTo(way, {
      'tools/call': () => breaks ? breaking(begin) : events([begin]),
      'GET': rest,
    });
    for (breaks of [false, true]) {
      expect(await connection.callTool(echoing('Hi'))).toEqual({
        content: [{ type: 'text', text: 'at last' }],
        isError: false,
      });
    }
    expect(peer.of('GET')).toHaveLength(2);
    await connection.close();
  });

  it('does not go on for ever', async () => {
    const again = (): Response => events(['retry: 0\nid: e1\ndata:\n\n']);
    const { connection, peer } = await connectTo(way, { 'tools/call': again, 'GET': again });
    await expect(connection.callTool(echoing('Hi'))).rejects.toMatchObject({ details: { reason: 'mcp_unanswered' } });
    expect(peer.of('GET')).toHaveLength(16);
    await connection.close();
  });

  it('gives up a response that the server does not continue', async () => {
    for (const status of [405, 404, 500, 200]) {
      const { connection } = await connectTo(way, {
        'tools/call': () => events(['retry: 1\nid: e1\ndata:\n\n']),
        'GET': () => new Response('no', { status }),
      });
      await expect(connection.callTool(echoing('Hi'))).rejects.toMatchObject({ code: 'unavailable' });
      await connection.close();
    }
  });
});

describe.each(connectors.filter(({ era }) => era === 'modern'))('$name, with a server of 2026-07-28', (way) => {
  it('puts into headers what the pinned definition says', async () => {
    const { connection, peer } = await connectTo(way);
    const properties = { text: { type: 'string', 'x-mcp-header': 'Region' } };
    const definition = { ...echo, inputSchema: { type: 'object', properties } };
    await connection.callTool(echoing('eu-west', { definition }));
    const [{ request } = { request: new Request('https://none.example.com') }] = peer.of('tools/call');
    expect(Object.fromEntries(request.headers)).toMatchObject({
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      'mcp-protocol-version': '2026-07-28',
    });
    // In a page, though not in a worker, the library leaves it out, as the specification allows: its name is any server's choice,
    // and CORS wants each name listed.
    expect(request.headers.get('mcp-param-region')).toBe('document' in globalThis ? null : 'eu-west');
    expect(peer.of('tools/list')).toEqual([]);
    await connection.close();
  });

  it('asks no person for a server that asks for input', async () => {
    const { connection, peer } = await connectTo(way, {
      'tools/call': (asked) => result(asked, { resultType: 'input_required', requestState: 'again' }),
    });
    await expect(connection.callTool(echoing('Hi'))).rejects.toMatchObject({
      code: 'unavailable',
      details: { reason: 'mcp_invalid_answer' },
    });
    expect(peer.of('tools/call')).toHaveLength(1);
    await connection.close();
  });
});

describe('mcpConnector', () => {
  const way = connectors[0];

  it('asks a server in the old way that forbids the new one its headers', async () => {
    const { connection, peer } = await connectTo(way, {
      'server/discover': () => Promise.reject(new TypeError('Failed to fetch')),
    });
    expect(connection.protocolVersion).toBe('2025-11-25');
    expect(peer.received.map(({ method }) => method).slice(0, 2)).toEqual(['server/discover', 'initialize']);
    await connection.close();
  });
});

describe('mcpConnector, where a server leaves an unknown method unanswered', () => {
  it('asks it in the old way before the time is up', async () => {
    const peer = createPeer('legacy', { 'server/discover': () => new Promise<Response>(() => undefined) });
    const connector = mcpConnector({ egress: egressTo(peer.handle), connectTimeoutMs: 300 });
    const connection = await connector.connect(server, { secret: undefined, signal });
    expect(connection.protocolVersion).toBe('2025-11-25');
    await connection.close();
  });
});

/** An answer whose connection breaks after a text. */
function breaking(text: string): Response {
  let sent = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (sent) return controller.error(new Error('The connection broke'));
      sent = true;
      controller.enqueue(new TextEncoder().encode(text));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}
