import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { recordSource } from '../../../adapters/grounding/records.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { consoleSink } from '../../../adapters/sinks/console.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createGrounding } from '../../../src/index.ts';
import { fromAiTool } from '../../../src/tools/index.ts';
import { expectMistakes, untyped } from './expect-mistakes.ts';

const storage = memoryStorage();
const agent = { id: 'helper', name: 'Helper', providerId: 'main' };
const withAgent = (more: object) => () =>
  staticCatalog({ agents: [untyped({ ...agent, ...more })], providers: [{ id: 'main', kind: 'rehearsal' }] });

expectMistakes('options that would have no effect', [
  [
    'a misspelt option of the storage',
    () => memoryStorage(untyped({ maxEntrys: 10 })),
    'Cannot create the storage: "maxEntrys" is not known here; use "maxEntries"',
  ],
  [
    'one of the console sink',
    () => consoleSink(untyped({ fromat: 'text' })),
    'Cannot create the sink: "fromat" is not known here; use "format"',
  ],
  [
    'one of the catalog',
    () => staticCatalog(untyped({ agents: [], providers: [], tool: [] })),
    'Cannot create the catalog: "tool" is not known here; use "tools"',
  ],
  [
    'one of the grounding',
    () => createGrounding(untyped({ sources: [], weight: {} })),
    'Cannot create the grounding: "weight" is not known here; use "weights"',
  ],
  [
    'one of a source of texts',
    () => textSource(untyped({ id: 'handbook', storrage: storage })),
    'Cannot create the source "handbook": "storrage" is not known here; use "storage"',
  ],
  [
    'one of another kind of source',
    () => textSource(untyped({ id: 'handbook', embedder: {} })),
    'Cannot create the source "handbook": "embedder" is not known here',
  ],
  [
    'one of a source of vectors',
    () => vectorSource(untyped({ id: 'memory', dimension: 3 })),
    'Cannot create the source "memory": "dimension" is not known here; use "dimensions"',
  ],
  [
    'one of a source of records',
    () => recordSource(untyped({ id: 'orders', list: () => [], fresh: 1 })),
    'Cannot create the source: "fresh" is not known here; use "freshMs"',
  ],
  [
    'one of the rehearsal model',
    () => rehearsal(untyped({ delay: 0 })),
    'Cannot create the rehearsal model: "delay" is not known here; use "delayMs"',
  ],
  [
    'a field of a record',
    withAgent({ entryTool: ['add'] }),
    'Cannot read agent 0: "entryTool" is not known here; use "entryTools"',
  ],
  [
    'a field within a record',
    withAgent({ limits: { maxSteps: 3 } }),
    'Cannot read agent 0: "limits.maxSteps" is not known here; use "steps"',
  ],
  [
    'a field like no other',
    withAgent({ zzzzzz: 1 }),
    'Cannot read agent 0: "zzzzzz" is not known here',
  ],
  [
    'a tool of the AI SDK without an id',
    () => fromAiTool(untyped({ description: 'Adds', inputSchema: {} }), untyped(undefined)),
    'Cannot use a tool of the AI SDK: "id" is an object; pass its id first: fromAiTool("add", tool)',
  ],
]);
