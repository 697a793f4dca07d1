/** Requests over a port, with errors as data and cancellation. */

import { type ErrorData, fromData, PinnaceError, toData } from '../../src/base/errors.ts';

type Asked =
  | { readonly type: 'request'; readonly id: number; readonly method: string; readonly params: unknown }
  | { readonly type: 'cancel'; readonly id: number };
type Said =
  | { readonly type: 'value'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorData }
  | { readonly type: 'changed' };

export type Handlers = Readonly<
  Record<string, (params: unknown, options: { readonly signal: AbortSignal }) => Promise<unknown>>
>;

export interface PortServer {
  changed(): void;
  close(): void;
}

export interface PortCaller {
  /**
   * Rejects with the error of the other end, the reason of the signal, or `unavailable`: `page_gone` when the port closes during the
   * request, `no_page` when it was closed before.
   */
  request(method: string, params: unknown, options?: { readonly signal?: AbortSignal }): Promise<unknown>;
  close(): void;
}

export function answerPort(port: MessagePort, handlers: Handlers): PortServer {
  const running = new Map<number, AbortController>();
  const say = (message: Said): void => port.postMessage(message);

  async function answer(id: number, method: string, params: unknown): Promise<void> {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
      if (!handler) throw new PinnaceError('not_found', 'Cannot answer over the port: the request is unknown');
      say({ type: 'value', id, value: await handler(params, { signal: abort.signal }) });
    } catch (error) {
      say({ type: 'error', id, error: toData(error) });
    } finally {
      running.delete(id);
    }
  }

  const close = (): void => {
    for (const abort of running.values()) abort.abort();
    port.close();
  };
  port.addEventListener('message', ({ data }: MessageEvent<Asked>) => {
    if (data.type === 'request') void answer(data.id, data.method, data.params);
    else running.get(data.id)?.abort();
  });
  port.addEventListener('close', close);
  port.start();
  return { changed: () => say({ type: 'changed' }), close };
}

/** Asks over the port. `onChanged` is called when the other end reports that its list has changed. */
export function callPort(port: MessagePort, { onChanged }: { readonly onChanged?: () => void } = {}): PortCaller {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let latest = 0;
  let isClosed = false;
  const close = (): void => {
    isClosed = true;
    for (const { reject } of waiting.values()) reject(pageGone());
    waiting.clear();
    port.close();
  };
  port.addEventListener('message', ({ data }: MessageEvent<Said>) => {
    if (data.type === 'changed') return onChanged?.();
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.type === 'value') call?.resolve(data.value);
    else call?.reject(fromData(data.error));
  });
  port.addEventListener('close', close);
  port.start();
  return {
    close,
    async request(method, params, { signal } = {}) {
      signal?.throwIfAborted();
      if (isClosed) throw noPage();
      const id = ++latest;
      const call = Promise.withResolvers<unknown>();
      const onAbort = (): void => {
        waiting.delete(id);
        port.postMessage({ type: 'cancel', id } satisfies Asked);
        call.reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      waiting.set(id, call);
      port.postMessage({ type: 'request', id, method, params } satisfies Asked);
      try {
        return await call.promise;
      } finally {
        signal?.removeEventListener('abort', onAbort);
      }
    },
  };
}

/** Nothing was sent: there is no page. */
export function noPage(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot reach the page: it is closed, or was never connected', {
    details: { reason: 'no_page' },
  });
}

/** The page that had the other end was closed during the request. */
function pageGone(): PinnaceError {
  return new PinnaceError('unavailable', 'The page was closed before it answered', {
    details: { reason: 'page_gone' },
  });
}
