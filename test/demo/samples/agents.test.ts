import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { modelSource } from '../../../adapters/models/source.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { cardsOf, sampleAgents, sampleDataSources, sampleProviders } from '../../../demo/samples/agents.ts';
import { createKnowledge } from '../../../demo/knowledge/worker/knowledge.ts';
import { flakySecret } from '../../../demo/tools/flaky.ts';
import { sampleTools } from '../../../demo/tools/index.ts';
import { Agent, ToolDefinition } from '../../../src/registry/index.ts';
import { createRuntime, localPrincipal, type UIMessageChunk } from '../../../src/index.ts';
import { compileJsonSchema } from '../../../src/tools/json-schema/json-schema.ts';
import { lastData, readAll, runRequest, terminalChunks, textOf, userMessage } from '../../fixtures/runtime.ts';
import { storedTrees } from '../../../demo/tree/worker/stored-trees.ts';
import { treeAgentId } from '../../../demo/tree/worker/tools.ts';

const tools = sampleTools({ storage: memoryStorage(), callTree: storedTrees(memoryStorage(), treeAgentId) });
const agentCards = await cardsOf(tools.map(({ definition }) => definition));

/** One suggestion waits for it; no other tool may reach it on a slow machine. */
const quickMs = 1000;

function withQuickTools(agent: (typeof sampleAgents)[number]): (typeof sampleAgents)[number] {
  return agent.limits?.toolMs === undefined ? agent : { ...agent, limits: { ...agent.limits, toolMs: quickMs } };
}

/** A runtime as the page has it, but without its pauses. */
function sampleRuntime() {
  const storage = memoryStorage();
  return createRuntime({
    catalog: staticCatalog({ agents: sampleAgents.map(withQuickTools), providers: sampleProviders }),
    models: modelSource({ rehearsal: { delayMs: 0 } }),
    storage,
    tools: sampleTools({ storage, callTree: storedTrees(storage, treeAgentId) }),
    grounding: createKnowledge(storage),
    limits: { toolMs: quickMs },
  });
}

async function say(agentId: string, text: string, runtime = sampleRuntime()): Promise<UIMessageChunk[]> {
  const request = runRequest({ agentId, chat: { id: 'chat-1', messages: [userMessage(text)] } });
  return await readAll(await runtime.run(request, localPrincipal()));
}

function callsIn(chunks: readonly UIMessageChunk[]): readonly unknown[] {
  return chunks.flatMap((chunk) => chunk.type === 'tool-input-available' ? [[chunk.toolName, chunk.input]] : []);
}

async function includedFor(agentId: string, runtime = sampleRuntime()): Promise<readonly string[]> {
  const manifest = await runtime.manifest(agentId, localPrincipal());
  return manifest.tools.filter(({ excluded }) => excluded === undefined).map((entry) => entry.id);
}

describe('sampleAgents', () => {
  it('stand in a catalog, with the one provider that they name', async () => {
    const catalog = staticCatalog({ agents: sampleAgents, providers: sampleProviders });
    for (const { id, providerId } of sampleAgents) {
      expect(await catalog.agent(id)).toMatchObject({ id, providerId: 'default', visibility: 'public' });
      expect(await catalog.provider(providerId)).toMatchObject({ kind: 'rehearsal', model: 'rehearsal' });
    }
  });

  it('allow only tools that there are', () => {
    const ids = ['tool_find', 'code_run', ...tools.map(({ definition }) => definition.id)];
    for (const pattern of sampleAgents.flatMap(({ entryTools = [] }) => entryTools)) {
      expect(ids.some((id) => pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern), pattern)
        .toBe(true);
    }
  });

  it('name only data sources that there are', () => {
    const ids: readonly string[] = sampleDataSources.map(({ id }) => id);
    for (const id of sampleAgents.flatMap(({ dataSources = [] }) => dataSources)) expect(ids).toContain(id);
  });

  it('have every tool that they may use in their set', async () => {
    const runtime = sampleRuntime();
    for (const { id, name, tools: shown } of agentCards) {
      const included = await includedFor(id, runtime);
      const names = shown.map((tool) => tool.name);
      expect(id === 'purser' ? included.filter((tool) => names.includes(tool)) : included, name).toEqual(names);
    }
    expect(await includedFor('purser', runtime)).toHaveLength(504);
  });
});

describe('sampleTools', () => {
  it('have ids of their own, titles, descriptions and schemas that are schemas', () => {
    expect(new Set(tools.map(({ definition }) => definition.id)).size).toBe(tools.length);
    for (const { definition } of tools) {
      expect(definition).toMatchObject({
        title: expect.any(String),
        annotations: { readOnlyHint: expect.any(Boolean) },
      });
      expect(definition.description.length).toBeGreaterThan(30);
      expect(compileJsonSchema(definition.paramsSchema)('no object')).not.toEqual([]);
    }
  });
});

