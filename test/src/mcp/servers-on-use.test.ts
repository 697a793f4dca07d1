import { parse } from 'valibot';
import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { McpServer } from '../../../src/base/schema.ts';
import { mcpServersOnUse } from '../../../src/mcp/servers-on-use.ts';
import { mcpCatalog, pinnedServer, rawTool } from '../../fixtures/mcp.ts';

describe('mcpServersOnUse', () => {
  it('returns a server as it is before and after its tools are read', async () => {
    const input = await pinnedServer([rawTool({ name: 'search' })]);
    const server = parse(McpServer, input);
    const servers = mcpServersOnUse({
      catalog: mcpCatalog([input]),
      connector: undefined,
      storage: memoryStorage(),
      secrets: undefined,
      emit: () => undefined,
      now: () => 0,
      onWritten: () => undefined,
    });
    expect(servers.current(server)).toBe(server);
    const tools = await servers.toolsOf(server);
    expect(tools.map(({ pinned }) => pinned.definition.name)).toEqual(['search']);
    expect(servers.current(server)).toBe(server);
  });
});
