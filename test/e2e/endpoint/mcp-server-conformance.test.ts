import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../tools/run-command.ts';
import { startBearerProxy } from '../../tools/servers/bearer-proxy.ts';
import { type EndpointProcess, startEndpoint } from '../../tools/servers/endpoint.ts';
import type { TestServer } from '../../tools/servers/http-server.ts';
import { type Check, faultsOf, requiredServerScenarios, runServerScenarios } from '../../tools/conformance-server.ts';

let endpoint: EndpointProcess;
/** The same endpoint for a suite that cannot send a token. */
let open: TestServer;

beforeAll(async () => {
  endpoint = await startEndpoint({ script: 'test/fixtures/mcp/conformance-endpoint.ts' });
  open = await startBearerProxy(endpoint);
}, 60_000);
afterAll(async () => {
  await open.close();
  await endpoint.stop();
});

const both = [
  'completion-complete',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'server-sse-multiple-streams',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  'dns-rebinding-protection',
];

const scenarios: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [
    ...both,
    'server-initialize',
    'logging-set-level',
    'ping',
    'tools-call-with-logging',
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'resources-subscribe',
    'resources-unsubscribe',
  ],
  '2026-07-28': [
    ...both,
    'server-stateless',
    'sep-2164-resource-not-found',
    'caching',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-sampling',
    'input-required-result-basic-list-roots',
    'input-required-result-request-state',
    'input-required-result-multiple-input-requests',
    'input-required-result-multi-round',
    'input-required-result-missing-input-response',
    'input-required-result-non-tool-request',
    'input-required-result-result-type',
    'input-required-result-unsupported-methods',
    'input-required-result-tampered-state',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
    'input-required-result-validate-input',
  ],
};

describe.each(Object.entries(scenarios))("the conformance suite of MCP's servers, %s", (revision, names) => {
  let found: ReadonlyMap<string, readonly Check[]>;
  beforeAll(async () => {
    found = await runServerScenarios(`${open.url}/mcp`, revision);
  }, 120_000);

  it('requires these scenarios and no other', async () => {
    expect(names.toSorted()).toEqual((await requiredServerScenarios(revision)).toSorted());
  });

  it.each(names)('passes %s, by a check that says so and without a warning', (name) => {
    expect(faultsOf(found.get(name))).toEqual([]);
  });

  it.each(
    revision === '2025-11-25'
      ? ['json-schema-2020-12', 'server-session-lifecycle']
      : ['json-schema-2020-12', 'http-header-validation', 'http-custom-header-server-validation'],
  )(
    'passes %s too, which is not scored',
    (name) => {
      expect(faultsOf(found.get(name))).toEqual([]);
    },
  );
});

describe.each(['legacy', 'modern'])('the MCP Inspector, as a client of the %s era', (era) => {
  const inspect = async (...args: readonly string[]) => {
    const how = ['--transport', 'http', '--format', 'json', '--stored-auth-only', '--protocol-era', era];
    const header = ['--header', `Authorization: Bearer ${endpoint.token}`];
    const { code, stdout } = await runCommand('mcp-inspector', [
      '--cli',
      `${endpoint.url}/mcp`,
      ...how,
      ...header,
      ...args,
    ]);
    return { code, result: stdout === '' ? undefined : JSON.parse(stdout).result };
  };

  it('reads resources, and prompts with arguments', async () => {
    const listed = await inspect('--method', 'resources/list');
    expect(listed.result.resources).toHaveLength(3);
    const read = await inspect('--method', 'resources/read', '--uri', 'test://template/7/data');
    expect(JSON.parse(read.result.contents[0].text)).toMatchObject({ id: '7' });
    const name = ['--prompt-name', 'test_prompt_with_arguments', '--prompt-args', 'arg1=one', 'arg2=two'];
    const prompt = await inspect('--method', 'prompts/get', ...name);
    expect(prompt.result.messages[0].content.text).toBe("Prompt with arguments: arg1='one', arg2='two'");
    expect(await inspect('--method', 'resources/read', '--uri', 'test://none')).toMatchObject({ code: 1 });
  });
});

describe('a scenario', () => {
  it.each<[string, readonly Check[] | undefined]>([
    ['did not run', undefined],
    ['has no check', []],
    ['has only a check of the wire', [{ id: 'wire-schema-valid', status: 'SUCCESS' }]],
    ['has a warning', [{ id: 'one', status: 'SUCCESS' }, { id: 'two', status: 'WARNING' }]],
    ['has a skipped check', [{ id: 'one', status: 'SUCCESS' }, { id: 'two', status: 'SKIPPED' }]],
    ['has failed', [{ id: 'one', status: 'SUCCESS' }, { id: 'two', status: 'FAILURE' }]],
  ])('that %s does not count', (_, checks) => {
    expect(faultsOf(checks)).not.toEqual([]);
  });
});
