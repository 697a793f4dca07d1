/** News of commits to PostgreSQL: by notifications, and by polling while none arrive. */

import type { Sql } from 'postgres';
import { waitAtMost } from '../../src/base/until-aborted.ts';
import type { Watchable } from '../../src/contracts/storage.ts';
import { createNews, type News } from './news.ts';
import { openListener, type PostgresClients } from './postgres-client.ts';

/** Where news come from. */
export interface PostgresNewsOptions {
  readonly clients: PostgresClients;
  readonly channel: string;
  readonly onFailed: (cause: unknown) => void;
  readonly pollMs: number;
}

export interface PostgresNews {
  watch(hashes: readonly number[], options: Parameters<Watchable['watch']>[1]): void;
  /** Tells the watchers of these hashes, here at once and elsewhere within {@link spacingMs}. */
  announce(hashes: ReadonlySet<number>): void;
  close(closeMs: number): Promise<void>;
}

/** A notification that only this instance waits for. */
const probePrefix = 'probe ';
/** The commits of so many milliseconds are announced by one notification. */
const spacingMs = 20;
/** A notification takes 8,000 bytes. With more hashes it says that anything may have changed. */
const mostHashes = 600;
const anything = '*';

/** After so many polls the next probe is sent, or a silent listener is replaced. */
const pollsPerProbe = 20;
const pollsPerListener = 10;

/**
 * Creates news. A pooler may accept `LISTEN` and never deliver, and a connection may be dead without an error, so a probe goes
 * through the database every now and then: until it arrives, all watchers are notified at every poll.
 */
export function createPostgresNews({ clients, channel, onFailed, pollMs }: PostgresNewsOptions): PostgresNews {
  const news = createNews();
  const own = `by:${crypto.randomUUID()}`; // its own watchers know already; instances of version 0.2 ignore it
  let listener: Sql | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  let isClosed = false;
  let awaited: string | undefined;
  let [sincePoll, unheard] = [0, 0];
  const outbox = createOutbox();
  const notify = (text: string): void => outbox.add(notifyBy(listener ??= openListener(clients), channel, text));
  const sender = createSender((hashes) => notify([own, ...hashes.size > mostHashes ? [anything] : hashes].join(' ')));
  const probe = (): void => {
    sincePoll = 0;
    awaited = probePrefix + crypto.randomUUID();
    notify(awaited);
  };
  const onText = (text: string): void => {
    if (text === awaited) [awaited, unheard] = [undefined, 0];
    if (!text.startsWith(probePrefix) && !text.startsWith(own)) emitText(news, text);
  };
  const listen = (): void => {
    listener ??= openListener(clients);
    // Before it listened, and while the connection was lost, anything may have come. The client listens again by itself.
    void listener.listen(channel, onText, () => (news.emitAll(), probe())).catch((cause: unknown) =>
      isClosed || onFailed(cause)
    );
  };
  const replaceListener = (): void => {
    void listener?.end({ timeout: 0 });
    listener = undefined;
    listen();
  };
  const poll = (): void => {
    sincePoll += 1;
    if (awaited === undefined) return sincePoll >= pollsPerProbe ? probe() : undefined;
    news.emitAll();
    return ++unheard % pollsPerListener === 0 && !clients.given ? replaceListener() : probe();
  };
  return {
    watch(hashes, options) {
      news.watch(hashes.map(String), options);
      if (timer !== undefined || isClosed) return;
      awaited = probePrefix; // nothing has arrived yet
      timer = setInterval(poll, pollMs);
      listen();
    },
    announce(hashes) {
      news.emit([...hashes].map(String));
      if (!isClosed) sender.add(hashes);
    },
    async close(closeMs) {
      isClosed = true;
      clearInterval(timer);
      sender.close();
      // A query that still waits for the connection when the client ends (Postgres.js 3.4.9) opens another one, which never ends.
      await waitAtMost(closeMs, outbox.sent());
      await listener?.end({ timeout: closeMs / 1000 });
    },
  };
}

function emitText(news: News, text: string): void {
  const hashes = text.split(' '); // version 0.2 sends hashes alone
  if (hashes[1] === anything) news.emitAll();
  else news.emit(hashes);
}

/** The notifications that are being sent. */
function createOutbox() {
  const underWay = new Set<Promise<void>>();
  return {
    add(work: Promise<void>): void {
      underWay.add(work);
      void work.then(() => underWay.delete(work));
    },
    sent: (): Promise<unknown> => Promise.all(underWay),
  };
}

/** In a transaction of its own that waits for no disk: a commit that notified would hold up all others. */
async function notifyBy(sql: Sql, channel: string, text: string): Promise<void> {
  await sql`select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, ${text})`
    .catch(() => undefined); // out of reach: others poll, and a probe is sent until it arrives
}

/** Collects hashes and sends them together: the first at once, those that come soon after it in one text later. */
function createSender(send: (hashes: ReadonlySet<number>) => void) {
  let waiting = new Set<number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    if (waiting.size === 0) return;
    send(waiting);
    waiting = new Set();
    timer = setTimeout(flush, spacingMs);
  };
  return {
    add(hashes: ReadonlySet<number>): void {
      for (const hash of hashes) waiting.add(hash);
      if (timer === undefined) flush();
    },
    close(): void {
      clearTimeout(timer);
      if (waiting.size > 0) send(waiting);
      waiting = new Set();
    },
  };
}
