/** Takes the notifications of a server: changed lists, and log messages. */

import { asRecord } from '../../src/base/is-record.ts';
import type { McpLogMessage } from '../../src/contracts/mcp/mcp-connector.ts';
import type { Message } from './messages.ts';

export interface Listeners {
  readonly onToolsChanged: () => void;
  readonly onContentChanged: ((kind: 'prompts' | 'resources') => void) | undefined;
  readonly onLog: ((message: McpLogMessage) => void) | undefined;
}

const maxLogs = 100;

export function createNotices({ onToolsChanged, onContentChanged, onLog }: Listeners): (notice: Message) => void {
  let logs = 0;
  return ({ method, params }) => {
    if (method === 'notifications/tools/list_changed') onToolsChanged();
    if (method === 'notifications/prompts/list_changed') onContentChanged?.('prompts');
    if (method === 'notifications/resources/list_changed') onContentChanged?.('resources');
    if (method === 'notifications/message' && onLog && ++logs <= maxLogs) onLog(toLog(asRecord(params)));
  };
}

const levels = new Set<unknown>([
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]);

function toLog({ level, logger, data }: Readonly<Record<string, unknown>>): McpLogMessage {
  return {
    level: levels.has(level) ? String(level) : 'info',
    ...(typeof logger === 'string' && { logger: logger.slice(0, 100) }),
    data,
  };
}

/** How often a stream that broke is opened again, during one connection. */
export const maxReopens = 5;

/** Waits before the n-th time that a stream is opened again: 1, 2, 4, 8 and 16 s. Returns early when the signal aborts. */
export async function waitToReopen(times: number, signal: AbortSignal | null | undefined): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, firstWaitMs * 2 ** (times - 1));
    function done(): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
    signal?.addEventListener('abort', done, { once: true });
  });
}

const firstWaitMs = 1_000;

interface Subscription {
  readonly closed: Promise<unknown>;
}

/**
 * Keeps a subscription open until the returned function is called. A server that refuses the first is not asked again. `onGap` is
 * called after each reopening: changes may have been missed. Never rejects: lists are also compared when their comparison is old.
 */
export function keepSubscribed(open: () => Promise<Subscription>, onGap: () => void): () => void {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    for (let times = 0; times <= maxReopens; times++) {
      if (times > 0) await waitToReopen(times, stop.signal);
      if (stop.signal.aborted) return;
      const subscription = await open().catch(() => undefined);
      if (!subscription && times === 0) return;
      if (subscription && times > 0) onGap();
      await subscription?.closed;
    }
  };
  void run();
  return () => stop.abort();
}

export function reportedLists(capabilities: unknown): readonly ('tools' | 'prompts' | 'resources')[] {
  const declared = asRecord(capabilities);
  return (['tools', 'prompts', 'resources'] as const).filter((list) =>
    asRecord(declared[list])['listChanged'] === true
  );
}
