import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { sweepOnRequest } from '../../../adapters/upkeep/due-sweep.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createGrounding, createTree, localPrincipal, type OnError, openTree, treeTools } from '../../../src/index.ts';
import { createReport } from '../../../src/events/report.ts';
import { fakeMcp, mcpCatalog, pinnedServer, rawTool } from '../../fixtures/mcp.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { fakeSource } from '../../fixtures/grounding-source.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';
import { PinnaceError } from '../../../src/base/errors.ts';

const me = localPrincipal();

function recorder() {
  const reports: [unknown, Parameters<OnError>[1]][] = [];
  const onError: OnError = (cause, context) => void reports.push([cause, context]);
  return { reports, onError };
}

const throwIt = (cause: unknown) => (): never => {
  throw cause;
};

/** A tree whose payloads cannot be checked. */
function brokenTree(cause: unknown) {
  const name = v.pipe(v.string(), v.check((text) => text === 'Root' || throwIt(cause)()));
  return createTree({
    payloadTypes: { unit: { schema: v.object({ name }) } },
    rows: [{ nodeId: 'root', parentId: null, payloadType: 'unit', payload: { name: 'Root' } }],
  });
}

/** The input of a call that changes the tree as the tools have read it. */
async function renaming(tools: ReturnType<typeof treeTools>) {
  const read = await tools.call('get_node', { nodeId: 'root' });
  const versionToken = read.ok ? read.output.version : expect.fail('the tree could not be read');
  return { nodeId: 'root', propertyName: 'name', newValue: 'New', versionToken };
}

describe('onError of the tools of a tree', () => {
  it('receives what a call throws, which its error does not contain', async () => {
    const { reports, onError } = recorder();
    const cause = new TypeError('canary-1');
    const tools = treeTools(brokenTree(cause), { agentId: 'helper', role: 'editor', onError });
    const outcome = await tools.call('update_payload_property', await renaming(tools));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'internal' } });
    expect(JSON.stringify(outcome)).not.toContain('canary');
    expect(reports).toEqual([[cause, { kind: 'tool', id: 'update_payload_property' }]]);
    await tools.call('update_payload_property', { nodeId: 'root' });
    expect(reports).toHaveLength(1);
  });
});

describe('onError of a stored tree', () => {
  it('receives why it could not read what others have changed', async () => {
    const { reports, onError } = recorder();
    const inner = memoryStorage();
    let cause: unknown;
    const failing = <T>(read: () => Promise<T>): Promise<T> => cause === undefined ? read() : Promise.reject(cause);
    const storage: typeof inner = {
      ...inner,
      get: (key) => failing(() => inner.get(key)),
      list: (bounds) => failing(() => inner.list(bounds)),
    };
    const options = { treeId: 't', rows: [{ nodeId: 'root', parentId: null, payloadType: 'unit', payload: {} }] };
    const payloadTypes = { unit: { schema: v.looseObject({}) } };
    const tree = await openTree({ ...options, payloadTypes, storage, onError });
    const other = await openTree({ ...options, payloadTypes, storage: inner });
    const stop = new AbortController();
    tree.follow(stop.signal);
    cause = new TypeError('canary-3');
    await other.write([{ kind: 'payload', nodeId: 'root', payloadType: 'unit', payload: { name: 'New' } }]);
    await expect.poll(() => reports).toContainEqual([cause, { kind: 'storage', id: 'watch' }]);
    stop.abort();
  });
});

describe('onError of grounding', () => {
  it('receives what a source and a hook throw, which the answer does not contain', async () => {
    const { reports, onError } = recorder();
    const [cause, denied] = [new TypeError('canary-4'), new TypeError('canary-5')];
    const source = fakeSource('manuals', () => Promise.reject(cause));
    const answer = await createGrounding({ sources: [source], onError }).retrieve({
      dataSourceId: 'manuals',
      query: 'anchor',
      topK: 3,
    });
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(reports).toEqual([[cause, { kind: 'grounding', id: 'manuals' }]]);
    const guarded = createGrounding({ sources: [fakeSource('manuals', [])], access: throwIt(denied), onError });
    await guarded.retrieve({ dataSourceId: 'manuals', query: 'anchor', topK: 3 }, { principal: me });
    expect(reports.slice(1)).toEqual([[denied, { kind: 'hook', id: 'access' }]]);
  });
});

describe('onError of a runtime with MCP servers', () => {
  it('receives why the offer of a server that refuses a tool could not be compared', async () => {
    const { reports, onError } = recorder();
    const cause = new TypeError('canary-6');
    const mcp = fakeMcp({ onCall: () => Promise.reject(new PinnaceError('not_found', 'No such tool')) });
    const connector = {
      connect: async (...given: Parameters<typeof mcp.connector.connect>) => {
        const connection = await mcp.connector.connect(...given);
        let lists = 0;
        return {
          ...connection,
          listTools: () =>
            lists++ === 0 ? connection.listTools({ signal: new AbortController().signal }) : Promise.reject(cause),
        };
      },
    };
    const model = scriptedModel(callsTools({ tool: 'docs__search', input: { query: 'x' } }), says('ok'));
    const catalog = mcpCatalog([await pinnedServer([rawTool()])]);
    const runtime = testRuntime({ ...model, catalog, mcp: connector, onError });
    await readAll(await runtime.run(runRequest(), me));
    expect(reports).toContainEqual([cause, expect.objectContaining({ kind: 'mcp', id: 'docs-server', step: 1 })]);
    expect(reports.filter(([one]) => one === cause)).toHaveLength(1);
  });
});

describe('onError of a planner', () => {
  it('receives why a sweep failed', async () => {
    const { reports, onError } = recorder();
    const cause = new TypeError('canary-8');
    sweepOnRequest({ sweep: () => Promise.reject(cause) }, { report: createReport(onError) })();
    await expect.poll(() => reports).toEqual([[cause, { kind: 'due', id: 'sweep' }]]);
  });
});
