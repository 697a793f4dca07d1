import { describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { messagePortTransport } from '../../../../adapters/transport/mcp-server-connection.ts';
import { createPrincipal } from '../../../../src/index.ts';
import { connectMcp as connect, mcpHost as hostOf } from '../../../fixtures/mcp/mcp-connection.ts';
import {
  addTool,
  endlessTool,
  eraseTool,
  mcpPrincipal,
  mcpRuntime,
  reverseTool,
} from '../../../fixtures/mcp/mcp-host.ts';

const four = ['tool_find', 'tool_describe', 'tool_load', 'tool_active'];

describe('serveMcp', () => {
  it('starts with the discovery tools, and lists what the connection has loaded', async () => {
    const { names, load } = await connect();
    expect(await names()).toEqual(four);
    await load('add_numbers');
    expect(await names()).toEqual([...four, 'add_numbers']);
  });

  it('notifies once that the list has changed, for each load that changed it', async () => {
    const { load, changes, names } = await connect();
    await load('add_numbers', 'reverse_text');
    expect(changes.count).toBe(1);
    await load('add_numbers');
    await load('no_such_tool');
    expect(changes.count).toBe(1);
    await Promise.all([load('erase_everything'), load('erase_everything')]);
    await names();
    expect(changes.count).toBe(2);
  });

  it.each(['client', 'connection'] as const)('stops the tool when the %s closes', async (side) => {
    const { tool, started, stopped } = endlessTool();
    const opened = await connect(hostOf(mcpRuntime({ tools: [tool] }), { listed: ['*'] }));
    const call = opened.client.callTool({ name: 'work_endlessly' }).catch(String); // it ends while we still close
    await started;
    await opened[side].close();
    await stopped;
    expect(await call).toContain('Connection closed');
  });

  it('forgets a loaded tool that the principal may not use any more', async () => {
    let tools = [addTool, reverseTool];
    const open = () => mcpRuntime().tools('helper', mcpPrincipal());
    const host = { tools: async () => ({ ...await open(), tools }), storage: memoryStorage() };
    const { client, load, names } = await connect(host);
    await load('add_numbers');
    tools = [reverseTool];
    expect(await names()).toEqual(four);
    await expect(client.callTool({ name: 'add_numbers' })).rejects.toMatchObject({ code: -32602 });
  });

  it('names the new name of a renamed tool, as data', async () => {
    const { client } = await connect();
    await expect(client.callTool({ name: 'go_ent_add' })).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'tool_renamed', suggest: 'add_numbers' },
    });
  });

  it('refuses a call that a person must approve', async () => {
    const { client, load } = await connect(hostOf(mcpRuntime({ tools: [eraseTool] })));
    await load('erase_everything');
    expect(await client.callTool({ name: 'erase_everything' })).toMatchObject({
      isError: true,
      _meta: { 'pinnace/error': { code: 'approval_required' } },
    });
  });

  it('offers nothing to a principal who may not run the agent', async () => {
    const stranger = createPrincipal({ ...mcpPrincipal(), agents: ['other'] });
    const { client } = await connect(hostOf(), stranger);
    await expect(client.listTools()).rejects.toThrow('not among those');
  });
});

describe('messagePortTransport', () => {
  it('reports once that the other side has closed, and sends no more', async () => {
    const { port1, port2 } = new MessageChannel();
    const [a, b] = [messagePortTransport(port1), messagePortTransport(port2)];
    const [onA, onB] = [vi.fn<() => void>(), vi.fn<() => void>()];
    Object.assign(a, { onclose: onA });
    Object.assign(b, { onclose: onB });
    await Promise.all([a.start(), b.start()]);
    await a.close();
    await a.close();
    await vi.waitFor(() => expect(onB).toHaveBeenCalledOnce());
    await b.close();
    expect(onA).toHaveBeenCalledOnce();
    expect(onB).toHaveBeenCalledOnce();
    await expect(b.send({ jsonrpc: '2.0', method: 'late' })).rejects.toThrow('closed');
  });
});
