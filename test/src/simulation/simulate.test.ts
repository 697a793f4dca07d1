import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import * as v from 'valibot';
import { createRuntime, defineTool, type PlanningRuntime } from '../../../src/index.ts';
import {
  expectNoFailures,
  type Fault,
  faulty,
  portFaults,
  simulate,
  type SimulateOptions,
  type SimulationReport,
  toText,
} from '../../../src/simulation/index.ts';
import { appOver, compose, type World } from '../../fixtures/simulation/app.ts';
import { runRequest } from '../../fixtures/runtime.ts';

const app = appOver(memoryStorage);
type App = typeof app;
const named = (...names: readonly string[]): readonly Fault[] => portFaults.filter(({ name }) => names.includes(name));
/** The problems that the first seeds find. */
async function problemsWith(change: Partial<SimulateOptions<World, PlanningRuntime>>): Promise<string> {
  return toText(await simulate({ ...app, seeds: 20, maxFailures: 2, ...change }));
}

describe('the built-in checks of a simulation', () => {
  it('find a runtime that answers a repeated request anew, and so acts twice', async () => {
    const launch: App['launch'] = ({ ports, world }) => {
      const runtime = createRuntime(ports(compose(world)));
      return {
        ...runtime,
        run: (request, principal, options) =>
          runtime.run(request, principal, { ...options, idempotencyKey: undefined }),
      };
    };
    const text = await problemsWith({ launch });
    expect(text).toMatch(/without any fault/);
    expect(text).toContain('- the answer of another instance differs');
    expect(text).not.toMatch(/run_[0-9a-f]/); // ids differ from seed to seed
  });

  it('find an app that retries its tools by itself', async () => {
    const launch: App['launch'] = ({ ports, world }) => {
      const options = ports(compose(world));
      const tools = options.tools?.map((tool) =>
        'execute' in tool
          ? {
            ...tool,
            execute: async (...given: Parameters<typeof tool.execute>) => {
              try {
                return await tool.execute(...given);
              } catch {
                return await tool.execute(...given);
              }
            },
          }
          : tool
      ) ?? [];
      return createRuntime({ ...options, tools });
    };
    const text = await problemsWith({ launch, faults: named('tool loses its answer'), seeds: 6 });
    expect(text).toContain('tool.post({"to":"ada"}) is executed 2 times, not 1');
  });

  it('find a secret that comes out', async () => {
    const launch: App['launch'] = ({ ports, world }) => {
      const options = ports(compose(world));
      const { secrets } = options;
      const scope = { tenant: '', agentId: 'helper', origin: 'https://a.example' };
      void secrets?.resolve({ id: 'stamp' }, { scope, signal: new AbortController().signal }).then((secret) =>
        world.storage.commit([{ key: ['secret'], value: secret.reveal() }])
      );
      return createRuntime(options);
    };
    expect(await problemsWith({ launch })).toContain('- a secret is in a storage');
  });

  it('find the text of an error that comes out', async () => {
    const launch: App['launch'] = ({ ports, port, world }) => {
      const bank = port('bank', { pay: () => Promise.resolve('paid') });
      const look = defineTool({
        id: 'look',
        description: 'Looks',
        annotations: { readOnlyHint: true },
        input: v.object({}),
        execute: () => bank.pay().catch(String),
      });
      return createRuntime(ports(compose(world, { tools: [look] })));
    };
    const text = await problemsWith({ launch, faults: named('port broken') });
    expect(text).toContain('- the text of a fault is in the answer of a request');
    expect(text).toContain('- the text of a fault is in a prompt');
  });

  it('find an instance that does not recover', async () => {
    const launch: App['launch'] = ({ ports, world }) => {
      let isBroken = false;
      const options = ports(compose(world));
      const look = async (...given: Parameters<typeof options.catalog.agent>) => {
        if (isBroken) throw new Error('No');
        return await options.catalog.agent(...given).catch((error: unknown) => {
          isBroken = true;
          throw error;
        });
      };
      return createRuntime({ ...options, catalog: { ...options.catalog, agent: look } });
    };
    const text = await problemsWith({ launch, faults: named('catalog down'), seeds: 20 });
    expect(text).toMatch(/after the fault, requests end with: refused .*; expected: completed/);
  });

  it('find a request without an end, in virtual time', async () => {
    const drive: App['drive'] = async ({ send, phase }) => {
      await send(runRequest());
      if (phase === 'after') await new Promise(() => undefined);
    };
    expect(await problemsWith({ drive })).toContain('- "drive" does not end within 600000 ms of virtual time');
  });
});

