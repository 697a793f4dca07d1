/** Tells watchers of what was committed in this page, its workers and its other tabs. */

import { createNews, type News } from './news.ts';

/** News that reach every context of the origin. */
export interface SharedNews extends Omit<News, 'emitAll'> {
  close(): void;
}

/** Gives news over a broadcast channel of this name; where there is none, they stay in this context. */
export function createSharedNews(name: string): SharedNews {
  const here = createNews();
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : undefined;
  let open = true;
  channel?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (Array.isArray(data)) here.emit(data.filter((id) => typeof id === 'string'));
  });
  // In Node an open channel would keep the process; a browser has no such thing.
  if (channel && 'unref' in channel && typeof channel.unref === 'function') channel.unref();
  return {
    watch: (ids, options) => here.watch(ids, options),
    emit(ids) {
      here.emit(ids);
      if (open) channel?.postMessage(ids);
    },
    close() {
      open = false;
      channel?.close();
    },
  };
}
