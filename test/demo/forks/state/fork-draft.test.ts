import { describe, expect, it } from 'vitest';
import { draftAt, type ForkDraft, readDraft } from '../../../../demo/forks/state/fork-draft.ts';
import { readSteps } from '../../../../demo/forks/state/run-steps.ts';
import type { RunInputs } from '../../../../demo/control/runs-control.ts';

const file = { type: 'file', mediaType: 'image/png', url: 'pinnace-blob:1' } as const;
const inputs: RunInputs = {
  instructions: 'Add.',
  providerId: 'default',
  message: { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'What is 1 + 2?' }, file] },
  forks: [],
};
const run = readSteps([
  { type: 'start-step' },
  { type: 'tool-input-available', toolCallId: 'n', toolName: 'add', input: {} },
  { type: 'tool-output-available', toolCallId: 'n', output: { sum: 3 } },
  { type: 'tool-input-available', toolCallId: 's', toolName: 'say', input: {} },
  { type: 'tool-output-available', toolCallId: 's', output: 'three' },
  { type: 'finish-step' },
  { type: 'start-step' },
  { type: 'text-delta', id: 't', delta: '3' },
  { type: 'finish-step' },
]);

const read = (atStep: number, change: Partial<ForkDraft>, known: RunInputs | undefined = inputs) =>
  readDraft({ ...draftAt(atStep, run, known), ...change }, run, { inputs: known, createId: () => 'new' });

describe('the form of a fork', () => {
  it('changes nothing until a field differs from the run', () => {
    expect(read(2, {})).toEqual({ ok: true, options: { atStep: 2, effects: 'dry' } });
    expect(read(1, { effects: 'live' })).toEqual({ ok: true, options: { atStep: 1, effects: 'live' } });
  });

  it('sends what was changed, and only that', () => {
    const found = read(2, { instructions: 'Subtract.', providerId: 'other', model: ' big ', message: 'Be brief' });
    expect(found).toEqual({
      ok: true,
      options: {
        atStep: 2,
        effects: 'dry',
        changes: {
          instructions: 'Subtract.',
          model: { providerId: 'other', modelId: 'big' },
          message: { id: 'new', role: 'user', parts: [{ type: 'text', text: 'Be brief' }] },
        },
      },
    });
  });

  it('replaces the first message and keeps its files', () => {
    const found = read(1, { message: 'What is 2 + 2?' });
    expect(found.ok && found.options.changes?.message).toEqual({
      id: 'm1',
      role: 'user',
      parts: [{ type: 'text', text: 'What is 2 + 2?' }, file],
    });
  });

  it('reads outputs as JSON, and as text where they were text', () => {
    const found = read(2, { outputs: { n: '{"sum": 9}', s: 'nine' } });
    expect(found.ok && found.options.changes?.toolOutputs).toEqual({ n: { sum: 9 }, s: 'nine' });
    expect(read(2, { outputs: { n: '{', s: 'three' } })).toMatchObject({
      ok: false,
      problems: { n: expect.stringContaining('JSON') },
    });
  });

  it('leaves what is unknown at an endpoint as it was, and asks for the provider of a model', () => {
    const unknown = draftAt(1, run, undefined);
    const reading = { inputs: undefined, createId: () => 'new' };
    expect(readDraft(unknown, run, reading)).toEqual({ ok: true, options: { atStep: 1, effects: 'dry' } });
    expect(readDraft({ ...unknown, model: 'big' }, run, reading)).toMatchObject({
      ok: false,
      problems: { providerId: expect.any(String) },
    });
  });
});
