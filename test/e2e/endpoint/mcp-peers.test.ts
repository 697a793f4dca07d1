import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../../adapters/transport/client.ts';
import { askLegacy, askModern } from '../../fixtures/mcp/mcp-host.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';
import { type CommandResult, runCommand } from '../../tools/run-command.ts';

let endpoint: EndpointProcess;

beforeAll(async () => {
  endpoint = await startEndpoint({
    env: { PINNACE_EXTENSION: 'test/fixtures/mcp/conformance-tools.ts' },
    permissions: ['--allow-read'],
  });
}, 60_000);
afterAll(async () => {
  await endpoint.stop();
});

describe('a client that leaves in the middle of a call', () => {
  it.each([['legacy', askLegacy], ['modern', askModern]])('stops the tool (%s era)', async (_, askOf) => {
    const client = createClient({ url: endpoint.url, credentials: { bearer: endpoint.token } });
    const events = await client.events({ action: 'tool.call', target: 'test_endless' });
    const leave = new AbortController();
    const ask = askOf((request) => fetch(request), `${endpoint.url}/mcp`);
    const headers = { authorization: `Bearer ${endpoint.token}` };
    const params = { name: 'test_endless', arguments: {} };
    // It starts while the call is only known to be running: then the server notices that its reader leaves.
    const { status } = await ask('tools/call', params, { headers, signal: leave.signal });
    expect(status).toBe(200);
    leave.abort();
    const states: string[] = [];
    for await (const item of events) {
      if (item.type === 'event') states.push(item.event.status);
      if (states.length === 2) break;
    }
    expect(states).toEqual(['pending', 'cancelled']);
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
