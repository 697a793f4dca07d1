/** What is measured: a run of Pinnace, the same with everything on, and the bare AI SDK, each as server-sent events. */

import { toJsonSchema } from '@valibot/to-json-schema';
import {
  createUIMessageStreamResponse,
  experimental_streamTextLowMemory as streamTextLowMemory,
  isStepCount,
  jsonSchema,
  streamText,
  tool,
  toUIMessageStream,
} from 'ai';
import * as v from 'valibot';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { storageSink } from '../../../adapters/sinks/storage.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { encodeSse } from '../../../adapters/transport/http/sse.ts';
import {
  createAudit,
  createRuntime,
  type CreateRuntimeOptions,
  defineTool,
  type LanguageModel,
  localPrincipal,
} from '../../../src/index.ts';
import { callsTools, says } from '../../fixtures/model.ts';

type Bytes = ReadableStream<Uint8Array>;

/** Something that answers a chat. */
export interface Subject {
  readonly start: (model: LanguageModel) => Bytes | Promise<Bytes>;
  /** Waits for what is written after the answer. */
  readonly settle?: () => Promise<void>;
}

export interface RecordingSubject extends Subject {
  /** Runs to the end. Returns the function that replays the run. */
  readonly record: (model: LanguageModel) => Promise<() => Promise<Bytes>>;
}

const input = v.object({ q: v.pipe(v.string(), v.minLength(1)), limit: v.optional(v.number(), 10) });
const execute = ({ q, limit }: v.InferOutput<typeof input>) => ({ q, hits: limit });
const lookup = { id: 'lookup', description: 'look something up', input, execute };
const messages = [{ id: 'm', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hello' }] }];

/** The script of three calls. */
export const calls = callsTools(...[0, 1, 2].map((i) => ({ tool: 'lookup', input: { q: `query ${i}`, limit: 5 } })));
/** The script of a hundred chunks. */
export const answer = says(...Array.from({ length: 100 }, (_, i) => `token${i} `));

const sdkTools = {
  lookup: tool({
    description: lookup.description,
    // The SDK's schema adapter with validation, as its documentation recommends.
    inputSchema: jsonSchema<v.InferOutput<typeof input>>(toJsonSchema(input, { typeMode: 'input' }) as object, {
      validate(value) {
        const result = v.safeParse(input, value);
        return result.success
          ? { success: true, value: result.output }
          : { success: false, error: new v.ValiError(result.issues) };
      },
    }),
    execute,
  }),
};

function sdk(stream: typeof streamText | typeof streamTextLowMemory): Subject {
  return {
    start(model) {
      const result = stream({ model, tools: sdkTools, prompt: 'hello', stopWhen: isStepCount(5), onError() {} });
      const response = createUIMessageStreamResponse({ stream: toUIMessageStream({ stream: result.stream }) });
      return response.body!;
    },
  };
}

export const bare: Subject = sdk(streamText);
/** The SDK's `streamText` that holds less. */
export const bareLowMemory: Subject = sdk(streamTextLowMemory);

/** A runtime in memory, as its documentation composes it. */
export function pinnace(options: Partial<CreateRuntimeOptions> = {}): RecordingSubject {
  let current: LanguageModel;
  const secret = options.secrets && { secret: { id: 'key' } };
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'a', name: 'A', providerId: 'p', entryTools: ['lookup'] }],
      providers: [{ id: 'p', kind: 'custom', ...secret }],
    }),
    models: { model: () => current },
    storage: memoryStorage(),
    tools: [defineTool(lookup)],
    ...options,
  });
  const principal = localPrincipal();
  const read = async (runId: string): Promise<Bytes> => {
    const cursor = await runtime.runs.cursor(principal, runId, 0);
    return encodeSse(cursor, { runId, keepAliveMs: 15_000, metrics: runtime.metrics });
  };
  const started = async (model: LanguageModel): Promise<string> => {
    current = model;
    return (await runtime.start({ agentId: 'a', chat: { id: 'c', messages } }, principal, {})).runId;
  };
  return {
    start: async (model) => await read(await started(model)),
    async record(model) {
      const runId = await started(model);
      const reader = (await read(runId)).getReader();
      while (!(await reader.read()).done);
      return () => read(runId);
    },
  };
}

const runsPerFlush = 10;

/** The same with a sink and an audit that store, and a secret that is redacted from everything. */
export function everythingOn(): Subject {
  const stored = storageSink({ storage: memoryStorage(), retentionMs: 600_000 });
  const secrets = memorySecrets({ key: { value: 'sk-live-0123456789abcdef', origins: ['code'] } });
  const audit = createAudit({ storage: memoryStorage(), retentionMs: 600_000 });
  let runs = 0;
  // The sink writes what has piled up when its timer fires; runs that follow each other without a pause share such a write.
  const settle = async (): Promise<void> => (++runs % runsPerFlush === 0 ? await stored.flush() : undefined);
  return { ...pinnace({ sinks: [stored.sink], audit, secrets }), settle };
}
