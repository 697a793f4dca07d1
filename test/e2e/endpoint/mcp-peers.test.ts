import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { askLegacy, askModern } from '../../fixtures/mcp/mcp-host.ts';
import { startBearerProxy } from '../../tools/servers/bearer-proxy.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';
import type { TestServer } from '../../tools/servers/http-server.ts';
import { type CommandResult, runCommand } from '../../tools/run-command.ts';

let endpoint: EndpointProcess;
/** The same endpoint for clients that can send no token. */
let open: TestServer;
let folder: string;

beforeAll(async () => {
  endpoint = await startEndpoint({
    env: { PINNACE_EXTENSION: 'test/fixtures/mcp/conformance-tools.ts' },
    permissions: ['--allow-read'],
  });
  open = await startBearerProxy(endpoint);
  folder = await mkdtemp(join(tmpdir(), 'pinnace-conformance-'));
}, 60_000);
afterAll(async () => {
  await open.close();
  await endpoint.stop();
  await rm(folder, { recursive: true });
});

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** Runs all scenarios of a revision and gives the checks of each. */
async function conformance(revision: string): Promise<Map<string, readonly Check[]>> {
  const out = join(folder, revision);
  await runCommand('conformance', ['server', '--url', `${open.url}/mcp`, '--requirements', revision, '-o', out]);
  const runs = await readdir(out);
  return new Map(
    await Promise.all(runs.map(async (run) => {
      const scenario = run.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
      return [scenario, JSON.parse(await readFile(join(out, run, 'checks.json'), 'utf8')) as Check[]] as const;
    })),
  );
}

/** What every server has to pass that has tools, and neither resources nor prompts nor questions to its client. */
const everywhere = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'server-sse-multiple-streams',
  'json-schema-2020-12',
  'dns-rebinding-protection',
];

describe('the conformance suite of MCP', () => {
  it.each([
    ['2025-11-25', ['server-initialize', 'ping', 'logging-set-level', 'tools-call-with-logging']],
    ['2026-07-28', ['server-stateless', 'http-header-validation']],
  ])('finds nothing wrong with the tools of the endpoint by %s', async (revision, more) => {
    const scenarios = await conformance(revision);
    const failures = [...everywhere, ...more].flatMap((name) => {
      const checks = scenarios.get(name) ?? [{ id: name, status: 'FAILURE', errorMessage: 'The scenario did not run' }];
      return checks.filter(({ status }) => status === 'FAILURE').map(({ id, errorMessage }) =>
        `${id}: ${errorMessage}`
      );
    });
    expect(failures).toEqual([]);
  });
});

describe('a client that leaves in the middle of a call', () => {
  /** The states of all calls of the tool that have ended. */
  const ends = (): string[] =>
    endpoint.output().split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
      .filter(({ action, target }) => action === 'tool.call' && target.id === 'test_endless')
      .map(({ status }) => status).filter((status) => status !== 'pending');

  it.each([['legacy', askLegacy], ['modern', askModern]])('stops the tool (%s era)', async (_, askOf) => {
    const before = ends().length;
    const leave = new AbortController();
    const ask = askOf((request) => fetch(request), `${endpoint.url}/mcp`);
    const headers = { authorization: `Bearer ${endpoint.token}` };
    const params = { name: 'test_endless', arguments: {} };
    // It starts while the call is only known to be running: then the server notices that its reader leaves.
    const { status } = await ask('tools/call', params, { headers, signal: leave.signal });
    expect(status).toBe(200);
    leave.abort();
    await vi.waitFor(() => expect(ends().slice(before)).toEqual(['cancelled']), { timeout: 20_000 });
  });
});

const common = ['--transport', 'http', '--format', 'json', '--stored-auth-only'];

describe.each(['legacy', 'modern'])('the MCP Inspector, as a client of the %s era', (era) => {
  const inspect = (...args: readonly string[]): Promise<CommandResult> => {
    const header = ['--header', `Authorization: Bearer ${endpoint.token}`];
    return runCommand('mcp-inspector', [
      '--cli',
      `${endpoint.url}/mcp`,
      ...common,
      '--protocol-era',
      era,
      ...header,
      ...args,
    ]);
  };
  const call = (tool: string, input: unknown) =>
    inspect('--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(input));
  const textOf = ({ stdout }: CommandResult): string => {
    const { content, result = { content } } = JSON.parse(stdout);
    return result.content[0].text;
  };

  it('lists the tools', async () => {
    const { code, stdout } = await inspect('--method', 'tools/list', '--strict'); // the schemas, too
    expect(code).toBe(0);
    for (const name of ['tool_find', 'tool_load', 'tool_call', 'test_simple_text']) {
      expect(stdout).toContain(`"${name}"`);
    }
  });

  it('finds, loads and calls a tool, in three connections', async () => {
    const found = await call('tool_find', { query: 'convert units' });
    expect(JSON.parse(textOf(found)).tools[0]).toMatchObject({ name: 'convert_units', active: false });
    const { toolset } = JSON.parse(textOf(await call('tool_load', { names: ['convert_units'] })));
    const input = { value: 1, from: 'km', to: 'm' };
    const called = await call('tool_call', { toolset, name: 'convert_units', arguments: input });
    expect(called.code).toBe(0);
    expect(textOf(called)).toContain('1000');
  });

  it('reports a tool that failed', async () => {
    expect((await call('test_error_handling', {})).code).toBe(5);
  });
});

it('lets no client in without the token', async () => {
  const { code } = await runCommand('mcp-inspector', [
    '--cli',
    `${endpoint.url}/mcp`,
    ...common,
    '--method',
    'tools/list',
  ]);
  expect(code).toBe(3);
});
