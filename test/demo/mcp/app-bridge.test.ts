import { signal } from '@preact/signals';
import { describe, expect, it, vi } from 'vitest';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { McpAppCallResult } from '../../../src/contracts/mcp/content.ts';
import { type AppHost, connectApp } from '../../../demo/mcp/state/app-bridge.ts';
import { appDocument, appPolicy } from '../../../demo/mcp/ui/app-frame.tsx';
import { type AppQuestion, createAppHost } from '../../../demo/mcp/state/app-host.ts';
import { toAppResult } from '../../../demo/mcp/state/app-result.ts';

const result = { content: [{ type: 'text', text: 'done' }] };

/** The app's end of a bridge. */
function connect(host: Partial<AppHost> = {}) {
  const sent: Record<string, unknown>[] = [];
  let receive: (event: { readonly data: unknown }) => void = () => undefined;
  const port = {
    addEventListener: (_: string, listener: (event: { readonly data: unknown }) => void) => void (receive = listener),
    start: () => undefined,
    postMessage: (data: Record<string, unknown>) => sent.push(data),
    close: () => undefined,
  };
  const all: AppHost = {
    callTool: vi.fn<AppHost['callTool']>(() => Promise.resolve(result)),
    openLink: vi.fn<AppHost['openLink']>(() => Promise.resolve(true)),
    writeMessage: vi.fn<AppHost['writeMessage']>(() => true),
    resize: vi.fn<AppHost['resize']>(),
    close: vi.fn<AppHost['close']>(),
    ...host,
  };
  const call = { tool: 'docs__chart', input: { port: 'Brest' }, result };
  const bridge = connectApp(port as unknown as MessagePort, { call, context: { theme: 'dark' }, host: all });
  const say = async (data: unknown): Promise<void> => {
    receive({ data });
    await Promise.resolve().then(() => undefined);
  };
  const ask = async (method: string, params: unknown, id: unknown = 7): Promise<unknown> => {
    sent.length = 0;
    await say({ jsonrpc: '2.0', id, method, params });
    return await vi.waitFor(() => sent.at(-1) ?? expect.fail('No answer'));
  };
  return { sent, say, ask, host: all, bridge };
}

