import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../../src/index.ts';
import { ToolDefinition } from '../../../src/base/schema.ts';
import { createHttpTool, implement, toolsOf } from '../../../src/tools/implement.ts';
import { caller } from '../../fixtures/tools/tool-call.ts';
import { canary, home, scriptedEgress } from '../../fixtures/egress.ts';
import { definition, json } from '../../fixtures/tools/http-tool.ts';
import type { Tool, ToolContext } from '../../../src/tools/tool.ts';
import { change, company, editor } from '../tree/tool-fixtures.ts';

const context = (): ToolContext => ({
  ...caller,
  signal: new AbortController().signal,
  secrets: { canary },
  log: () => undefined,
  redact: (text) => text,
});

/** Of a record, as a catalog has it. */
const createDefined = (record: unknown): Tool | undefined =>
  implement(v.parse(ToolDefinition, record), { egress: undefined, sandbox: undefined, handlers: { a: () => 1 } });

const create: Parameters<typeof definition>[0] = {
  method: 'POST',
  path: '/orders',
  headers: { authorization: 'Bearer {{secret:canary}}' },
  body: { fields: { item: '{item}' } },
  undo: { method: 'DELETE', url: '/orders/{output.id}?item={item}&by={output.owner.name}' },
};

describe('a tool with undo', () => {
  it('says so in its definition, and types what the undo gets', () => {
    const tool = defineTool({
      id: 'note_add',
      description: 'Adds a note',
      input: v.strictObject({ text: v.string() }),
      execute: ({ text }) => ({ id: text.length }),
      undo: { execute: ({ text }, { id }) => `${text.toUpperCase()} ${id.toFixed(1)}` },
    });
    expect(tool.definition.undoable).toBe(true);
    expect(tool.undo?.execute({ text: 'ab' }, { id: 2 }, context())).toBe('AB 2.0');
  });

  it.each([
    [
      'an HTTP tool without a request for it',
      createHttpTool(definition({}, { undoable: true }), { egress: scriptedEgress([]).egress }),
    ],
    [
      'a record whose code has none',
      createDefined({ ...definition({}), name: 'a', type: 'function', undoable: true, config: { handler: 'a' } }),
    ],
  ])('is not %s', (_, tool) => {
    expect(tool).toMatchObject({ definition: { id: 'call' } });
    expect(tool?.definition.undoable ?? tool?.undo).toBeUndefined();
  });

  it('sends the request of an HTTP tool once, with values of input and answer', async () => {
    const { egress, sent } = scriptedEgress([json({ deleted: true }), () => new Response('', { status: 503 })]);
    const tool = createHttpTool(definition(create), { egress });
    expect(tool.definition.undoable).toBe(true);
    const undo = async (id: unknown): Promise<unknown> =>
      await tool.undo?.execute({ item: 'a b' }, { data: { id, owner: { name: 'ada' } } }, context());
    expect(await undo(7)).toMatchObject({ data: { deleted: true } });
    await expect(undo('x/../y')).rejects.toMatchObject({ details: { reason: 'path_segment' } });
    await expect(undo(undefined)).rejects.toMatchObject({ details: { reason: 'path_segment' } });
    await expect(undo(8)).rejects.toMatchObject({ code: 'unavailable' });
    expect(sent.map(({ method, url, headers }) => [method, url, headers['authorization']])).toEqual([
      ['DELETE', `${home}/orders/7?item=a+b&by=ada`, `Bearer ${canary.reveal()}`],
      ['DELETE', `${home}/orders/8?item=a+b&by=ada`, `Bearer ${canary.reveal()}`],
    ]);
    expect(() =>
      createHttpTool(definition({ ...create, undo: { method: 'POST', url: 'https://evil.example/' } }), { egress })
    )
      .toThrow(/undo/);
  });

  it('maps to the undo of a tree, newest first', async () => {
    const tree = company();
    const tools = editor(tree);
    const [first, second] = [
      await change(tools, 'update_payload_property', { nodeId: 'it', propertyName: 'name', newValue: 'Tech' }),
      await change(tools, 'remove_node', { nodeId: 'it' }),
    ];
    const byName = new Map(toolsOf(tools).map((tool) => [tool.definition.id, tool]));
    expect(byName.get('get_view')?.undo).toBeUndefined();
    const takeBack = async (name: string, output: unknown): Promise<unknown> =>
      await byName.get(name)?.undo?.execute({}, output, context());
    await expect(takeBack('update_payload_property', first)).rejects.toMatchObject({ code: 'conflict' });
    await takeBack('remove_node', second);
    await takeBack('update_payload_property', first);
    expect(tree.get('it')?.payload).toMatchObject({ name: 'IT' });
  });
});
