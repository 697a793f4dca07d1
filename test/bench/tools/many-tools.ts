/** What a run costs whose agent may use 5,000 tools, and finds the one that it needs, beside the run of an agent with five. */

import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { encodeSse } from '../../../adapters/transport/http/sse.ts';
import { createRuntime, defineTool, localPrincipal } from '../../../src/index.ts';
import * as v from 'valibot';
import { callsTools, says, scriptedModel, type Source } from '../../fixtures/model.ts';
import { cpuRounds, median, ratioOf, type Row } from '../measure.ts';

const verbs = ['list', 'create', 'delete', 'update', 'search', 'archive', 'share', 'export', 'import', 'merge'];
const things = [
  'invoice',
  'ticket',
  'customer',
  'order',
  'payment',
  'contract',
  'shipment',
  'meeting',
  'report',
  'branch',
];
const places = Array.from({ length: 50 }, (_, i) => `area${i}`);

/** A catalog of 5,000 tools, each with a name and a description of its own. */
const many = places.flatMap((place) =>
  things.flatMap((thing) =>
    verbs.map((verb) =>
      defineTool({
        id: `${place}_${verb}_${thing}`,
        description: `${verb}s every ${thing} of ${place}, by its id or by a filter. Returns what it has changed.`,
        input: v.object({ id: v.string(), limit: v.optional(v.number()) }),
        execute: ({ id }) => ({ id, done: true }),
      })
    )
  )
);
const five = [
  'area7_list_invoice',
  'area7_create_ticket',
  'area8_merge_order',
  'area9_share_report',
  'area9_export_branch',
];
const messages = [{
  id: 'm',
  role: 'user' as const,
  parts: [{ type: 'text' as const, text: 'List the invoices of area7' }],
}];

const answer = says(...Array.from({ length: 100 }, (_, i) => `token${i} `));
const calling = (tool = ''): Source => callsTools({ tool, input: { id: 'i-1' } });
const scripts: Readonly<Record<string, readonly [entryTools: readonly string[], script: readonly Source[]]>> = {
  finding: [['*'], [
    callsTools({ tool: 'tool_find', input: { query: 'list the invoices of area7' } }),
    callsTools({ tool: 'tool_load', input: { names: five.slice(0, 1) } }),
    calling(five[0]),
    answer,
  ]],
  fourCalls: [five, [...five.slice(0, 3).map(calling), answer]],
  twoCalls: [five, [calling(five[0]), answer]],
};

/** CPU of a run with discovery over 5,000 tools beside runs that know their tools, with as many model calls and with two. */
export async function manyToolsRows(): Promise<Row[]> {
  const runs = Object.fromEntries(
    Object.entries(scripts).map(([name, [entryTools, script]]) => [name, runOf(entryTools, script)]),
  );
  const { finding = [], fourCalls = [], twoCalls = [] } = await cpuRounds(runs, { rounds: 9, calls: 80, warmup: 300 });
  return [
    row('an agent with five tools, four model calls', fourCalls),
    row('the same, two model calls', twoCalls),
  ];

  function row(beside: string, times: readonly number[]): Row {
    const ratio = ratioOf(finding, times);
    return {
      figure: `A run that finds one of 5,000 tools, beside ${beside}`,
      value: `${median(finding).toFixed(2)} ms CPU`,
      peer: `${median(times).toFixed(2)} ms`,
      ratio: ratio.toFixed(2),
      ...(times === fourCalls && { bar: '<= 1.5', met: ratio <= 1.5 }),
    };
  }
}

/** Returns the function that makes one run, as server-sent events read to the end. */
function runOf(entryTools: readonly string[], script: readonly Source[]): () => Promise<void> {
  let model = scriptedModel(...script).model;
  const runtime = createRuntime({
    catalog: staticCatalog({
      agents: [{ id: 'a', name: 'A', providerId: 'p', entryTools: [...entryTools] }],
      providers: [{ id: 'p', kind: 'custom' }],
    }),
    models: { model: () => model },
    storage: memoryStorage(),
    tools: many,
  });
  const principal = localPrincipal();
  let runs = 0;
  return async () => {
    ({ model } = scriptedModel(...script));
    const { runId } = await runtime.start({ agentId: 'a', chat: { id: `c${runs++}`, messages } }, principal, {});
    const cursor = await runtime.runs.cursor(principal, runId, 0);
    const reader = encodeSse(cursor, { runId, keepAliveMs: 15_000, metrics: runtime.metrics }).getReader();
    while (!(await reader.read()).done);
  };
}
