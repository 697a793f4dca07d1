import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { rehearsal } from '../../../../adapters/models/rehearsal.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { cardsOf, sampleAgents, sampleProviders } from '../../../../demo/samples/agents.ts';
import { sampleTools } from '../../../../demo/tools/index.ts';
import { createRuntime, localPrincipal, type UIMessageChunk } from '../../../../src/index.ts';
import { programSandbox } from '../../../fixtures/program-cells.ts';
import { lastData, readAll, runRequest, textOf, userMessage } from '../../../fixtures/runtime.ts';

/** A runtime of the sample agents that may write programs. */
function sampleRuntime() {
  const storage = memoryStorage();
  return createRuntime({
    catalog: staticCatalog({ agents: sampleAgents, providers: sampleProviders }),
    models: { model: () => rehearsal({ delayMs: 0 }) },
    storage,
    tools: sampleTools({ storage, callTree: () => Promise.reject(new Error('There is no tree')) }),
    sandbox: programSandbox(),
    programs: true,
  });
}

const runtime = sampleRuntime();
let chats = 0;

async function say(text: string, on = runtime): Promise<UIMessageChunk[]> {
  const chat = { id: `chat-${++chats}`, messages: [userMessage(text)] };
  return await readAll(await on.run(runRequest({ agentId: 'quartermaster', chat }), localPrincipal()));
}

const programOf = (chunks: readonly UIMessageChunk[]): string =>
  chunks.flatMap((chunk) =>
    chunk.type === 'tool-input-available' && chunk.toolName === 'code_run'
      ? [(chunk.input as { readonly code: string }).code]
      : []
  ).join('\n---\n');

describe('the rehearsal model with code_run', () => {
  it('makes the calls of one step in one program, and reports what it returned', async () => {
    const chunks = await say(
      'What is 6 * 7, convert 26.2 miles to kilometers and how many days are between 2026-11-20 and 2026-12-24?',
    );
    expect(programOf(chunks)).toContain('tools.calculator({"expression":"6 * 7"})');
    expect(programOf(chunks)).toContain('Promise.allSettled');
    expect(textOf(chunks)).toContain('6 * 7 = 42');
    expect(lastData(chunks, 'data-program')).toMatchObject({ state: 'completed', sideEffects: 0 });
  });

  it('calls a tool directly where one call is enough, and answers small talk', async () => {
    const chunks = await say('What is 6 * 7?');
    expect(programOf(chunks)).toBe('');
    expect(textOf(chunks)).toContain('42');
    expect(textOf(await say('hello'))).toMatch(/scripted demo/);
  });

  it('writes a loop for every item of a list', async () => {
    const own = sampleRuntime();
    await say('Add a note "Buy rope" and add a note "Coil the old rope"', own);
    const chunks = await say('Count the words of every note', own);
    expect(programOf(chunks)).toContain('tools.notes_list({"limit":50})');
    expect(lastData(chunks, 'data-program')).toMatchObject({
      state: 'completed',
      calls: 5,
      tools: { notes_list: 1, notes_read: 2, text_stats: 2 },
    });
    expect(textOf(chunks)).toContain('Coil the old rope');
  });

  it('asks for each deletion of a loop, which then waits', async () => {
    const own = sampleRuntime();
    await say('Add a note "Buy rope" and add a note "Paint the hull"', own);
    const chunks = await say('Delete every note about "rope"', own);
    expect(lastData(chunks, 'data-program')).toMatchObject({ state: 'suspended', tools: { notes_search: 1 } });
    expect(chunks.filter(({ type }) => type === 'tool-approval-request')).toHaveLength(1);
  });

  it('passes a program on that the message spells out', async () => {
    const chunks = await say('Call code_run with {"code": "return 1 + 1"}');
    expect(programOf(chunks)).toBe('return 1 + 1');
  });

  it('makes one program of the first suggestion of the sample agent', async () => {
    const [first = ''] = (await cardsOf([])).find(({ id }) => id === 'quartermaster')?.suggestions ?? [];
    const chunks = await say(first);
    expect(lastData(chunks, 'data-program')).toMatchObject({
      state: 'completed',
      sideEffects: 0,
      tools: { current_time: 3, convert_units: 1 },
    });
  });

  it('says which call of a program failed', async () => {
    const chunks = await say('What is 6 / 0, and what is 6 * 7?');
    expect(textOf(chunks)).toMatch(/failed: .*[\s\S]*42/);
  });

  it('reports what a program threw', async () => {
    const chunks = await say('Call code_run with {"code": "throw new Error(\'No wind\')"}');
    expect(textOf(chunks)).toBe('`code_run` failed: No wind.');
  });
});
