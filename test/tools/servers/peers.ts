/** Vitest's global setup: starts the servers that tests call, once per project, and provides their URLs as `inject('peers')`. */

import process from 'node:process';
import { type FixtureFileEntry, LLMock } from '@copilotkit/aimock';
import type { TestProject } from 'vitest/node';
import { startCorsProxy } from './cors-proxy.ts';
import { startEverythingServer } from './everything-server.ts';
import { startFaultServer } from './fault-server.ts';
import { startReportServer } from './report-server.ts';
import { startWatchedServer } from './watched-server.ts';

/** The base URLs of the servers. */
export interface Peers {
  /** See `fault-server.ts`. A test puts a path of its own behind it, and so counts alone. */
  readonly faults: string;
  /** See {@link startAimock}. A test that counts calls sends a header `x-test-id` of its own. */
  readonly aimock: string;
  /** See `everything-server.ts`. */
  readonly everything: string;
  /** See `watched-server.ts`. A test appends its own path, so that its requests are counted separately. */
  readonly watched: string;
  /** See `report-server.ts`. */
  readonly reports: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly peers: Peers;
    /** Seeds the faults themselves; `FAULT_SEED` sets another. */
    readonly faultSeed: number;
    /** At how many steps each fault strikes: in a long run in Node at all, otherwise at a sample. */
    readonly faultSteps: number;
    /** How many faults strike each scenario but the plain one, each at one step. */
    readonly faultsPerFixture: number;
  }
}

/** Starts the servers and returns the function that closes them. */
export default async function setup({ provide, name }: TestProject): Promise<() => Promise<void>> {
  const aimock = await startAimock();
  const [faults, proxy, everything, watched, reports] = await Promise.all([
    startFaultServer(),
    startCorsProxy(aimock.url),
    startEverythingServer(),
    startWatchedServer(),
    startReportServer(),
  ]);
  provide('faultSeed', Number(process.env['FAULT_SEED'] ?? 1));
  const isLong = process.env['PINNACE_TEST'] === 'long';
  const all = 1000;
  provide('faultSteps', !name.startsWith('node') ? 1 : isLong ? all : 2);
  provide('faultsPerFixture', !name.startsWith('node') ? 6 : isLong ? all : 20);
  provide('peers', {
    faults: faults.url,
    aimock: `${proxy.url}/v1`,
    everything: everything.url,
    watched: watched.url,
    reports: reports.url,
  });
  return async () => {
    await Promise.all([faults.close(), proxy.close(), everything.close(), watched.close(), reports.close()]);
    await aimock.stop();
  };
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const twoCities = 'weather in two cities';

const fixtures: FixtureFileEntry[] = [
  { match: { userMessage: 'say hello' }, response: { content: 'Hello from the mock endpoint', usage } },
  { match: { userMessage: 'think first' }, response: { content: 'It is four', reasoning: 'Two and two', usage } },
  {
    match: { userMessage: twoCities, hasToolResult: false },
    response: {
      toolCalls: [
        { id: 'call_berlin', name: 'weather', arguments: '{"city":"Berlin"}' },
        { id: 'call_paris', name: 'weather', arguments: '{"city":"Paris"}' },
      ],
    },
  },
  { match: { userMessage: twoCities, hasToolResult: true }, response: { content: 'Both are sunny', usage } },
  {
    match: { userMessage: 'busy at first', sequenceIndex: 0 },
    response: { error: { message: 'Slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 0 },
  },
  { match: { userMessage: 'busy at first' }, response: { content: 'Free now' } },
  {
    match: { userMessage: 'break down' },
    response: { error: { message: 'Broken', type: 'server_error' }, status: 500 },
  },
];

/** Starts CopilotKit's mock of model endpoints. It answers by what the last user message contains. */
async function startAimock(): Promise<LLMock> {
  const aimock = new LLMock({ port: 0, logLevel: 'silent' });
  aimock.addFixturesFromJSON(fixtures);
  await aimock.start();
  return aimock;
}
