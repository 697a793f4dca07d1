/** News of commits to etcd: one watch for each instance. */

import { fromBase64, toBase64 } from '../../src/base/base64.ts';
import type { Watchable } from '../../src/contracts/storage.ts';
import type { EtcdClient, EtcdNotice } from './etcd-client.ts';
import { createNews } from './news.ts';

export type EtcdNews = ReturnType<typeof createEtcdNews>;

/** Commits at the same time seldom write the same one of so many keys. */
const channels = 16;
/** After two silences of this length a word is sent; after three the watch is begun anew at another node. */
const silenceMs = 1_500;
const retryMs = 100;

/** Creates news. What came while no watch was open is unknown, so that all watchers are notified when one begins. */
export function createEtcdNews(
  client: EtcdClient,
  { prefix, onFailed }: { readonly prefix: string; readonly onFailed: (cause: unknown) => void },
) {
  const news = createNews();
  const own = `by:${crypto.randomUUID()}`; // its own watchers know already
  const closed = new AbortController();
  const [first, end] = [base64(`${prefix}/n`), base64(`${prefix}/o`)];
  const putOf = (text: string): { readonly key: string; readonly value: string } => ({
    key: base64(`${prefix}/n${Math.floor(Math.random() * channels)}`),
    value: base64(`${own} ${text}`),
  });
  let following: Promise<void> | undefined;

  /** Reads one watch until it ends, or until it has been silent for too long. */
  async function listen(): Promise<void> {
    const cut = new AbortController();
    let silent = 0;
    const timer = setInterval(() => {
      silent += 1;
      if (silent > 2) cut.abort(new Error('the watch was silent'));
      else if (silent === 2) client.call('/v3/kv/put', putOf('')).catch(() => undefined); // the watch stays silent, then
    }, silenceMs);
    const onNotice = (notice: EtcdNotice): void => {
      silent = 0;
      if (notice.created) news.emitAll();
      for (const { kv } of notice.events ?? []) {
        const [by, ...hashes] = new TextDecoder().decode(fromBase64((kv?.value) ?? '')).split(' ');
        if (by !== own) news.emit(hashes);
      }
    };
    try {
      await client.watch(first, end, { signal: AbortSignal.any([closed.signal, cut.signal]), onNotice });
    } finally {
      clearInterval(timer);
    }
  }
  async function follow(): Promise<void> {
    while (!closed.signal.aborted) {
      await listen().catch((cause: unknown) => closed.signal.aborted || onFailed(cause));
      news.emitAll();
      await new Promise((resolve) => setTimeout(resolve, closed.signal.aborted ? 0 : retryMs));
    }
  }
  return {
    watch(hashes: readonly number[], options: Parameters<Watchable['watch']>[1]): void {
      news.watch(hashes.map(String), options);
      if (!closed.signal.aborted) following ??= follow();
    },
    /** What a commit writes besides its changes, so that others learn of these hashes. */
    operationOf: (hashes: readonly number[]): object => ({ requestPut: putOf(hashes.join(' ')) }),
    emit: (hashes: readonly number[]): void => news.emit(hashes.map(String)),
    async close(): Promise<void> {
      closed.abort();
      await following;
    },
  };
}

function base64(text: string): string {
  return toBase64(new TextEncoder().encode(text));
}
