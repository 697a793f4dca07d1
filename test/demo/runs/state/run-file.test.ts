import { describe, expect, it } from 'vitest';
import type { Prompt } from '../../../../demo/control/runs-control.ts';
import { maxFileBytes, nameOfFile, readRunFile, writeRunFile } from '../../../../demo/runs/state/run-file.ts';
import { emittedRun, runTrace } from '../../../fixtures/run-events.ts';

const events = emittedRun();
const head = {
  traceId: runTrace,
  runId: 'run_1',
  agentId: 'navigator',
  startedAt: Date.parse(events[0]?.timestamp ?? ''),
  status: 'ok' as const,
  durationMs: 1000,
  events: events.length,
  dropped: 0,
  modelCalls: 2,
  toolCalls: 2,
  tokens: 520,
  failures: 1,
};
const tools = { digest: 'd', tools: [{ id: 'calculator' }, { id: 'fetch_url', excluded: 'not_allowed' }] };
const prompts: readonly Prompt[] = [{
  spanId: 's',
  model: 'rehearsal',
  messages: [
    { role: 'system', parts: [{ type: 'text', text: 'You are Navigator' }] },
    { role: 'assistant', parts: [{ type: 'call', tool: 'calculator', toolCallId: 'c', input: { expression: '6*7' } }] },
    { role: 'tool', parts: [{ type: 'result', tool: 'calculator', toolCallId: 'c', output: 42 }] },
  ],
  tools: [{ name: 'calculator', description: 'Calculates', input: { type: 'object' } }],
  settings: { temperature: 0 },
}];

const written = { format: 'pinnace-run', version: 1, head, events, tools };
const read = (data: unknown) => readRunFile(new Blob([typeof data === 'string' ? data : JSON.stringify(data)]));

describe('a run’s file', () => {
  it('opens as it was saved', async () => {
    expect(await read(writeRunFile({ head, events, tools, prompts }))).toEqual({ head, events, tools, prompts });
    expect(await read(writeRunFile({ head, events }))).toEqual({ head, events });
  });

  it('has a name that says which run it is, and no more than a name', () => {
    expect(nameOfFile(head)).toBe('run-navigator-2026-11-20T10-00-00.json');
    expect(nameOfFile({ ...head, agentId: '../../etc/pass wd"' })).toBe(
      'run-______etc_pass_wd_-2026-11-20T10-00-00.json',
    );
  });

  it.each([
    ['nothing', '', 'it is not JSON'],
    ['no JSON', 'events: []', 'it is not JSON'],
    ['something else', { format: 'har' }, '"format" must be "pinnace-run"'],
    ['a later version', { ...written, version: 2 }, '"version" must be 1, the version that this page reads'],
    ['no events', { ...written, events: undefined }, '"events" is missing'],
    [
      'an event without a status',
      { ...written, events: [{ ...events[0], status: 'fine' }] },
      '"events.0.status" must be',
    ],
    [
      'an event at no time',
      { ...written, events: [{ ...events[0], timestamp: 'soon' }] },
      '"events.0.timestamp" must be a time',
    ],
    ['an event without end', { ...written, events: [{ ...events[0], latency: -1 }] }, '"events.0.latency" must be'],
    [
      'a time beyond all dates',
      { ...written, head: { ...head, startedAt: 1e300 } },
      '"head.startedAt" must be at most',
    ],
    ['too many events', { ...written, events: Array.from({ length: 20_001 }, () => 0) }, '"events'],
    [
      'a text without end',
      { ...written, head: { ...head, runId: 'x'.repeat(201) } },
      '"head.runId" must be at most 200 long',
    ],
    ['a key that reaches a prototype', `{"format":"pinnace-run","__proto__":{"version":1}}`, 'a key in it is reserved'],
    ['levels without end', '['.repeat(100_000), 'it is nested deeper than 64 levels'],
    [
      'a prompt of an unknown role',
      { ...written, prompts: [{ ...prompts[0], messages: [{ role: 'root', parts: [] }] }] },
      '"prompts.0.messages.0.role"',
    ],
  ])('is refused with %s in it', async (_, data, why) => {
    const thrown: unknown = await read(data).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'invalid_argument' });
    expect(String(thrown)).toContain(why);
  });

  it('is refused when it is too large, before it is read', async () => {
    const file = { size: maxFileBytes + 1, text: () => Promise.reject(new Error('It was read')) };
    await expect(readRunFile(file as unknown as Blob)).rejects.toMatchObject({ details: { reason: 'file_too_large' } });
  });

  it('loses what is not known here', async () => {
    const more = { ...written, script: 'alert(1)', head: { ...head, onclick: 'alert(1)' } };
    expect(await read(more)).toEqual({ head, events, tools });
  });
});
