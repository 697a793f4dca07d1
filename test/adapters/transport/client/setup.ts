/** A client in front of a fake endpoint, with time in the test's hands. */

import { type Client, type ClientOptions, createClient } from '../../../../adapters/transport/client.ts';
import { PinnaceError, type ProblemCode } from '../../../../src/index.ts';
import { readAll, runRequest } from '../../../fixtures/runtime.ts';
import { createFakeEndpoint, type FakeEndpoint, type Fault, url } from './fake-endpoint.ts';

export interface Setup {
  readonly client: Client;
  readonly endpoint: FakeEndpoint;
  /** The pauses between attempts. */
  readonly pauses: number[];
}

/** A client of a fake endpoint. Pauses pass at once and move the clock; a silence lasts until the endpoint says so. */
export async function setup(
  { client: given = {}, ...options }: Parameters<typeof createFakeEndpoint>[0] & { client?: Partial<ClientOptions> } =
    {},
): Promise<Setup> {
  let time = 1_800_000_000_000;
  const now = () => time;
  const endpoint = await createFakeEndpoint({ now, ...options });
  const pauses: number[] = [];
  const silences = new Set<() => void>();
  endpoint.onSilence(() => silences.forEach((end) => end()));
  const wait = (ms: number, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (ms < 45_000) {
      pauses.push(ms);
      time += ms;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      silences.add(resolve);
      signal.addEventListener('abort', () => {
        silences.delete(resolve);
        reject(signal.reason as Error);
      });
    });
  };
  const client = createClient({
    url,
    ...endpoint.credential,
    fetch: endpoint.fetch,
    now,
    random: () => 1,
    wait,
    ...given,
  });
  return { client, endpoint, pauses };
}

export const run = async ({ client }: Setup, options?: Parameters<Client['run']>[1]) =>
  await readAll(await client.run(runRequest(), options));
/** A fault: the endpoint refuses so. */
export const refuse = (
  code: ProblemCode,
  status: number,
  more: ConstructorParameters<typeof PinnaceError>[2] = {},
): Fault => ({
  type: 'refuse',
  error: new PinnaceError(code, 'Refused', { status, ...more }),
});
/** What was asked, in order: `POST /v1/runs`. */
export const callsOf = ({ requests }: FakeEndpoint) =>
  requests.map(({ method, url: target }) => `${method} ${new URL(target).pathname}`);
/** The same so many times. */
export const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
