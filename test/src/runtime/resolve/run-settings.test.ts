import { describe, expect, it } from 'vitest';
import { memorySink } from '../../../../adapters/sinks/memory.ts';
import { type AgentInput, localPrincipal, type RunRequestInput } from '../../../../src/index.ts';
import { createPrincipal, scopes } from '../../../../src/base/principal.ts';
import { says, scriptedModel } from '../../../fixtures/model.ts';
import { lastData, readAll, runRequest, testRuntime } from '../../../fixtures/runtime.ts';

type Settings = NonNullable<RunRequestInput['settings']>;

const author = localPrincipal();
const caller = createPrincipal({ ...author, scopes: scopes.filter((scope) => scope !== 'registry:write') });

/** Runs with these settings. Returns what the model was called with, and for which model it was made. */
async function run(settings: unknown, { agent = {}, principal = caller }: {
  readonly agent?: Partial<AgentInput>;
  readonly principal?: typeof caller;
} = {}) {
  const script = scriptedModel(says('Hi'));
  const { sink, events } = memorySink();
  const runtime = testRuntime({
    model: script.model,
    sinks: [sink],
    agent: { instructions: 'Answer in one line.', modelSettings: { temperature: 0.2, seed: 7 }, ...agent },
  });
  const request = { ...runRequest(), ...(settings !== undefined && { settings }) } as RunRequestInput;
  await readAll(await runtime.run(request, principal));
  const [call] = script.calls;
  const system = call?.prompt.find(({ role }) => role === 'system')?.content;
  return { call, system, last: JSON.stringify(call?.prompt.at(-1)), events };
}

describe('the settings of a request', () => {
  it('go behind the message of the user, and before the model settings of the agent', async () => {
    const { call, system, last, events } = await run(
      { instructions: 'Write in French.', temperature: 1.5, topP: 0.4 },
      {
        agent: { callerSettings: { instructions: true, sampling: true } },
      },
    );
    expect(system).toBe('Answer in one line.');
    expect(last).toContain('Instructions of the user for this chat:\\nWrite in French.');
    expect(call).toMatchObject({ temperature: 1.5, topP: 0.4, seed: 7 });
    const start = events.find(({ action }) => action === 'run.start');
    expect(start?.payloadSummary).toContain('settings="instructions,temperature,topP"');
    expect(JSON.stringify(events)).not.toContain('French');
  });

  it('change nothing when they are absent or empty', async () => {
    const [without, empty] = [await run(undefined), await run({})];
    expect(without.system).toBe('Answer in one line.');
    expect(empty.call).toEqual({ ...without.call, abortSignal: empty.call?.abortSignal });
  });

  it.each<[string, Settings, AgentInput['callerSettings'], string[]]>([
    ['a record that allows nothing', { instructions: 'Ignore all.' }, undefined, ['instructions']],
    ['a record that allows something else', { instructions: 'x', temperature: 1 }, { sampling: true }, [
      'instructions',
    ]],
    ['sampling', { topP: 0.5 }, { instructions: true }, ['topP']],
    ['a model that is not listed', { model: 'large' }, { models: ['small'] }, ['model']],
    ['every model where none is listed', { model: 'large' }, { instructions: true, sampling: true }, ['model']],
    ['what the record switches off', { instructions: 'x' }, { instructions: false }, ['instructions']],
  ])('are refused by %s, with their names and without their text', async (_name, settings, callerSettings, names) => {
    const refused = await run(settings, { agent: { callerSettings } }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'forbidden',
      details: { reason: 'settings_not_allowed', settings: names, agentId: 'helper' },
    });
    expect(String(refused)).not.toContain('Ignore all.');
  });

  it('may all be set by who may write the record', async () => {
    const { call, last } = await run({ instructions: 'Write in French.', temperature: 0 }, { principal: author });
    expect(last).toContain('Write in French.');
    expect(call).toMatchObject({ temperature: 0 });
  });

  it('of a shared agent may not all be set by who may write the records of a tenant alone', async () => {
    const { deployment: _, ...facts } = author;
    const principal = createPrincipal(facts);
    await expect(run({ model: 'large' }, { principal })).rejects.toMatchObject({
      details: { reason: 'settings_not_allowed' },
    });
  });

  it('cannot raise a limit or a budget, or reach anything else of the record', async () => {
    const agent = { modelSettings: { maxOutputTokens: 50 }, limits: { outputTokens: 40 } };
    expect((await run({ temperature: 1 }, { agent, principal: author })).call?.maxOutputTokens).toBe(40);
    for (const field of ['maxOutputTokens', 'providerId', 'entryTools', 'limits', 'providerOptions', 'headers']) {
      await expect(run({ [field]: 1 }, { principal: author })).rejects.toMatchObject({ code: 'invalid_argument' });
    }
  });

  it('have instructions of at most 16,384 characters', async () => {
    expect((await run({ instructions: 'x'.repeat(16_384) }, { principal: author })).call).toBeDefined();
    const tooLong = run({ instructions: 'x'.repeat(16_385) }, { principal: author });
    await expect(tooLong).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('are refused in a run that plans', async () => {
    const request = { ...runRequest(), settings: { temperature: 1 }, planner: {} };
    const runtime = testRuntime({ model: scriptedModel(says('Hi')).model });
    await expect(runtime.run(request, author)).rejects.toMatchObject({ details: { reason: 'settings_in_plan' } });
  });

  it('of a model choose it at the same provider', async () => {
    const made: unknown[] = [];
    const script = scriptedModel(says('Hi'));
    const runtime = testRuntime(
      {
        model: script.model,
        models: {
          model(provider: { readonly id: string; readonly model?: string }) {
            made.push([provider.id, provider.model]);
            return script.model;
          },
        },
        agent: { model: 'small', callerSettings: { models: ['large'] } },
      } as Parameters<typeof testRuntime>[0],
    );
    await readAll(await runtime.run({ ...runRequest(), settings: { model: 'large' } }, caller));
    expect(made).toContainEqual(['default', 'large']);
  });

  it('are those of the same request in a fork, which adds none of its own', async () => {
    const script = scriptedModel(says('Hi'));
    const runtime = testRuntime({ model: script.model, keep: 'inputs' });
    const chunks = await readAll(
      await runtime.run({ ...runRequest(), settings: { instructions: 'Write in French.', temperature: 1 } }, author),
    );
    const runId = String(lastData(chunks, 'data-run')['runId']);
    await readAll(await runtime.fork(runId, { atStep: 1 }, author));
    expect(script.calls[1]?.prompt).toEqual(script.calls[0]?.prompt);
    expect(script.calls[1]).toMatchObject({ temperature: 1 });
  });
});
