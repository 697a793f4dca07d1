import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { createToolIndex, defineTool } from '../../src/index.ts';
import { discoveryToolNames } from '../../src/discovery/index.ts';
import { errorOf, outputOf, testDiscovery } from '../fixtures/discovery.ts';
import { goEntTools, renames } from '../fixtures/tools/go-ent-tools.ts';
import { connectMcp, mcpHost } from '../fixtures/mcp/mcp-connection.ts';
import { mcpRuntime } from '../fixtures/mcp/mcp-host.ts';

const namesOf = (output: Record<string, unknown>): unknown[] =>
  (output.tools as { name: string }[]).map(({ name }) => name);

describe('Tool Discovery via Search', () => {
  it('Search for registry tools', async () => {
    const { discovery } = testDiscovery({ active: new Set(['registry_list']) });
    const output = await outputOf(discovery, 'tool_find', { query: 'registry list tasks' });
    expect(namesOf(output)[0]).toBe('registry_list');
    expect(namesOf(output)).toContain('registry_next');
    const tools = output.tools as { name: string; score: number; active: boolean }[];
    expect(tools.map(({ score }) => score)).toEqual(tools.map(({ score }) => score).toSorted((a, b) => b - a));
    expect(tools.filter(({ active }) => active).map(({ name }) => name)).toEqual(['registry_list']);
  });

  it('Limit search results', async () => {
    const { discovery } = testDiscovery();
    const five = namesOf(await outputOf(discovery, 'tool_find', { query: 'list project tasks', limit: 5 }));
    const two = namesOf(await outputOf(discovery, 'tool_find', { query: 'list project tasks', limit: 2 }));
    expect(five).toHaveLength(5);
    expect(two).toEqual(five.slice(0, 2));
  });
});

describe('Tool Metadata Retrieval', () => {
  it('Describe a tool', async () => {
    const { discovery } = testDiscovery({ active: new Set(['spec_show']) });
    expect(await outputOf(discovery, 'tool_describe', { name: 'spec_show' })).toEqual({
      name: 'spec_show',
      description: 'Shows one specification in full',
      inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'Folder of the project' } } },
      category: 'spec',
      keywords: ['project'],
      active: true,
    });
    expect(await outputOf(discovery, 'tool_describe', { name: 'spec_list' })).toMatchObject({ active: false });
  });

  it('Tool not found', async () => {
    const { discovery } = testDiscovery();
    const error = await errorOf(discovery, 'tool_describe', { name: 'registry_lists' });
    expect(error.code).toBe('not_found');
    expect(error.message).toContain('tool_find');
    expect(error.details?.suggestions).toContain('registry_list');
  });
});

describe('Dynamic Tool Loading', () => {
  it('Load multiple tools', async () => {
    const { discovery, active } = testDiscovery();
    const output = await outputOf(discovery, 'tool_load', { names: ['spec_list', 'loop_get'] });
    expect(output).toMatchObject({ active: 2, loaded: [{ name: 'spec_list' }, { name: 'loop_get' }] });
    expect([...active]).toEqual(['spec_list', 'loop_get']);
    expect(discovery.activeNames()).toEqual(['spec_list', 'loop_get']);

    const tools = goEntTools.map(({ name, description = name }) =>
      defineTool({ id: name, description, input: v.strictObject({}), execute: () => `called ${name}` })
    );
    const { client, load, names, changes } = await connectMcp(mcpHost(mcpRuntime({ tools })));
    await load('spec_list', 'loop_get');
    expect(await names()).toEqual([...discoveryToolNames, 'spec_list', 'loop_get']);
    expect(changes.count).toBe(1);
    expect(await client.callTool({ name: 'loop_get' })).toMatchObject({ content: [{ text: 'called loop_get' }] });
  });

  it('Load already active tool', async () => {
    const { discovery, active } = testDiscovery();
    await outputOf(discovery, 'tool_load', { names: ['spec_list'] });
    const again = await outputOf(discovery, 'tool_load', { names: ['spec_list', 'spec_list'] });
    expect(again).toMatchObject({ active: 1, loaded: [{ name: 'spec_list' }] });
    expect(active.size).toBe(1);
  });

  it('Load non-existent tool', async () => {
    const { discovery, active } = testDiscovery();
    const error = await errorOf(discovery, 'tool_load', { names: ['spec_list', 'no_such_tool'] });
    expect(error).toMatchObject({ code: 'not_found', message: expect.stringContaining('"no_such_tool"') });
    expect(active.size).toBe(0);
    expect(discovery.handle()).toBeUndefined();
  });
});

