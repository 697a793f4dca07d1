import { describe, expect, it } from 'vitest';
import { rehearsal } from '../../../../adapters/models/rehearsal.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { staticCatalog } from '../../../../adapters/catalog/static.ts';
import { createRuntime, localPrincipal, type Tree, treeTools, type UIMessage } from '../../../../src/index.ts';
import { readAll, runRequest, textOf, userMessage } from '../../../fixtures/runtime.ts';
import { company } from '../../../src/tree/tool-fixtures.ts';

/** A chat with an agent that has the tools of the tree. */
function chatAt(tree: Tree) {
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{
        id: 'gardener',
        name: 'Gardener',
        providerId: 'p',
        entryTools: ['*'],
        instructions: 'The root\'s nodeId is "root".',
      }],
      providers: [{ id: 'p', kind: 'rehearsal' }],
    }),
    models: { model: () => rehearsal({ delayMs: 0 }) },
    storage: memoryStorage(),
    tools: [treeTools(tree, { agentId: 'gardener', role: 'editor' })],
  });
  const messages: UIMessage[] = [];
  return async (text: string) => {
    messages.push(userMessage(text, `m${messages.length}`));
    const request = runRequest({ agentId: 'gardener', chat: { id: 'c', messages } });
    const chunks = await readAll(await runtime.run(request, localPrincipal()));
    const calls = chunks.flatMap((chunk) => {
      if (chunk.type !== 'tool-input-available') return [];
      const answer = chunks.find((other) =>
        other.type === 'tool-output-available' && other.toolCallId === chunk.toolCallId
      );
      return [{ ...chunk, output: answer?.type === 'tool-output-available' ? answer.output : undefined }];
    });
    messages.push({
      id: `a${messages.length}`,
      role: 'assistant',
      parts: calls.filter(({ output }) => output !== undefined).map(({ toolName, toolCallId, input, output }) => ({
        type: `tool-${toolName}` as const,
        toolCallId,
        state: 'output-available' as const,
        input,
        output,
      })),
    });
    return { text: textOf(chunks), tools: calls.map(({ toolName }) => toolName) };
  };
}

const nameOf = (tree: Tree, nodeId: string) => tree.get(nodeId)?.payload['name'];

describe('the rehearsal model at a tree', () => {
  it('finds nodes and says where they are', async () => {
    const { text, tools } = await chatAt(company())('Find "eve"');
    expect(tools).toEqual(['search']);
    expect(text).toContain('Eve (IT › Development)');
  });

  it('adds a node where the message says; of types that there are not, it takes one that there is', async () => {
    const tree = company();
    const say = chatAt(tree);
    const added = await say('Add an area "Quality" to Operations');
    expect(added.tools).toEqual(['search', 'add_child', 'add_child']);
    const [child] = tree.children('ops', { limit: 5 });
    expect(child).toMatchObject({ payload: { name: 'Quality' } });
    expect(added.text).toContain('Added the area “Quality” to “Operations”.');
    expect((await say('take it back')).tools).toEqual(['undo']);
    expect(tree.size).toBe(8);
  });

  it.each([
    ['Rename "Sales" to "Sales and service"', (tree: Tree) => nameOf(tree, 'sales'), 'Sales and service'],
    ['Move Ann to "Development"', (tree: Tree) => tree.get('ann')?.parentId, 'dev'],
    ['Please remove Ben.', (tree: Tree) => nameOf(tree, 'ben'), undefined],
  ])('does "%s", and takes it back when asked', async (message, look, expected) => {
    const tree = company();
    const before = look(tree);
    const say = chatAt(tree);
    expect((await say(message)).text).not.toContain('failed');
    expect(look(tree)).toBe(expected);
    expect((await say('Undo')).tools).toEqual(['undo']);
    expect(look(tree)).toBe(before);
    expect((await say('Undo that, please')).text).toContain('nothing of mine');
  });

  it('takes the latest version when another writer was faster', async () => {
    const tree = company();
    const say = chatAt(tree);
    await say('Rename Operations to "Operations team"');
    tree.apply([{ kind: 'remove', nodeId: 'ben' }]);
    const { text, tools } = await say('Undo');
    expect(tools).toEqual(['undo', 'undo']);
    expect(text).toContain('Taken back');
    expect(nameOf(tree, 'ops')).toBe('Operations');
  });

  it('says so when nothing has the name', async () => {
    const tree = company();
    expect((await chatAt(tree)('Remove the task "Nothing at all"')).text).toContain('called “Nothing at all”');
    expect(tree.rev).toBe(0);
  });
});
