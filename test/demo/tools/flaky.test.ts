import { describe, expect, it } from 'vitest';
import { flakySecret, flakyTool } from '../../../demo/tools/flaky.ts';
import { createPrincipal, defaultLimits, localPrincipal } from '../../../src/index.ts';
import { outcomeOf } from '../../fixtures/tools/tool-call.ts';

const well = { mode: 'ok', text: 'All is well' };

describe('flaky', () => {
  it('answers on request', async () => {
    expect(await outcomeOf(flakyTool(), { mode: 'ok' })).toEqual(well);
  });

  it('fails with a secret that stays hidden', async () => {
    const error = await outcomeOf(flakyTool(), { mode: 'secret_error' });
    expect(error).toMatchObject({ code: 'internal', message: 'Tool "flaky" failed' });
    expect(JSON.stringify(error)).not.toContain(flakySecret);
  });

  it('answers with more than any run takes', async () => {
    const { toolOutputLength: maxOutputLength } = defaultLimits;
    expect(await outcomeOf(flakyTool(), { mode: 'huge' }, { maxOutputLength })).toMatchObject({
      code: 'budget_exceeded',
      details: { reason: 'output_too_large' },
    });
  });

  it('answers with what is not JSON', async () => {
    const error = await outcomeOf(flakyTool(), { mode: 'not_json' });
    expect(error).toMatchObject({ code: 'internal', details: { reason: 'output_not_json' } });
  });

  it('answers late', async () => {
    expect(await outcomeOf(flakyTool({ slowMs: 1 }), { mode: 'slow' })).toMatchObject({
      text: 'All is well, 1 ms late',
    });
  });

  it('is too late for the time of a call', async () => {
    expect(await outcomeOf(flakyTool(), { mode: 'slow' }, { timeoutMs: 5 })).toMatchObject({
      code: 'deadline_exceeded',
    });
  });

  it('fails always where no number is given', async () => {
    const tool = flakyTool();
    for (let i = 0; i < 3; i++) expect(await outcomeOf(tool, { mode: 'error' })).toMatchObject({ code: 'unavailable' });
  });

  it('fails so many times and then answers, again and again', async () => {
    const tool = flakyTool();
    const codes: unknown[] = [];
    for (let i = 0; i < 6; i++) codes.push((await outcomeOf(tool, { mode: 'error', times: 2 }))['code'] ?? 'ok');
    expect(codes).toEqual(['unavailable', 'unavailable', 'ok', 'unavailable', 'unavailable', 'ok']);
  });

  it('counts the failures of each tenant for itself', async () => {
    const tool = flakyTool();
    const principal = createPrincipal({ ...localPrincipal(), tenant: 'other' });
    const input = { mode: 'error', times: 1 };
    expect(await outcomeOf(tool, input)).toMatchObject({ code: 'unavailable' });
    expect(await outcomeOf(tool, input, { principal })).toMatchObject({ code: 'unavailable' });
    expect(await outcomeOf(tool, input)).toEqual(well);
  });

  it.each([{}, { mode: 'explode' }, { mode: 'error', times: 0 }, { mode: 'error', times: 101 }])(
    'refuses the input %j',
    async (input) => {
      expect(await outcomeOf(flakyTool(), input)).toMatchObject({ code: 'invalid_argument' });
    },
  );

  it('says what it is', () => {
    expect(flakyTool().definition.description).toContain('Fails on purpose');
  });
});
