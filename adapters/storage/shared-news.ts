/** Notifies watchers of commits in this page, its workers and its other tabs. */

import { createNews, type News } from './news.ts';

/** News that reach every context of the origin. */
export interface SharedNews extends Omit<News, 'emitAll'> {
  close(): void;
}

/** Creates news over a broadcast channel of this name; without one, they stay in this context. */
export function createSharedNews(name: string): SharedNews {
  const here = createNews();
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : undefined;
  let open = true;
  channel?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (Array.isArray(data)) here.emit(data.filter((id) => typeof id === 'string'));
  });
  // In Node an open channel keeps the process alive; browsers have no `unref`.
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
