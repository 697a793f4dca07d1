import { describe, expect, inject, it } from 'vitest';
import { mcpConnector } from '../../../adapters/mcp/client.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createRegistry, localPrincipal } from '../../../src/index.ts';
import { callsTools, says, scriptedModel } from '../../fixtures/model.ts';
import { connectorOfSdk } from '../../fixtures/mcp/mcp-peer.ts';
import { platformEgress } from '../../fixtures/platform-egress.ts';
import { readAll, runRequest, testRuntime } from '../../fixtures/runtime.ts';

const url = inject('peers').everything;
const egress = await platformEgress({ loopback: [url] });

describe.each([['mcpConnector', mcpConnector], ['mcpConnector with the earlier library', connectorOfSdk]] as const)(
  '%s, with the server of the MCP project that has everything',
  (_name, make) => {
    it('is approved without an error, but for what needs a task, and serves an agent', async () => {
      const storage = memoryStorage();
      const registry = createRegistry({ storage, privateOrigins: ['loopback'] });
      await registry.put('provider', { id: 'default', kind: 'custom' });
      await registry.put('agent', { id: 'helper', name: 'Helper', providerId: 'default', mcp: { everything: {} } });
      await registry.put('mcpServer', { id: 'everything', alias: 'all', url: `${url}/mcp` });
      const { model } = scriptedModel(
        callsTools(
          { tool: 'all__get-sum', input: { a: 2, b: 3 }, id: 'c1' },
          { tool: 'all__get-structured-content', input: { location: 'New York' }, id: 'c2' },
          { tool: 'all__get-tiny-image', input: {}, id: 'c3' },
        ),
        says('ok'),
      );
      const runtime = testRuntime({ model, catalog: registry, storage, mcp: make({ egress }) });
      const reading = { 'get-sum': 'read', 'get-structured-content': 'read', 'get-tiny-image': 'read' } as const;
      const { digest } = await runtime.validateMcpServer('everything', {}, localPrincipal());
      const request = { approve: true, digest, effects: reading };
      const { approved, tools, findings } = await runtime.validateMcpServer('everything', request, localPrincipal());
      expect(approved).toBe(true);
      expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
      expect(tools.filter(({ included }) => !included).map(({ name }) => name)).toEqual(['simulate-research-query']);
      const chunks = await readAll(await runtime.run(runRequest(), localPrincipal()));
      const ended = chunks.flatMap((chunk) => chunk.type === 'tool-output-available' ? [chunk] : []);
      const outputs = ended.toSorted((a, b) => a.toolCallId < b.toolCallId ? -1 : 1); // they end in any order
      expect(outputs.map(({ output }) => output)).toEqual([
        expect.objectContaining({ content: [{ type: 'text', text: 'The sum of 2 and 3 is 5.' }], untrusted: true }),
        expect.objectContaining({ data: { temperature: 33, conditions: 'Cloudy', humidity: 82 } }),
        expect.objectContaining({
          content: expect.arrayContaining([expect.objectContaining({ type: 'image', omitted: expect.any(Number) })]),
        }),
      ]);
    });
  },
);