describe('cardsOf', () => {
  it('show each agent with its tools and three or four messages to start with', () => {
    expect(agentCards.map(({ id }) => id)).toEqual(sampleAgents.map(({ id }) => id));
    for (const { name, description, tools: shown, suggestions } of agentCards) {
      expect(description.length, name).toBeGreaterThan(30);
      expect(shown.length, name).toBeGreaterThan(0);
      expect([3, 4], name).toContain(suggestions.length);
    }
  });

  it('show agents that people have made, and no samples that they have removed or keep to themselves', async () => {
    const made = {
      ...sampleAgents[0]!,
      id: 'stoker',
      name: 'Stoker',
      entryTools: ['calculator', 'get_weather'],
      mcp: { tides: { allow: ['*'] } },
    };
    const weather = v.parse(ToolDefinition, {
      id: 'get_weather',
      name: 'get_weather',
      description: 'Tells the weather',
      type: 'http',
      paramsSchema: { type: 'object' },
    });
    const registered = [{ ...made }, { ...made, id: 'quiet', visibility: 'internal' as const }, sampleAgents[1]!];
    const cards = await cardsOf(
      tools.map(({ definition }) => definition),
      { agents: registered.map((one) => v.parse(Agent, one)), tools: [weather] },
    );
    expect(cards.map(({ id }) => id)).toEqual([sampleAgents[1]!.id, 'stoker']);
    expect(cards[1]).toMatchObject({
      name: 'Stoker',
      suggestions: [],
      tools: [{ name: 'calculator' }, { name: 'get_weather' }, { name: 'tides' }],
    });
  });

  it('show all notes tools where a prefix allows them', () => {
    const logbook = agentCards.find(({ id }) => id === 'logbook');
    expect(logbook?.tools).toContainEqual({ name: 'notes_add', title: 'Add a note', description: expect.any(String) });
    expect(logbook?.tools.filter(({ name }) => name.startsWith('notes_'))).toHaveLength(5);
  });

  it.each<[string, number, readonly unknown[]]>([
    ['navigator', 0, [['current_time', { timeZone: 'Asia/Tokyo' }]]],
    ['navigator', 1, [['convert_units', { value: 26.2, from: 'miles', to: 'kilometers' }]]],
    ['navigator', 2, [['date_math', { date: '2026-11-20', until: '2026-12-24' }]]],
    ['navigator', 3, [
      ['calculator', { expression: '(1250 * 12 + 499) / 7' }],
      ['current_time', { timeZone: 'America/New_York' }],
    ]],
    ['logbook', 0, [['notes_add', { text: 'Check the anchor chain before we leave' }]]],
    ['logbook', 1, [['notes_list', {}]]],
    ['logbook', 2, [['notes_search', { query: 'anchor' }]]],
    ['logbook', 3, [['notes_add', { text: 'Throw me overboard' }], ['notes_delete', { noteId: 'note-1' }]]],
    ['drill', 0, [['flaky', { mode: 'error' }]]],
    ['drill', 1, [['flaky', { mode: 'secret_error' }]]],
    ['drill', 2, [
      ['flaky', { mode: 'slow' }],
      ['calculator', { expression: '6 * 7' }],
      ['current_time', { timeZone: 'Europe/Berlin' }],
    ]],
  ])('suggest to %s, as number %d, what the rehearsal model understands', async (agentId, index, calls) => {
    const message = agentCards.find(({ id }) => id === agentId)?.suggestions[index] ?? '';
    const chunks = await say(agentId, message);
    expect(callsIn(chunks)).toEqual(calls);
    expect(terminalChunks(chunks)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
    expect(JSON.stringify(chunks)).not.toContain(flakySecret);
  });

  it('suggest to the purser what it has to find a tool for', async () => {
    const { suggestions = [] } = agentCards.find(({ id }) => id === 'purser') ?? {};
    const called: unknown[] = [];
    for (const message of suggestions) called.push(callsIn(await say('purser', message)));
    const found = (query: string, name: string) => [
      ['tool_find', { query, limit: 5 }],
      ['tool_load', { names: [name] }],
    ];
    expect(called).toEqual([
      [...found('Create a ticket called', 'ticket_create'), ['ticket_create', { title: 'The anchor winch is stuck' }]],
      [
        ...found('Create an invoice called', 'invoice_create'),
        ['invoice_create', { title: 'Harbor dues' }],
        ...found('list the invoices', 'invoice_list'),
        ['invoice_list', {}],
      ],
      [...found('Count the vehicles', 'vehicle_count'), ['vehicle_count', {}]],
      [
        ...found('Create a meeting called', 'meeting_create'),
        ['meeting_create', { title: 'Crew briefing' }],
      ],
    ]);
  });

  it.each<[number, readonly string[], number]>([
    [0, ['Tokyo', '42.164', 'days'], 4],
    [1, ['15000', '9.26', 'You said: **Bergen**'], 3],
    [2, ['The flaky tool failed', '42', 'Berlin'], 4],
  ])('suggest to the commodore, as number %d, what the rehearsal model can plan', async (index, said, agents) => {
    const runtime = sampleRuntime();
    const message = agentCards.find(({ id }) => id === 'commodore')?.suggestions[index] ?? '';
    const ask = async (planner: Record<string, unknown>): Promise<UIMessageChunk[]> => {
      const chat = { id: 'chat-1', messages: [userMessage(message)] };
      return await readAll(await runtime.run(runRequest({ agentId: 'commodore', chat, planner }), localPrincipal()));
    };
    let chunks = await ask({ allowHumanIntervention: true });
    if (lastData(chunks, 'data-run')['state'] === 'suspended') {
      const { planId, questions } = lastData(chunks, 'data-plan');
      const [question] = questions as { ask: string; question: string }[];
      expect(question?.question).toBe('Which port do we sail for?');
      const reply = { askId: question?.ask ?? '', answer: 'Bergen' };
      await runtime.reply(String(lastData(chunks, 'data-run')['runId']), reply, localPrincipal());
      chunks = await ask({ planId });
    }
    for (const text of said) expect(textOf(chunks)).toContain(text);
    expect(lastData(chunks, 'data-plan')['tasks']).toHaveLength(agents);
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
  });

  it.each<[number, readonly string[]]>([
    [0, ['An approval holds for one call', 'Approvals.md']],
    [1, ['the outcome is unknown', 'Runs and retries.md']],
    [2, ['how probable it is', 'Knowledge.md']],
    [3, ['steps', 'Budgets.md']],
  ])('suggest to the almanac, as number %d, what its sources answer', async (index, [said = '', file = '']) => {
    const message = agentCards.find(({ id }) => id === 'almanac')?.suggestions[index] ?? '';
    const chunks = await say('almanac', message);
    expect(callsIn(chunks)).toEqual([['retrieve', { query: message, topK: 6 }]]);
    const { sources } = lastData(chunks, 'data-sources') as { sources: { n: number; uri: string }[] };
    const cited = [...textOf(chunks).matchAll(/\[(\d+)\]/g)].map(([, n]) =>
      sources.find((one) => one.n === Number(n))?.uri
    );
    expect(textOf(chunks)).toContain(said);
    expect(cited[0]).toBe(`guide/${file}`);
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' });
  });

  it('suggest a long answer', async () => {
    const message = agentCards.find(({ id }) => id === 'drill')?.suggestions[3] ?? '';
    const chunks = await say('drill', message);
    expect(callsIn(chunks)).toEqual([]);
    expect(textOf(chunks).length).toBeGreaterThan(800);
  });

  it('suggest to the logbook what leads from one message to the next', async () => {
    const runtime = sampleRuntime();
    const { suggestions = [] } = agentCards.find(({ id }) => id === 'logbook') ?? {};
    for (const [i, message] of suggestions.slice(0, 3).entries()) {
      const chunks = await readAll(
        await runtime.run(
          runRequest({ agentId: 'logbook', chat: { id: 'chat-1', messages: [userMessage(message, `m${i}`)] } }),
          localPrincipal(),
        ),
      );
      expect(textOf(chunks), message).toContain('anchor chain');
    }
  });

  it('suggest to the bosun what finds, adds, renames and takes back', async () => {
    const runtime = sampleRuntime();
    const { suggestions = [] } = agentCards.find(({ id }) => id === 'bosun') ?? {};
    const called = [];
    for (const message of suggestions.slice(0, 3)) {
      const chunks = await say('bosun', message, runtime);
      expect(textOf(chunks), message).not.toContain('failed');
      called.push(callsIn(chunks).flat().filter((part) => typeof part === 'string'));
    }
    expect(called).toEqual([['search'], ['search', 'add_child'], ['search', 'update_payload_property']]);
  });

  it('suggest to the logbook a call that asks first', async () => {
    const message = agentCards.find(({ id }) => id === 'logbook')?.suggestions[3] ?? '';
    const chunks = await say('logbook', message);
    expect(chunks.find(({ type }) => type === 'tool-approval-request')).toMatchObject({
      reason: 'Call Delete a note (notes_delete)\nPreview: “Throw me overboard”\n"noteId": "note-1"',
    });
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' });
  });
});
