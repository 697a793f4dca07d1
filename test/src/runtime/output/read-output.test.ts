import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { localPrincipal, readOutput, type RunRequestInput } from '../../../../src/index.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { runRequest, testRuntime } from '../../../fixtures/runtime.ts';

const output = { schema: { type: 'object', required: ['city'] } };
const Place = v.object({ city: v.string(), since: v.pipe(v.string(), v.transform((text) => new Date(text))) });
const place = '{"city":"Oslo","since":"1048-01-01T00:00:00Z"}';

const start = (script: ReturnType<typeof scriptedModel>, request: Partial<RunRequestInput> = { output }) =>
  testRuntime({ model: script.model }).run(runRequest(request), localPrincipal());

describe('readOutput', () => {
  it('returns the answer as data', async () => {
    expect(await readOutput<{ city: string }>(await start(scriptedModel(says('{"city":"Oslo"}'))))).toEqual({
      city: 'Oslo',
    });
  });

  it('parses the answer with a schema, and has its type', async () => {
    const read = await readOutput(await start(scriptedModel(says(place))), { schema: Place });
    expectTypeOf(read).toEqualTypeOf<{ city: string; since: Date }>();
    expect(read).toEqual({ city: 'Oslo', since: new Date('1048-01-01T00:00:00Z') });
  });

  it('rejects for a run without a structured answer', async () => {
    await expect(readOutput(await start(scriptedModel(says('Oslo')), {}))).rejects.toMatchObject({
      code: 'conflict',
      retryable: false,
      details: { reason: 'output_missing', state: 'completed' },
    });
  });

  it('rejects data that does not fit the schema given', async () => {
    const stream = await start(scriptedModel(says('{"city":7}')));
    await expect(readOutput(stream, { schema: Place })).rejects.toMatchObject({
      details: { reason: 'output_invalid' },
    });
  });
});
