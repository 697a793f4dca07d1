import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRuntime, defineTool, type Egress, localPrincipal } from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { readAll, runRequest } from '../../fixtures/runtime.ts';

const canary = 'canary-4f9aZ_q-77Kd0Lm2';
const providerKey = 'sk-provider-Zx81_kkPq00';
const hex = (text: string) => new TextEncoder().encode(text).toHex();

/** How a hostile server or a careless tool may write a secret down. */
const encodings: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  json: (text) => JSON.stringify({ deep: { key: text } }),
  'json twice': (text) => JSON.stringify(JSON.stringify(text)),
  url: (text) => encodeURIComponent(text),
  base64: (text) => btoa(text),
  'base64, shifted': (text) => btoa(`x${text}`),
  hex,
  'hex, upper': (text) => hex(text).toUpperCase(),
};

/** Forms that must be nowhere; of base64 the middle, since its ends mix with what stands beside it. */
function formsOf(secret: string): string[] {
  return [
    secret,
    encodeURIComponent(secret),
    btoa(secret).slice(0, 20),
    btoa(`x${secret}`).slice(4, 24),
    hex(secret),
    hex(secret).toUpperCase(),
  ];
}

interface Leak {
  readonly where: 'result' | 'error' | 'log' | 'body' | 'answer';
  readonly text: string;
  readonly cuts: readonly number[];
}

/** One run in which everything echoes the secrets; everything that left it, as text. */
async function runWith({ where, text, cuts }: Leak): Promise<string> {
  const careless = defineTool({
    id: 'careless',
    description: 'Says what it should not',
    input: v.object({}),
    annotations: { readOnlyHint: true },
    secrets: [{ id: 'canary' }],
    execute(_input, { log }) {
      if (where === 'log') log(text);
      if (where === 'error') throw new Error(text);
      return where === 'result' ? { said: text, [text.slice(0, 200)]: 1 } : 'nothing';
    },
  });
  const egress: Egress = { fetch: async () => new Response(text, { status: where === 'error' ? 500 : 200 }) };
  const answer = where === 'answer' ? pieces(text, cuts) : ['ok'];
  const model = scriptedModel(
    callsTools({ tool: 'careless', input: {} }, { tool: 'remote', input: {} }),
    says('It says ', ...answer),
  );
  const { sink, events } = memorySink();
  const storage = memoryStorage();
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'helper', name: 'Helper', providerId: 'default', entryTools: ['*'] }],
      providers: [{ id: 'default', kind: 'custom', secret: { id: 'provider' } }],
      tools: [{
        id: 'remote',
        name: 'remote',
        type: 'http',
        description: 'Reads',
        paramsSchema: { type: 'object' },
        secrets: [{ id: 'canary' }],
        config: {
          method: 'GET',
          origin: 'https://api.example.com',
          path: '/x',
          headers: { authorization: 'Bearer {{secret:canary}}' },
          response: { as: 'text' },
        },
      }],
    }),
    models: { model: () => model.model },
    secrets: memorySecrets({ canary, provider: providerKey }),
    tools: [careless],
    storage,
    egress,
    sinks: [sink],
  });
  const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
  const deltas = chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('');
  const kept = await storage.list({ prefix: [], limit: 1000 });
  return [
    deltas,
    ...[chunks, model.calls.map(({ prompt }) => prompt), events, kept, runtime.metrics.text()].map((part) =>
      JSON.stringify(part)
    ),
  ].join('\n');
}

function pieces(text: string, cuts: readonly number[]): string[] {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (text.length + 1)), text.length])].toSorted((a, b) => a - b);
  return at.slice(1).map((end, i) => text.slice(at[i], end));
}

describe('a run with planted secrets', () => {
  it('lets not one of them out, wherever and however they are echoed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('result', 'error', 'log', 'body', 'answer'),
        fc.constantFrom(canary, providerKey),
        fc.constantFrom(...Object.keys(encodings)),
        fc.tuple(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 })),
        fc.array(fc.nat(400), { maxLength: 12 }),
        async (where, secret, encoding, [before, after], cuts) => {
          const text = `${before} ${encodings[encoding]?.(secret)} ${after}`;
          const out = await runWith({ where, text, cuts });
          for (const form of formsOf(secret)) expect(out).not.toContain(form);
        },
      ),
      { numRuns: 400 },
    );
  }, 60_000);

  it("shows that the check bites: the bare AI SDK gives a tool's error to the next prompt", async () => {
    const model = scriptedModel(callsTools({ tool: 'careless', input: {} }), says('ok'));
    const tools = {
      careless: tool({
        description: 'Says what it should not',
        inputSchema: jsonSchema<Record<string, never>>({ type: 'object' }),
        execute: (): string => {
          throw new Error(`GET https://api.example.com?key=${canary} failed`);
        },
      }),
    };
    await streamText({ model: model.model, tools, prompt: 'x', stopWhen: isStepCount(3), onError: () => undefined })
      .consumeStream();
    expect(JSON.stringify(model.calls[1]?.prompt)).toContain(canary);
  });
});
