/** Speaks with an app in its frame (MCP Apps, 2026-01-26): JSON-RPC over a port. What an app asks for, its host decides. */

import { asRecord, isRecord } from '../../../src/base/is-record.ts';
import type { AppResult } from './app-result.ts';

/** What an app may ask of the page. */
export interface AppHost {
  /** Makes a call of the app. Never rejects. */
  readonly callTool: (name: string, input: Readonly<Record<string, unknown>>) => Promise<AppResult>;
  /** Asks the person to open an address. Returns whether it was opened. */
  readonly openLink: (url: string) => Promise<boolean>;
  /** Puts a text into the composer. Returns whether it did. */
  readonly writeMessage: (text: string) => boolean;
  /** The height that the app wants, in pixels. */
  readonly resize: (height: number) => void;
  readonly close: () => void;
}

export interface ShownCall {
  readonly tool: string;
  readonly input: unknown;
  readonly result: AppResult;
}

export interface AppBridge {
  /** Tells the app how the page looks now. */
  setContext(context: Readonly<Record<string, unknown>>): void;
  close(): void;
}

const protocolVersion = '2026-01-26';
/** The longest parameters of a message, as JSON, and the most open requests. */
const maxLength = 262_144;
const maxOpen = 8;
const errors = { invalid: -32_600, unknown: -32_601, params: -32_602, failed: -32_603, busy: -32_000 } as const;

type Params = Readonly<Record<string, unknown>>;
type Handler = (params: Params) => unknown;

/** Connects an app. It receives the call once it has said that it is ready. */
export function connectApp(
  port: MessagePort,
  { call, context, host }: { readonly call: ShownCall; readonly context: Params; readonly host: AppHost },
): AppBridge {
  let current = context;
  let isShown = false;
  const notify = (method: string, params: unknown): void => port.postMessage({ jsonrpc: '2.0', method, params });
  const { answer, fail } = responder(
    port,
    requestsOf(host, () => ({
      protocolVersion,
      hostInfo: { name: 'pinnace', version: '1' },
      hostCapabilities: { openLinks: {}, serverTools: {}, message: { text: {} } },
      hostContext: { ...current, toolInfo: { tool: { name: call.tool, inputSchema: { type: 'object' } } } },
    })),
  );
  const notifications: Readonly<Record<string, Handler>> = {
    'ui/notifications/initialized'() {
      if (isShown) return;
      isShown = true;
      notify('ui/notifications/tool-input', { arguments: isRecord(call.input) ? call.input : {} });
      notify('ui/notifications/tool-result', call.result);
    },
    'ui/notifications/size-changed': ({ height }) => {
      if (typeof height === 'number' && Number.isFinite(height)) host.resize(height);
    },
    'ui/notifications/request-teardown': () => host.close(),
  };
  port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    const { jsonrpc, id, method, params } = asRecord(data);
    if (jsonrpc !== '2.0' || typeof method !== 'string') return;
    const read = asJson(params);
    const isRequest = typeof id === 'string' || typeof id === 'number';
    if (!read) return isRequest ? fail(id, errors.invalid, 'The message is too large, or no JSON') : undefined;
    if (isRequest) return void answer(id, method, read);
    if (id === undefined && Object.hasOwn(notifications, method)) notifications[method]?.(read);
  });
  port.start();
  return {
    setContext(next) {
      current = next;
      if (isShown) notify('ui/notifications/host-context-changed', next);
    },
    close: () => port.close(),
  };
}

interface Responder {
  readonly answer: (id: string | number, method: string, params: Params) => Promise<void>;
  readonly fail: (id: string | number, code: number, message: string) => void;
}

/** Answers requests, at most {@link maxOpen} at once. */
function responder(port: MessagePort, requests: Readonly<Record<string, Handler>>): Responder {
  let open = 0;
  const fail: Responder['fail'] = (id, code, message) =>
    port.postMessage({ jsonrpc: '2.0', id, error: { code, message } });
  return {
    fail,
    async answer(id, method, params) {
      const handler = Object.hasOwn(requests, method) ? requests[method] : undefined;
      if (!handler) return fail(id, errors.unknown, 'The host does not offer this method');
      if (open >= maxOpen) return fail(id, errors.busy, 'Too many requests are open');
      open++;
      try {
        const result = await handler(params);
        if (result === undefined) fail(id, errors.params, 'The parameters are not those of this method');
        else port.postMessage({ jsonrpc: '2.0', id, result });
      } catch {
        fail(id, errors.failed, 'The host could not answer');
      } finally {
        open--;
      }
    },
  };
}

/** What an app may request. `undefined`: its parameters are wrong. */
function requestsOf(host: AppHost, initialize: () => unknown): Readonly<Record<string, Handler>> {
  return {
    'ui/initialize': initialize,
    ping: () => ({}),
    'tools/call': ({ name, arguments: input = {} }) =>
      typeof name === 'string' && isRecord(input) ? host.callTool(name, input) : undefined,
    'ui/open-link': async ({ url }) =>
      typeof url === 'string' ? await host.openLink(url) ? {} : { isError: true } : undefined,
    'ui/message': ({ content }) => {
      const text = textOf(content);
      return text === undefined ? undefined : host.writeMessage(text) ? {} : { isError: true };
    },
    'ui/request-display-mode': () => ({ mode: 'inline' }), // no app covers anything else
  };
}

function textOf(content: unknown): string | undefined {
  const blocks = Array.isArray(content) ? content : isRecord(content) ? [content] : [];
  const texts = blocks.map(asRecord).flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : []
  );
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** A copy as JSON: what a port can carry besides is nothing for a server. */
function asJson(params: unknown): Params | undefined {
  try {
    const text = JSON.stringify(params ?? {});
    if (text.length > maxLength) return undefined;
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