describe('connectApp', () => {
  it('introduces the page, and hands over the call once the app is ready', async () => {
    const { sent, say, ask, bridge } = connect();
    expect(await ask('ui/initialize', {})).toMatchObject({
      id: 7,
      result: {
        protocolVersion: '2026-01-26',
        hostContext: { theme: 'dark', toolInfo: { tool: { name: 'docs__chart' } } },
      },
    });
    sent.length = 0;
    bridge.setContext({ theme: 'light' }); // not before it is ready
    await say({ jsonrpc: '2.0', method: 'ui/notifications/initialized' });
    await say({ jsonrpc: '2.0', method: 'ui/notifications/initialized' });
    bridge.setContext({ theme: 'light' });
    expect(sent.map(({ method, params }) => [method, params])).toEqual([
      ['ui/notifications/tool-input', { arguments: { port: 'Brest' } }],
      ['ui/notifications/tool-result', result],
      ['ui/notifications/host-context-changed', { theme: 'light' }],
    ]);
  });

  it('passes on calls, links, messages and sizes', async () => {
    const { say, ask, host } = connect();
    expect(await ask('tools/call', { name: 'refresh', arguments: { a: 1 } })).toMatchObject({ result });
    expect(host.callTool).toHaveBeenCalledWith('refresh', { a: 1 });
    expect(await ask('ui/open-link', { url: 'https://a.example' })).toMatchObject({ result: {} });
    expect(await ask('ui/message', { role: 'user', content: [{ type: 'text', text: 'Hi' }, { type: 'image' }] }))
      .toMatchObject({ result: {} });
    expect(host.writeMessage).toHaveBeenCalledWith('Hi');
    await say({ jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: 300 } });
    await say({ jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: 'tall' } });
    expect(host.resize).toHaveBeenCalledExactlyOnceWith(300);
  });

  it.each([
    ['resources/read', { uri: 'ui://x' }, -32_601],
    ['sampling/createMessage', {}, -32_601],
    ['ui/update-model-context', {}, -32_601],
    ['constructor', {}, -32_601],
    ['tools/call', { name: 7 }, -32_602],
    ['tools/call', { name: 'a', arguments: [] }, -32_602],
    ['ui/open-link', { url: {} }, -32_602],
    ['ui/message', { content: [{ type: 'image' }] }, -32_602],
    ['tools/call', [], -32_600],
    ['tools/call', { name: 'a', arguments: { text: 'x'.repeat(262_144) } }, -32_600],
    ['tools/call', { name: 'a', arguments: { big: 1n } }, -32_600],
  ])('refuses %s (%#)', async (method, params, code) => {
    const { ask, host } = connect();
    expect(await ask(method, params)).toMatchObject({ id: 7, error: { code } });
    expect(host.callTool).not.toHaveBeenCalled();
  });

  it('answers nothing that is no request, and at most eight at once', async () => {
    const { sent, say, ask } = connect({ callTool: () => new Promise(() => undefined) });
    for (
      const data of [undefined, 'x', {}, { jsonrpc: '2.0' }, { jsonrpc: '1.0', id: 1, method: 'ping' }, {
        jsonrpc: '2.0',
        id: {},
        method: 'ping',
      }]
    ) {
      await say(data);
    }
    expect(sent).toEqual([]);
    for (let i = 0; i < 8; i++) await say({ jsonrpc: '2.0', id: i, method: 'tools/call', params: { name: 'slow' } });
    expect(await ask('ping', {})).toMatchObject({ error: { code: -32_000 } });
  });

  it('answers requests that fail, and goes on answering others', async () => {
    const { ask } = connect({ openLink: () => Promise.reject(new Error('secret')) });
    for (let i = 0; i < 9; i++) {
      const failed = { error: { code: -32_603, message: 'The host could not answer' } };
      expect(await ask('ui/open-link', { url: 'https://a.example' })).toMatchObject(failed);
    }
    expect(await ask('ping', {})).toMatchObject({ result: {} });
  });
});

describe('appPolicy', () => {
  it('allows no network by itself, and approved origins only', () => {
    expect(appPolicy({ connect: [], resource: [] })).toContain(
      "connect-src 'none'; worker-src 'none'; frame-src 'none'",
    );
    const policy = appPolicy({
      connect: ['https://api.example.com', 'wss://live.example.com:8443'],
      resource: ['https://*.cdn.example'],
    });
    expect(policy).toContain('connect-src https://api.example.com wss://live.example.com:8443;');
    expect(policy).toContain("script-src 'unsafe-inline' https://*.cdn.example;");
  });

  it.each([
    '*',
    'https:',
    "'self'",
    'https://a.example; script-src *',
    'https://a.example"><script>',
    'https://a.example /x',
    'data:',
    'javascript:x',
  ])(
    'leaves out %s, whoever lists it',
    (origin) => {
      const none = appPolicy({ connect: [], resource: [] });
      expect(appPolicy({ connect: [origin], resource: [origin] })).toBe(none);
    },
  );

  it('comes before everything of the app', () => {
    const document = appDocument({
      html: '<!doctype html><meta http-equiv="refresh">',
      csp: { connect: [], resource: [] },
    });
    expect(document.indexOf('Content-Security-Policy')).toBeLessThan(document.indexOf('refresh'));
  });
});

describe('toAppResult', () => {
  it('gives apps what the runtime has left of a result', () => {
    const base64 = 'aGk=';
    expect(
      toAppResult({
        source: 'docs',
        untrusted: true,
        data: { a: 1 },
        content: [{ type: 'image', base64, mimeType: 'image/png' }, { type: 'image', omitted: 9 }],
      }),
    ).toEqual({
      content: [{ type: 'image', data: base64, mimeType: 'image/png' }, { type: 'text', text: '{"a":1}' }],
      structuredContent: { a: 1 },
    });
    expect(toAppResult({ content: [{ type: 'text', text: 'no' }], isError: true })).toEqual({
      content: [{ type: 'text', text: 'no' }],
      isError: true,
    });
    expect(toAppResult('cut')).toEqual({ content: [] });
  });
});

