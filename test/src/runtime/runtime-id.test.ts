import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../adapters/sinks/memory.ts';
import { endOf, shapeOf } from '../../../adapters/sinks/otel-spans.ts';
import { localPrincipal } from '../../../src/index.ts';
import { readSummary } from '../../../src/events/payload-summary.ts';
import { says, scriptedModel } from '../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const me = localPrincipal();

function setUp() {
  const { sink, events } = memorySink();
  return { events, runtime: testRuntime({ model: scriptedModel(says('Hi')).model, sinks: [sink] }) };
}

describe('runtimeId of a run request', () => {
  it('is in the events of the run, its span and its record', async () => {
    const { events, runtime } = setUp();
    const runtimeId = 'chat-backend/eu-1:42';
    const chunks = await readAll(await runtime.run(runRequest({ runtimeId }), me));
    const ofRun = events.filter(({ action }) => action === 'run.start' || action === 'run.end');
    expect(ofRun.map(({ payloadSummary }) => readSummary(payloadSummary)['runtimeId'])).toEqual([runtimeId, runtimeId]);
    const [start, end] = ofRun;
    expect(shapeOf(start!).name).toBe('invoke_agent helper');
    expect(endOf(end!)).toMatchObject({ 'pinnace.runtime.id': runtimeId });
    const { runId } = lastData(chunks, 'data-run') as { runId: string };
    expect(await runtime.runs.status(me, runId)).toMatchObject({ runtimeId });
  });

  it('is absent everywhere when the request has none', async () => {
    const { events, runtime } = setUp();
    await readAll(await runtime.run(runRequest(), me));
    expect(JSON.stringify(events)).not.toContain('runtimeId');
  });
});
