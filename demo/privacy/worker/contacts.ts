/** The hosts that the page's workers sent requests to: each worker counts its own and reports on request. */

const name = 'pinnace-contacts';
const question = 'who?';

/** What one worker has sent to one origin since it was started. */
export interface Contact {
  readonly origin: string;
  readonly requests: number;
}

interface Report {
  readonly workerId: string;
  readonly contacts: readonly Contact[];
}

/** Counts this worker's requests to other origins and reports them. Call it before the first request. */
export function reportContacts(): void {
  const workerId = crypto.randomUUID();
  const counts = new Map<string, number>();
  const send = globalThis.fetch;
  globalThis.fetch = (...args) => {
    const [input] = args;
    const url = URL.parse(input instanceof Request ? input.url : input, location.href);
    if (url && url.origin !== location.origin && /^https?:$/.test(url.protocol)) {
      counts.set(url.origin, (counts.get(url.origin) ?? 0) + 1);
    }
    return send(...args);
  };
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (data !== question) return;
    const contacts = [...counts].map(([origin, requests]) => ({ origin, requests }));
    channel.postMessage({ workerId, contacts } satisfies Report);
  });
}

/** Polls the workers of all tabs and reports the sums. Returns a function that stops it. */
export function watchContacts(onNews: (contacts: readonly Contact[]) => void, everyMs = 2000): () => void {
  const emitted = new Map<string, readonly Contact[]>();
  const channel = new BroadcastChannel(name);
  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (typeof data !== 'object' || data === null) return; // a request of another tab
    const { workerId, contacts } = data as Report; // only this file writes there
    emitted.set(workerId, contacts);
    onNews(sumsOf([...emitted.values()].flat()));
  });
  const ask = (): void => channel.postMessage(question);
  ask();
  const timer = setInterval(ask, everyMs);
  return () => {
    clearInterval(timer);
    channel.close();
  };
}

function sumsOf(contacts: readonly Contact[]): readonly Contact[] {
  const sums = new Map<string, number>();
  for (const { origin, requests } of contacts) sums.set(origin, (sums.get(origin) ?? 0) + requests);
  return [...sums].map(([origin, requests]) => ({ origin, requests })).toSorted((a, b) => a.origin < b.origin ? -1 : 1);
}
