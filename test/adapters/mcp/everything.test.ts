import { describe, expect, inject, it } from 'vitest';
import { mcpConnector2026 } from '../../../adapters/mcp/client-2026.ts';
import { mcpConnector } from '../../../adapters/mcp/client.ts';
import { connectToEverything, tour } from '../../fixtures/everything.ts';
import { platformEgress } from '../../fixtures/platform-egress.ts';

const url = inject('peers').everything;
const egress = await platformEgress({ loopback: [url] });

describe.each([['mcpConnector', mcpConnector], ['mcpConnector2026', mcpConnector2026]] as const)(
  '%s, with the server of the MCP project that has everything',
  (_name, make) => {
    it('lists its tools and calls them', async () => {
      const { server, names, results, progress } = await tour(make({ egress }), url);
      expect(server).toBe('mcp-servers/everything');
      // More are offered to clients that declare capabilities.
      expect(names).toHaveLength(13);
      expect(results).toMatchObject({
        'echo': { content: [{ type: 'text', text: 'Echo: hello' }], isError: false },
        'get-sum': { content: [{ text: 'The sum of 2 and 3 is 5.' }] },
        'get-structured-content': { structuredContent: { temperature: 33, conditions: 'Cloudy' } },
        'get-tiny-image': { content: [{ type: 'text' }, { type: 'image', mimeType: 'image/png' }, { type: 'text' }] },
      });
      expect(progress).toEqual([1, 2]);
    });

    it('ends a call in the middle, and goes on with others', async () => {
      const connection = await connectToEverything(make({ egress }), url);
      const stop = new AbortController();
      const name = 'trigger-long-running-operation';
      const call = { definition: {}, timeoutMs: 60_000 };
      const long = connection.callTool({
        ...call,
        name,
        input: { duration: 50, steps: 500 },
        signal: stop.signal,
        onProgress: () => stop.abort(),
      });
      await expect(long).rejects.toMatchObject({ code: 'cancelled' });
      const { signal } = new AbortController();
      const unknown = await connection.callTool({ ...call, name: 'no-such-tool', input: {}, signal });
      expect(unknown.isError).toBe(true);
      await connection.close();
    });
  },
);
