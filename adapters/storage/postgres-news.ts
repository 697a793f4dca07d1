/** News of commits to PostgreSQL: by notifications, and by polling while none arrive. */

import type { Sql } from 'postgres';
import type { Watchable } from '../../src/contracts/storage.ts';
import { createNews } from './news.ts';
import { openListener, type PostgresClients } from './postgres-client.ts';

/** Where news come from. */
export interface PostgresNewsOptions {
  readonly clients: PostgresClients;
  readonly channel: string;
  /** Sends a notification to the channel. */
  readonly notify: (text: string) => Promise<unknown>;
  /** Receives why a listener could not listen. */
  readonly onFailed: (cause: unknown) => void;
  /** The time between two polls. */
  readonly pollMs: number;
}

/** News, as the storage offers them to its watchers. */
export interface PostgresNews {
  /** Watches the keys of these hashes. The first call starts to listen. */
  watch(hashes: readonly number[], options: Parameters<Watchable['watch']>[1]): void;
  close(closeMs: number): Promise<void>;
}

/** A notification that only this instance waits for. */
const probePrefix = 'probe ';
/** After so many polls the next probe is sent, or a silent listener is replaced. */
const pollsPerProbe = 20;
const pollsPerListener = 10;

/**
 * Creates news. A pooler may accept `LISTEN` and never deliver, and a connection may be dead without an error, so a probe goes
 * through the database every now and then: until it arrives, all watchers are notified at every poll.
 */
export function createPostgresNews({ clients, channel, notify, onFailed, pollMs }: PostgresNewsOptions): PostgresNews {
  const news = createNews();
  let listener: Sql | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isClosed = false;
  let awaited: string | undefined;
  let [sincePoll, unheard] = [0, 0];

  const probe = (): void => {
    sincePoll = 0;
    awaited = probePrefix + crypto.randomUUID();
    void notify(awaited).catch(() => undefined); // out of reach: polled until it arrives
  };
  const onText = (text: string): void => {
    if (text === awaited) [awaited, unheard] = [undefined, 0];
    else if (!text.startsWith(probePrefix)) news.emit(text.split(' '));
  };
  const listen = (): void => {
    listener = openListener(clients);
    // Before it listened, and while the connection was lost, anything may have come. The client listens again by itself.
    const onListen = (): void => (news.emitAll(), probe());
    void listener.listen(channel, onText, onListen).catch((cause: unknown) => isClosed || onFailed(cause));
  };
  const replaceListener = (): void => {
    if (clients.given) return;
    void listener?.end({ timeout: 0 });
    listen();
  };
  const poll = (): void => {
    sincePoll += 1;
    if (awaited === undefined) return sincePoll >= pollsPerProbe ? probe() : undefined;
    news.emitAll();
    unheard += 1;
    if (unheard % pollsPerListener === 0) replaceListener();
    else probe();
  };
  return {
    watch(hashes, options) {
      news.watch(hashes.map(String), options);
      if (timer !== undefined || isClosed) return;
      awaited = probePrefix; // nothing has arrived yet
      timer = setInterval(poll, pollMs);
      listen();
    },
    async close(closeMs) {
      isClosed = true;
      clearInterval(timer);
      await listener?.end({ timeout: closeMs / 1000 });
    },
  };
}