describe('a simulation', () => {
  it('checks invariants of the app, and what its client expects', async () => {
    const text = await problemsWith({
      invariants: [
        ({ world }) => world.letters.length > 1 ? ['too many letters'] : undefined,
      ],
      drive: async ({ send }) => {
        if ((await send(runRequest())).text !== 'Something else') throw new TypeError('Unexpected answer');
      },
    });
    expect(text).toContain('- "drive" throws TypeError: Unexpected answer');
    expect(text).toContain('- too many letters');
  });

  it('reports several faults at once with as few as suffice', async () => {
    const bad: Fault = {
      name: 'breaks the letters',
      at: /^tool\.post /,
      strike: ({ go, instance }) => (instance.jump(0), go().then(go)),
    };
    const report = await simulate({
      ...app,
      seeds: 10,
      faultsAtOnce: 3,
      faults: [...named('model 429', 'storage slow', 'sink throws'), bad],
    });
    expect(report.ok).toBe(false);
    for (const { faults } of report.failures) expect(faults.map(({ fault }) => fault)).toEqual(['breaks the letters']);
  });

  it('reports progress, and is canceled between scenarios', async () => {
    const controller = new AbortController();
    const seen: number[] = [];
    const simulated = simulate({
      ...app,
      seeds: 50,
      signal: controller.signal,
      onProgress({ done, total, failures }) {
        expect([total, failures]).toEqual([50, 0]);
        seen.push(done);
        if (done === 3) controller.abort(new Error('Enough'));
      },
    });
    await expect(simulated).rejects.toThrow('Enough');
    expect(seen).toEqual([1, 2, 3]);
  });

  it.each([
    [{ seeds: 0 }, '"seeds" must be a whole number from 1, not 0'],
    [{ seeds: [] }, '"seeds" has no seed'],
    [{ seeds: [1.5] }, '"seeds" must be whole numbers, not 1.5'],
    [{ faults: [] }, '"faults" is empty'],
    [{ faults: [...named('sink throws'), ...named('sink throws')] }, 'two faults are named "sink throws"'],
    [{ faults: named('sink throws').map((fault) => ({ ...fault, at: /x/g })) }, 'must not have the flags g or y'],
    [{ driveMs: 0.5 }, '"driveMs" must be a whole number from 1, not 0.5'],
    [{ launch: undefined as never }, '"launch" must be a function'],
    [{ drive: undefined as never }, '"drive" must be a function'],
  ])('refuses the options %j', async (options, message) => {
    const simulated = simulate({ ...app, ...options });
    await expect(simulated).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(message),
    });
  });

  it('rejects when the app cannot be composed, or does something else each time', async () => {
    const broken = { ...app, launch: () => Promise.reject(new Error('No config')) };
    await expect(simulate(broken)).rejects.toThrow('No config');
    let calls = 0;
    const drive: App['drive'] = async ({ send }) => {
      for (let i = 0; i <= calls % 2; i++) await send(runRequest());
      calls += 1;
    };
    await expect(simulate({ ...app, drive })).rejects.toThrow('the app does something else each time');
  });
});

describe('a report', () => {
  const failure = { faults: [{ fault: 'f', step: 's 1' }], ended: ['completed'], problems: ['broke'] };
  const report: SimulationReport = {
    v: 1,
    ok: false,
    scenarios: 9,
    struck: 8,
    steps: 7,
    faults: 6,
    failures: [{ ...failure, seed: 3 }, { ...failure, seed: 5 }],
    isCutShort: true,
  };

  it('joins equal failures in its text, which test runners throw', () => {
    expect(toText(report)).toBe([
      'Simulation failed: 2 of 9 scenarios (9 scenarios, 6 kinds of faults at 7 steps, 8 struck). Stopped early: raise "maxFailures" to see more.',
      '',
      '- broke',
      '  fault: f, at s 1',
      '  requests ended: completed',
      '  Repeat with seeds: [3]; also seeds 5',
    ].join('\n'));
    expect(() => expectNoFailures(report)).toThrow('- broke');
    expect(() => expectNoFailures({ ...report, ok: true, failures: [] })).not.toThrow();
  });
});

describe('a faulty port', () => {
  it('makes each call a step that can be struck, and keeps the port as it is otherwise', async () => {
    const steps: string[] = [];
    const port = faulty('list', Object.freeze({ size: 2, at: async (index: number) => `item ${index}` }), (step) => {
      steps.push(step);
      return step === 'list.at 2' ? async ({ go, args }) => [args, await go()] : undefined;
    });
    expect([await port.at(5), await port.at(6), port.size]).toEqual(['item 5', [[6], 'item 6'], 2]);
    const hook = faulty('hook', (word: string) => word.length, () => undefined);
    expect(hook('four')).toBe(4);
    expect(steps).toEqual(['list.at 1', 'list.at 2']);
    expect(Object.keys({ ...port })).toEqual(['size', 'at']);
  });
});
