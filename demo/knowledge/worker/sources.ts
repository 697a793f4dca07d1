/** The data sources of the knowledge: parts of documents by their words and by their likeness, code by its symbols and words. */

import { type CodeSource, codeSource, type OpenTree } from '../../../adapters/grounding/code-repo.ts';
import { hashedEmbedder } from '../../../adapters/grounding/hashed-embedder.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { createGrounding, type Grounding, type Storage } from '../../../src/index.ts';
import { descriptions, sourceIds } from './data-sources.ts';
import type { Library } from './library.ts';

export interface KnowledgeSources {
  readonly grounding: Grounding;
  /** Keeps and forgets parts of documents in both of their sources. */
  readonly filling: Grounding;
  /** Reads the code anew. */
  readonly refreshCode: (signal: AbortSignal) => Promise<void>;
}

/** Creates the sources; the code is what the library has of it. */
export function createSources(storage: Storage, library: Library): KnowledgeSources {
  const refreshMs = 0; // what another tab has just added is found
  const words = textSource({ id: sourceIds.words, storage, refreshMs });
  // The embedder is quicker than a storage.
  const likeness = vectorSource({
    id: sourceIds.likeness,
    storage,
    refreshMs,
    embedder: hashedEmbedder({ dimensions: 512 }), // half the memory of the default
    keepEmbeddings: false,
  });
  const files: CodeSource = codeSource({ id: sourceIds.code, tree: () => () => Promise.resolve(codeOf(library)) });
  const sources = [words, likeness, files];
  const of = (weights: Readonly<Record<string, number>>): Grounding =>
    createGrounding({ sources, descriptions, weights });
  const [plain, codeFirst] = [of(weightsOf(1)), of(weightsOf(2))];
  const grounding: Grounding = {
    ...plain,
    retrieve: (request, call) => (looksLikeCode(request.query ?? '') ? codeFirst : plain).retrieve(request, call),
  };
  return {
    grounding,
    filling: inBoth(grounding),
    refreshCode: (signal) => files.refresh('local', signal),
  };
}

/** The likeness is of the same documents as the words: that both find one is little more than that one does. */
function weightsOf(code: number): Readonly<Record<string, number>> {
  return { [sourceIds.words]: 1, [sourceIds.likeness]: 0.05, [sourceIds.code]: code };
}

/** Queries that look like code (names, calls, quotes, expressions) search code first. */
function looksLikeCode(query: string): boolean {
  return /[a-z][A-Z]|\w_\w|\w\(|^\s*\/.+\/|"|\b(?:sym|path|lang):/.test(query);
}

function inBoth(grounding: Grounding): Grounding {
  return {
    ...grounding,
    async remember(input, call) {
      await grounding.remember({ ...input, dataSourceId: sourceIds.likeness }, call);
      return await grounding.remember(input, call);
    },
    async forget(input, call) {
      await grounding.forget({ ...input, dataSourceId: sourceIds.likeness }, call);
      return await grounding.forget(input, call);
    },
  };
}

function codeOf(library: Library): OpenTree {
  return { repo: 'files', files: filesOf(library) };
}

async function* filesOf(library: Library): OpenTree['files'] {
  await library.ready();
  const records = library.all().filter(({ kind, state }) => kind === 'code' && state !== 'failed');
  for (const { name, size } of records.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    yield { path: name, size, read: async () => await library.content(name) ?? new Uint8Array() };
  }
}
