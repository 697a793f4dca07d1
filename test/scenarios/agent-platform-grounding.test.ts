import { describe, expect, it } from 'vitest';
import { recordSource } from '../../adapters/grounding/records.ts';
import { textSource } from '../../adapters/grounding/text.ts';
import { createGrounding } from '../../src/index.ts';
import { neverAborted } from '../fixtures/grounding.ts';
import { callsTools, says, scriptedModel } from '../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../fixtures/runtime.ts';
import { localPrincipal } from '../../src/index.ts';

describe('Memory and Grounding Interface', () => {
  it('检索上下文注入', async () => {
    const handbook = textSource({ id: 'handbook' });
    const items = [
      { id: 'trips', text: 'Trips over 500 euros are approved by the head of finance.', uri: 'handbook/trips.md' },
      { id: 'leave', text: 'Leave is asked for two weeks ahead.', uri: 'handbook/leave.md' },
    ];
    await handbook.remember({ tenant: 'local', items }, neverAborted());
    const people = recordSource({
      id: 'people',
      list: () => [{ id: 'p1', name: 'Mia Wolf', role: 'head of finance' }],
    });
    const grounding = createGrounding({ sources: [handbook, people] });
    const { model, calls } = scriptedModel(
      callsTools({
        tool: 'retrieve',
        input: { query: 'who approves trips, head of finance', dataSourceIds: ['handbook', 'people'], topK: 2 },
      }),
      says('Mia Wolf approves it [1] [2].'),
    );
    const runtime = testRuntime({ model, grounding, agent: { dataSources: ['handbook', 'people'], entryTools: [] } });
    const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));

    const output = chunks.find(({ type }) => type === 'tool-output-available');
    expect(output).toMatchObject({
      output: {
        untrusted: true,
        fused: true,
        citations: expect.arrayContaining([
          expect.objectContaining({ id: 'trips', uri: 'handbook/trips.md' }),
          expect.objectContaining({ id: 'p1', dataSourceId: 'people' }),
        ]),
        sources: [{ dataSourceId: 'handbook', status: 'ok' }, { dataSourceId: 'people', status: 'ok' }],
      },
    });
    expect(lastData(chunks, 'data-sources')).toMatchObject({
      sources: expect.arrayContaining([
        expect.objectContaining({
          id: 'trips',
          dataSourceId: 'handbook',
          uri: 'handbook/trips.md',
          confidence: expect.any(Number),
          contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        }),
      ]),
    });
    const context = JSON.stringify(calls[1]?.prompt.filter(({ role }) => role !== 'system'));
    expect(context).toContain('Trips over 500 euros');
    expect(context).toContain('Mia Wolf');
    expect(context).toContain('conf=');
    expect(JSON.stringify(calls[1]?.prompt.filter(({ role }) => role === 'system'))).not.toContain('Mia Wolf');
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
  });
});
