/** What a tool call costs besides its work, and what it costs to assemble a tool set from very many. */

import { AgentProblems } from '../../../src/runtime/check-agents.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { defaultLimits } from '../../../src/runtime/limits.ts';
import * as v from 'valibot';
import { defineTool, localPrincipal, type Tool } from '../../../src/index.ts';
import { invokeTool, prepareCall, type ToolCall } from '../../../src/tools/index.ts';
import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { createMcpServers } from '../../../src/mcp/mcp-servers.ts';
import { assemble, createToolSets, type KnownTool } from '../../../src/runtime/tool-sets.ts';
import { createLiveTexts } from '../../../src/tools/agent-tool.ts';
import { Agent } from '../../../src/base/schema.ts';
import { cpuMs, cpuRounds, median, type Row } from '../measure.ts';

const add = defineTool({
  id: 'add',
  description: 'Adds two numbers',
  input: v.strictObject({ a: v.number(), b: v.number() }),
  execute: ({ a, b }) => a + b,
});

const caller = {
  toolCallId: 'c',
  agentId: 'a',
  principal: localPrincipal(),
  authorize: () => ({ decision: 'allow' as const }),
};

const call: Omit<ToolCall, 'prepared'> = {
  ...caller,
  secrets: {},
  log: () => undefined,
  signal: new AbortController().signal,
  timeoutMs: 30_000,
  maxOutputLength: 131_072,
};

/** CPU of one call through `invokeTool`, without I/O. */
export async function invokeRows(): Promise<Row[]> {
  const thousand = async (): Promise<void> => {
    for (let i = 0; i < 1000; i++) {
      const input = { a: i, b: 1 };
      await invokeTool(add, input, { ...call, prepared: await prepareCall(add, input, caller) });
    }
  };
  const { invoke = [] } = await cpuRounds({ invoke: thousand }, { rounds: 9, calls: 20, warmup: 20 });
  const microseconds = median(invoke); // milliseconds for a thousand calls
  return [{
    figure: 'invokeTool, CPU per call',
    value: `${microseconds.toFixed(1)} us`,
    bar: '<= 20 us',
    met: microseconds <= 20,
  }];
}

const count = 10_000;

/** A tool set of 100 out of 10,000 known tools, the first time and from then on. */
export async function assemblyRows(): Promise<Row[]> {
  const tools: Tool[] = Array.from({ length: count }, (_, i) => ({
    ...add,
    definition: { ...add.definition, id: `group${i % 100}_tool${i}`, name: `group${i % 100}_tool${i}` },
  }));
  const known = tools.map((tool): KnownTool => ({ definition: tool.definition, tool }));
  const agent = v.parse(Agent, { id: 'a', name: 'A', providerId: 'p', entryTools: ['group7_*'] });
  const cold: number[] = [];
  for (let i = 0; i < 15; i++) {
    const before = cpuMs();
    await assemble(agent, known);
    cold.push(cpuMs() - before);
  }
  const toolSetOf = createToolSets({
    tools,
    builtins: [],
    plans: () => {
      throw new Error('no tool of this benchmark starts a plan');
    },
    limits: defaultLimits,
    liveTexts: createLiveTexts(),
    egress: undefined,
    sandbox: undefined,
    handlers: {},
    discovery: undefined,
    dataSources: undefined,
    problems: new AgentProblems(undefined),
    mcp: createMcpServers({
      connector: undefined,
      catalog: staticCatalog({ agents: [], providers: [] }),
      storage: memoryStorage(),
      secrets: undefined,
      emit: () => undefined,
      now: Date.now,
      onWritten: () => undefined,
    }),
  });
  const listed: never[] = [];
  await toolSetOf(agent, listed, []);
  const before = cpuMs();
  for (let i = 0; i < 1000; i++) await toolSetOf(agent, listed, []);
  const cached = (cpuMs() - before) / 1000;
  return [
    {
      figure: `Tool set from ${count} tools, cold`,
      value: `${median(cold).toFixed(2)} ms`,
      bar: '<= 5 ms',
      met: median(cold) <= 5,
    },
    {
      figure: `Tool set from ${count} tools, cached`,
      value: `${cached.toFixed(4)} ms`,
      bar: '<= 0.1 ms',
      met: cached <= 0.1,
    },
  ];
}
