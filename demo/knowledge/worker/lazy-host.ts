/** The knowledge, whose code is fetched when it is first wanted: most visits do without. */

import { loadOnce, onUse } from '../../../src/base/load-once.ts';
import type { GroundingSource } from '../../../src/index.ts';
import type { GroundingKind } from '../../../src/contracts/index.ts';
import { descriptions, sourceIds } from './data-sources.ts';
import type { KnowledgeHost, KnowledgeHostOptions } from './host.ts';

const kinds: Readonly<Record<keyof typeof sourceIds, GroundingKind>> = {
  words: 'search',
  likeness: 'vector',
  code: 'code',
};

/** Creates the host. A call rejects when loading fails, and the next call retries. */
export function lazyKnowledgeHost(options: KnowledgeHostOptions): KnowledgeHost {
  const host = loadOnce(async () => (await import('./host.ts')).createKnowledgeHost(options));
  const grounding = async () => (await host()).grounding;
  const control = async () => (await host()).control;
  const ways = Object.keys(sourceIds) as (keyof typeof sourceIds)[]; // safe: its own keys
  return {
    grounding: {
      descriptions,
      sources: ways.map((way) => sourceOf(host, { id: sourceIds[way], kind: kinds[way] })),
      ...onUse(grounding, 'retrieve', 'readable', 'remember', 'forget'),
    },
    control: onUse(control, 'open', 'add', 'addGuide', 'stop', 'resume', 'remove', 'search', 'content', 'parts'),
  };
}

/** A source that forwards to the loaded grounding. */
function sourceOf(
  host: () => Promise<KnowledgeHost>,
  { id, kind }: { readonly id: string; readonly kind: GroundingKind },
): GroundingSource {
  const source = async () => (await host()).grounding.sources.find((one) => one.id === id)!; // safe: the host has all of the ids
  return {
    id,
    kind,
    capabilities: { query: true, embedding: kind === 'vector', filters: [], records: false },
    ...onUse(source, 'retrieve', 'stats'),
  };
}
