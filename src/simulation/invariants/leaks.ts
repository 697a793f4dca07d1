/** Secrets and the texts of faults, which must come out nowhere. */

import type { Storage } from '../../contracts/storage.ts';
import { canary } from '../instance.ts';
import type { SentRequest } from '../records.ts';
import { valueText } from '../storage/value-text.ts';

/** Shorter values occur by chance. */
const shortestSecret = 8;

/** Returns the places where a secret or the canary comes out. */
export function leaksIn(places: Readonly<Record<string, string>>, secrets: ReadonlySet<string>): readonly string[] {
  const values = [...secrets].filter(({ length }) => length >= shortestSecret);
  return Object.entries(places).flatMap(([place, text]) => [
    ...(values.some((value) => text.includes(value)) ? [`a secret is in ${place}`] : []),
    ...(text.includes(canary) ? [`the text of a fault is in ${place}`] : []),
  ]);
}

/** Returns the text of what a client has received. */
export function textOfRequests(requests: readonly SentRequest[]): string {
  return requests.map(({ chunks, error }) => JSON.stringify(chunks) + textOfError(error)).join('\n');
}

function textOfError(error: unknown): string {
  return error instanceof Error
    ? `${error.name}: ${error.message} ${JSON.stringify(error)}`
    : JSON.stringify(error) ?? '';
}

/** Returns all that the storages hold. */
export async function textOfStorages(storages: ReadonlyMap<string, Storage>): Promise<string> {
  const texts: string[] = [];
  for (const storage of storages.values()) {
    for (let after: readonly (string | number)[] | undefined;;) {
      const entries = await storage.list({ prefix: [], limit: 1000, ...(after && { after }) });
      texts.push(...entries.map(({ key, value }) => `${valueText(key)} ${valueText(value)}`));
      const last = entries.at(-1);
      if (!last || entries.length < 1000) break;
      after = last.key;
    }
  }
  return texts.join('\n');
}
