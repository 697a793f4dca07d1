/** Evals of an agent in vitest. `RECORD=1` makes the cases and the tape anew; without it no model is called. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { localPrincipal } from 'pinnace';
import {
  checks,
  datasetOf,
  type EvalCase,
  evaluate,
  expectPass,
  fromJsonLines,
  recorded,
  textTape,
  toJsonLines,
} from 'pinnace/evals';
import { describe, expect, it } from 'vitest';
import { compose, models } from './helper.ts';

const file = (name: string): string => join(import.meta.dirname, name);
const subject = { createRuntime: compose };
const usual = [checks.state('completed'), checks.calls('calculator'), checks.sameCalls(), checks.budget({ steps: 3 })];

if (process.env['RECORD']) await record(['What is 6 * 7?', 'What is 19 * 21?']);
const cases = fromJsonLines<EvalCase>(await readFile(file('cases.jsonl'), 'utf8'));
const tape = textTape(await readFile(file('tape.jsonl'), 'utf8'));

describe('helper', () => {
  it.each(cases)('$id', async (one) => {
    const report = await evaluate({ cases: [one], subject, models: recorded(tape), checks: usual });
    expectPass(report); // names what did not pass
    expect(report.passed).toBe(1);
  });
});

async function record(questions: readonly string[]): Promise<void> {
  const runtime = compose();
  const runIds: string[] = [];
  for (const [i, text] of questions.entries()) {
    const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] }];
    const stream = await runtime.run({ agentId: 'helper', chat: { id: `c${i}`, messages } }, localPrincipal());
    for await (const chunk of stream) if (chunk.type === 'data-run' && !runIds[i] && chunk.id) runIds.push(chunk.id);
  }
  const recordedCases = await datasetOf(runtime, { runIds }, localPrincipal());
  const fresh = textTape();
  await evaluate({ cases: recordedCases, subject, models: recorded(fresh, { mode: 'record', models }), checks: [] });
  await writeFile(
    file('cases.jsonl'),
    toJsonLines(recordedCases.map((one, i) => ({ ...one, id: questions[i] ?? one.id }))),
  );
  await writeFile(file('tape.jsonl'), fresh.toText());
}