describe('Active Tool Listing', () => {
  it('List active tools', async () => {
    const { discovery } = testDiscovery();
    await outputOf(discovery, 'tool_load', { names: ['loop_get', 'loop_set'] });
    expect(await outputOf(discovery, 'tool_active', {})).toEqual({
      tools: [
        { name: 'loop_get', description: 'Gives the state of the loop' },
        { name: 'loop_set', description: 'Changes the state of the loop' },
      ],
      count: 2,
    });
  });

  it('No active tools', async () => {
    const output = await outputOf(testDiscovery().discovery, 'tool_active', {});
    expect(output).toMatchObject({ tools: [], count: 0, message: expect.stringContaining('No tools are active') });
  });
});

describe('TF-IDF Search Index', () => {
  const index = createToolIndex([
    { name: 'task_list', description: 'Lists tasks' },
    { name: 'task_show', description: 'Shows a task, and the task that the task waits for' },
    { name: 'zebra_show', description: 'Shows a zebra' },
  ]);

  it('Index tool metadata', () => {
    const [once, often] = ['task_list', 'task_show'].map((name) => {
      const terms = index.explain('task', name)?.terms ?? [];
      return terms.reduce((sum, { weight }) => sum + weight, 0);
    });
    expect(often).toBeGreaterThan(once!); // the term's frequency in each document
    const [task] = index.explain('task', 'task_list')?.terms ?? [];
    const [zebra] = index.explain('zebra', 'zebra_show')?.terms ?? [];
    expect(zebra!.idf).toBeGreaterThan(task!.idf); // and its rarity among all
    expect(index.explain('zebra', 'zebra_show')?.terms.map(({ field }) => field)).toEqual(['name', 'description']);
  });

  it('Search with TF-IDF scoring', () => {
    const hits = index.search('a task for the ZEBRA!', 5);
    expect(hits.map(({ name }) => name)).toEqual(['zebra_show', 'task_show', 'task_list']);
    expect(hits[0]!.score).toBeGreaterThan(hits[1]!.score);
  });
});

describe('Tool Name Shortening', () => {
  it('Tool name migration', () => {
    const index = createToolIndex(goEntTools);
    for (const { former, present } of renames) {
      expect(index.get(present)?.name).toBe(present);
      expect(index.get(former)).toBeUndefined();
    }
    const pages = import.meta.glob<string>(['../../*.md', '../../docs/**/*.md'], {
      query: '?raw',
      import: 'default',
      eager: true,
    });
    const { '../../CHANGELOG.md': changelog, ...documentation } = pages;
    expect(changelog).toMatch(/### Breaking changes\n(?:(?!\n### )[\s\S])*`go_ent_/);
    expect(Object.keys(documentation).filter((path) => documentation[path]?.includes('go_ent_'))).toEqual([]);
  });

  it('Backward compatibility', async () => {
    const { discovery, active } = testDiscovery();
    for (const { former, present } of renames) {
      const errors = [
        await errorOf(discovery, 'tool_describe', { name: former }),
        await errorOf(discovery, 'tool_load', { names: [former] }),
        await errorOf(discovery, former, {}),
        discovery.notActive(former),
      ];
      for (const { code, message, details } of errors) {
        expect(code).toBe('not_found');
        expect(message).toContain(`"${present}"`);
        expect(details).toEqual({ reason: 'tool_renamed', suggestions: [present] });
      }
    }
    expect(active.size).toBe(0);
  });
});