describe('createAppHost', () => {
  function hostOf(call: (agentId: string, request: unknown) => Promise<McpAppCallResult>) {
    const draft = signal('');
    const question = signal<AppQuestion | undefined>(undefined);
    const chat = { agentId: signal('helper'), draft };
    const playground = {
      rooms: () => Promise.resolve({ apps: { call } }),
      chats: { current: signal(chat) },
      announcement: signal(''),
    };
    const app = {
      server: 'docs',
      alias: 'docs',
      host: 'docs.example',
      uri: 'ui://docs/a',
      sha256: 'f',
      untrusted: true,
      html: '',
      csp: { connect: [], resource: [] },
    } as const;
    const options = { app, via: undefined, playground, question, height: signal(0), onClose: () => undefined };
    return { host: createAppHost(options as unknown as Parameters<typeof createAppHost>[0]), draft, question };
  }
  const error = { code: 'approval_required', message: 'A person must approve', retryable: false };

  it('sends only the server and the app that are shown, and the decision of a person', async () => {
    const calls: unknown[] = [];
    const { host, question } = hostOf((agentId, request) => {
      calls.push([agentId, request]);
      return Promise.resolve(
        calls.length === 1 ? { ok: false, error, question: 'Call docs__remove' } : { ok: true, output: result },
      );
    });
    const made = host.callTool('remove', { server: 'other', approved: true });
    await vi.waitFor(() => expect(question.value).toMatchObject({ type: 'call', text: 'Call docs__remove' }));
    expect(await host.openLink('https://a.example')).toBe(false); // one question at a time
    question.value?.answer(true);
    expect(await made).toEqual(result);
    const request = {
      server: 'docs',
      uri: 'ui://docs/a',
      sha256: 'f',
      tool: 'remove',
      arguments: { server: 'other', approved: true },
    };
    expect(calls).toEqual([['helper', request], ['helper', { ...request, approved: true }]]);
  });

  it('asks no more after three refusals in a row', async () => {
    const { host, question } = hostOf(() => Promise.resolve({ ok: false, error, question: 'Call it' }));
    for (let i = 0; i < 3; i++) {
      const opened = host.openLink('https://a.example');
      await vi.waitFor(() => expect(question.value).toBeDefined());
      question.value?.answer(false);
      expect(await opened).toBe(false);
    }
    expect(await host.openLink('https://a.example')).toBe(false);
    expect(await host.callTool('remove', {})).toMatchObject({ isError: true });
    expect(question.value).toBeUndefined();
  });

  it.each([
    'http://a.example',
    'javascript:alert(1)',
    'https://u:p@a.example',
    'no address',
    `https://a.example/${'x'.repeat(2048)}`,
  ])('opens no %s', async (url) => {
    const { host, question } = hostOf(() => Promise.reject(new Error('no')));
    expect(await host.openLink(url)).toBe(false);
    expect(question.value).toBeUndefined();
  });

  it('says why a call failed, without the text of an unknown error', async () => {
    const known = hostOf(() => Promise.reject(new PinnaceError('forbidden', 'Cannot call the tool')));
    expect(await known.host.callTool('a', {})).toEqual({
      content: [{ type: 'text', text: 'Cannot call the tool' }],
      isError: true,
    });
    const unknown = hostOf(() => Promise.reject(new Error('secret')));
    expect(await unknown.host.callTool('a', {})).toEqual({
      content: [{ type: 'text', text: 'The call failed' }],
      isError: true,
    });
  });

  it('writes into an empty composer only, and never over words that a person is about to send', () => {
    const { host, draft } = hostOf(() => Promise.reject(new Error('no')));
    expect(host.writeMessage('One')).toBe(true);
    expect(host.writeMessage('Two')).toBe(false);
    expect(draft.value).toBe('One');
    draft.value = '';
    expect(host.writeMessage('Tides\u202e of\u{e0041}\u{e0042} today')).toBe(true);
    expect(draft.value).toBe('Tides of today');
    draft.value = '';
    expect(host.writeMessage('\u200b\u{e0041}')).toBe(false);
    expect(host.writeMessage('x'.repeat(8193))).toBe(false);
  });
});
