import * as v from 'valibot';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { recordSource } from '../../../adapters/grounding/records.ts';
import { textSource } from '../../../adapters/grounding/text.ts';
import { vectorSource } from '../../../adapters/grounding/vector.ts';
import { rehearsal } from '../../../adapters/models/rehearsal.ts';
import { consoleSink } from '../../../adapters/sinks/console.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { postgresStorage } from '../../../adapters/storage/postgres.ts';
import { bearerAuthenticator } from '../../../adapters/transport/bearer-authenticator.ts';
import { createClient } from '../../../adapters/transport/client.ts';
import { sessionAuthenticator } from '../../../adapters/transport/session-authenticator.ts';
import { createGrounding } from '../../../src/index.ts';
import { fromAiTool } from '../../../src/tools/index.ts';
import { expectMistakes, untyped } from './expect-mistakes.ts';

const storage = memoryStorage();
const agent = { id: 'helper', name: 'Helper', providerId: 'main' };
const withAgent = (more: object) => () =>
  staticCatalog({ agents: [untyped({ ...agent, ...more })], providers: [{ id: 'main', kind: 'rehearsal' }] });

const digest = 'a'.repeat(64);
const token = { digest, tenant: 't', subject: 's', agents: '*', scopes: ['run:create'] };
const withToken = (more: object) => () => bearerAuthenticator({ tokens: [untyped({ ...token, ...more })] });
expectMistakes('callers and clients of another form', [
  [
    'a storage that connects to an address',
    () => postgresStorage(untyped({ connect: 'postgres://localhost/shop' })),
    'Cannot open the storage: "connect" must be (options) => postgres(url, { ...options })',
  ],
  [
    'a storage whose "connect" returns nothing',
    () => postgresStorage(untyped({ connect: () => undefined })),
    'Cannot use the client: it lacks the options of the storage; make it with `(options) => postgres(url, { ...options })`',
  ],
]);

const lookedUp = (found: unknown) => () =>
  sessionAuthenticator({ lookup: () => untyped(found) }).authenticate(new Request('https://a.example'));
expectMistakes('what a session stands for', [
  [
    'a name alone',
    lookedUp('ada'),
    'Cannot accept the caller: its "tenant" must be 1 to 256 characters without control characters, and not "undefined"',
  ],
  [
    'no agents',
    lookedUp({ tenant: 't', subject: 'ada', scopes: ['run:create'] }),
    'Cannot accept the caller: its "agents" must be "*" or an array of agent ids',
  ],
], 'unauthenticated');

expectMistakes('options that would have no effect', [
  [
    'an option of the client',
    () => createClient(untyped({ url: 'https://a.example', credentials: { bearer: 'x' }, agentID: 'helper' })),
    'Cannot create the client: "agentID" is not known here; use "agentId"',
  ],
  [
    'cookies that are not true',
    () => createClient(untyped({ url: 'https://a.example', credentials: { cookies: 'yes' } })),
    'Cannot create the client: "cookies" must be true',
  ],
  [
    'a field of a token',
    withToken({ expires: 5 }),
    'Cannot authenticate by token 0: "expires" is not known here; use "expiresAt"',
  ],
  [
    'every agent as a list',
    withToken({ agents: ['*'] }),
    'Cannot authenticate by token 0: "agents" lists "*", which no agent is called; for all agents pass "*" itself',
  ],
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
    'Cannot create the source "handbook": "embedder" is not known here; it takes id, shared, storage, now, refreshMs, mostTenants',
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
    'a pause that is text',
    () => rehearsal(untyped({ delayMs: '5' })),
    'Cannot create the rehearsal model: "delayMs" must be a number',
  ],
  [
    'a field of a record',
    withAgent({ entryTool: ['add'] }),
    'Cannot read agent 0: "entryTool" is not known here; use "entryTools"',
  ],
  [
    'a field within a record',
    withAgent({ limits: { maxSteps: 3 } }),
    'Cannot read agent 0: "limits.maxSteps" is not known here',
  ],
  [
    'the schema of a library in a record',
    withAgent({ output: { schema: v.object({ a: v.string() }) } }),
    'Cannot use the schema of a library for the answer: "output.schema" takes a JSON Schema, such as z.toJSONSchema(schema)',
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
