/** The knowledge, whose code is fetched when it is first wanted: most visits do without. */

import { loadOnce } from '../../../src/base/load-once.ts';
import type { Grounding, GroundingSource } from '../../../src/index.ts';
import type { GroundingKind } from '../../../src/contracts/index.ts';
import type { KnowledgeControl } from '../../control/knowledge-control.ts';
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
  return { grounding: groundingOf(host), control: controlOf(host) };
}

function groundingOf(host: () => Promise<KnowledgeHost>): Grounding {
  const ways = Object.keys(sourceIds) as (keyof typeof sourceIds)[]; // safe: its own keys
  return {
    descriptions,
    sources: ways.map((way) => sourceOf(host, { id: sourceIds[way], kind: kinds[way] })),
    retrieve: async (request, call) => await (await host()).grounding.retrieve(request, call),
    readable: async (call) => await (await host()).grounding.readable(call),
    remember: async (input, call) => await (await host()).grounding.remember(input, call),
    forget: async (input, call) => await (await host()).grounding.forget(input, call),
  };
}

/** A source that forwards to the loaded grounding. */
function sourceOf(
  host: () => Promise<KnowledgeHost>,
  { id, kind }: { readonly id: string; readonly kind: GroundingKind },
): GroundingSource {
  const source = async (): Promise<GroundingSource> => (await host()).grounding.sources.find((one) => one.id === id)!; // safe: the host has all of the ids
  return {
    id,
    kind,
    capabilities: { query: true, embedding: kind === 'vector', filters: [], records: false },
    retrieve: async (request, signal) => await (await source()).retrieve(request, signal),
    stats: async (tenant, signal) => await (await source()).stats(tenant, signal),
  };
}

function controlOf(host: () => Promise<KnowledgeHost>): KnowledgeControl {
  const control = async (): Promise<KnowledgeControl> => (await host()).control;
  return {
    open: async (onNews) => await (await control()).open(onNews),
    add: async (uploads) => await (await control()).add(uploads),
    addGuide: async () => await (await control()).addGuide(),
    stop: async (name) => await (await control()).stop(name),
    resume: async (name) => await (await control()).resume(name),
    remove: async (names) => await (await control()).remove(names),
    search: async (query) => await (await control()).search(query),
    content: async (name) => await (await control()).content(name),
    parts: async (wanted) => await (await control()).parts(wanted),
  };
}
