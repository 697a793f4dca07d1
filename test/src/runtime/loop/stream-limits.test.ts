import type { LanguageModelV4StreamPart as Part } from '@ai-sdk/provider';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { defineTool, localPrincipal, type UIMessageChunk } from '../../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime, textOf } from '../../../fixtures/runtime.ts';

const me = localPrincipal();
const save = defineTool({
  id: 'save',
  description: 'Saves a text',
  input: v.object({ text: v.string() }),
  execute: ({ text }) => text.length,
});

/** Two texts and two thoughts that take turns, one letter at a time. */
function interleaved(count: number): Part[] {
  const kinds = ['text', 'reasoning'] as const;
  const of = (kind: typeof kinds[number], id: string, type: 'start' | 'end'): Part => ({ type: `${kind}-${type}`, id });
  const blocks = kinds.flatMap((kind) => ['a', 'b'].map((id) => [kind, `${kind}-${id}`] as const));
  const deltas = Array.from({ length: count }, (_, at): Part => {
    const [kind, id] = blocks[Math.floor(at / 7) % blocks.length] ?? ['text', 'text-a'];
    return { type: `${kind}-delta`, id, delta: String(at % 10) };
  });
  const [start, ...end] = says();
  return [
    ...start ? [start] : [],
    ...blocks.map(([kind, id]) => of(kind, id, 'start')),
    ...deltas,
    ...blocks.map(([kind, id]) => of(kind, id, 'end')),
    ...end.slice(-1),
  ];
}

const deltasOf = (chunks: readonly UIMessageChunk[], id: string): string =>
  chunks.map((chunk) => 'delta' in chunk && 'id' in chunk && chunk.id === id ? chunk.delta : '').join('');

describe('what a run may say', () => {
  it('does not depend on how finely its model cuts it', async () => {
    const letters = Array.from({ length: 30_000 }, (_, at) => String.fromCodePoint(97 + at % 26));
    const storage = memoryStorage();
    const runtime = testRuntime({ ...scriptedModel(says(...letters)), storage });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    expect(textOf(chunks)).toBe(letters.join(''));
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
    expect(chunks.length).toBeLessThan(20_000); // deltas that are committed together are one
  });

  it('keeps every block and its order when deltas are merged', async () => {
    const parts = interleaved(12_000);
    const runtime = testRuntime({ ...scriptedModel(parts), storage: memoryStorage() });
    const chunks = await readAll(await runtime.run(runRequest(), me));
    for (const id of ['text-a', 'text-b', 'reasoning-a', 'reasoning-b']) {
      const said = parts.map((part) => 'delta' in part && 'id' in part && part.id === id ? part.delta : '').join('');
      expect(deltasOf(chunks, id)).toBe(said);
    }
    const runId = String(lastData(chunks, 'data-run')['runId']);
    const cursor = await runtime.runs.cursor(me, runId, 0);
    const replayed: unknown[] = [];
    for (let events = await cursor.next(); events; events = await cursor.next()) {
      replayed.push(...events.map(({ text }): unknown => JSON.parse(text)));
    }
    cursor.close();
    expect(replayed).toEqual(chunks);
  });

  it('includes a whole file as the input of a call', async () => {
    const model = scriptedModel(callsTools({ tool: 'save', input: { text: 'ä'.repeat(500_000) } }), says('Saved'));
    const chunks = await readAll(await testRuntime({ ...model, tools: [save] }).run(runRequest(), me));
    expect(chunks).toContainEqual(expect.objectContaining({ type: 'tool-output-available', output: 500_000 }));
    expect(textOf(chunks)).toBe('Saved');
  });

  it('fails a call alone whose input is longer than any may be', async () => {
    const model = scriptedModel(
      callsTools({ tool: 'save', input: { text: 'x'.repeat(1_000_001) } }),
      says('In parts, then'),
    );
    const chunks = await readAll(await testRuntime({ ...model, tools: [save] }).run(runRequest(), me));
    expect(chunks).toContainEqual(
      expect.objectContaining({
        type: 'tool-input-error',
        errorText: expect.stringContaining('send it in several calls'),
      }),
    );
    expect(lastData(chunks, 'data-run')).toMatchObject({ state: 'completed' });
  });
});
