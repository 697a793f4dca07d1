import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { type AgentInput, localPrincipal, type RunRequestInput } from '../../../../src/index.ts';
import { foldMessage } from '../../../../src/runtime/fold-message.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { readAll, runRequest, testRuntime, userMessage } from '../../../fixtures/runtime.ts';

/** A chat whose client keeps the messages. Returns the texts of the prompts. */
function chatOf({ agent = {}, now }: { readonly agent?: Partial<AgentInput>; readonly now?: () => number } = {}) {
  const script = scriptedModel(says('Yes'));
  const runtime = testRuntime({ model: script.model, storage: memoryStorage(), agent, ...(now && { now }) });
  const messages: ReturnType<typeof userMessage>[] = [];
  return {
    messages,
    async turn(text: string, more: Partial<RunRequestInput> = {}): Promise<string[]> {
      messages.push(userMessage(text, `u${messages.length}`));
      const chunks = await readAll(
        await runtime.run(runRequest({ chat: { id: 'c', messages: [...messages] }, ...more }), localPrincipal()),
      );
      messages.push(foldMessage(chunks, { id: `a${messages.length}`, role: 'assistant', parts: [] }));
      const prompt = script.calls.at(-1)?.prompt ?? [];
      return prompt.flatMap(({ role, content }) =>
        typeof content === 'string'
          ? [content]
          : content.flatMap((part) => 'text' in part ? [`${role}: ${part.text}`] : [])
      );
    },
  };
}

describe('what a run is given besides its chat', () => {
  it('stays before the message that it came with, and is not said twice', async () => {
    const chat = chatOf();
    const fact = (content: string) => ({
      context: [{ content, source: 'memory' }, { content: 'Metric', source: 'mcp' }],
    });
    const first = await chat.turn('One', fact('A'));
    const second = await chat.turn('Two', fact('B'));
    expect(second.slice(0, first.length)).toEqual(first);
    expect(first).toEqual([expect.stringContaining('"Metric"'), 'user: One']);
    expect(second.at(-2)).toMatch(/"content":"B"/);
    expect(second.at(-2)).not.toContain('Metric');
    expect(await chat.turn('Three', fact('B'))).toHaveLength(second.length + 2);
  });

  it('is data that the client keeps, before the steps of the answer', async () => {
    const chat = chatOf();
    await chat.turn('One', { context: [{ content: 'A' }] });
    const { parts } = chat.messages.at(-1)!;
    const at = parts.findIndex(({ type }) => type === 'data-context');
    expect(parts[at]).toMatchObject({ data: { items: [{ content: 'A' }] } });
    expect(at).toBeLessThan(parts.findIndex(({ type }) => type === 'step-start'));
  });

  it('may be ephemeral: at the end of one turn, and nowhere later', async () => {
    const chat = chatOf();
    const first = await chat.turn('One', { context: [{ content: 'Secretly', ephemeral: true }] });
    expect(first.at(-1)).toContain('Secretly');
    expect((await chat.turn('Two')).join()).not.toContain('Secretly');
    expect(JSON.stringify(chat.messages)).not.toContain('Secretly');
  });

  it('is the date of the caller, once a day', async () => {
    let now = Date.UTC(2026, 10, 26, 23, 30);
    const chat = chatOf({ agent: { facts: ['date'] }, now: () => now });
    expect((await chat.turn('One')).join()).toContain('Today is 2026-11-26');
    now += 60_000;
    expect((await chat.turn('Two')).join().match(/Today is/g)).toHaveLength(1);
    expect((await chat.turn('Three', { timeZone: 'Asia/Tokyo' })).join()).toContain('Today is 2026-11-27');
    await expect(chat.turn('Four', { timeZone: 'Nowhere' })).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('calls off a schema and settings that no longer apply', async () => {
    const chat = chatOf({ agent: { callerSettings: { instructions: true } } });
    const settings = { instructions: 'Rhyme' };
    await chat.turn('One', { settings });
    expect((await chat.turn('Two', { settings })).join().match(/Rhyme/g)).toHaveLength(1);
    expect((await chat.turn('Three')).at(-1)).toContain('no longer apply');
    expect((await chat.turn('Four')).at(-1)).toBe('user: Four');
  });
});
