/** A runtime with orders, and a model that follows a script: one call a step, parallel calls, or a program. */

import * as v from 'valibot';
import { denoSandbox } from '../../../adapters/sandbox/deno.ts';
import { defineTool, localPrincipal, type Tool } from '../../../src/index.ts';
import { callsTools, says, type ScriptedModel, scriptedModel, type Source } from '../../fixtures/model.ts';
import { readAll, runRequest, testRuntime, userMessage } from '../../fixtures/runtime.ts';

/** About 140 tokens, four characters each. */
const order = (id: number) => ({
  id,
  status: id % 3 === 0 ? 'open' : 'shipped',
  total: 10 * id,
  customer: { name: `Customer number ${id}`, email: `customer-${id}@example.com`, city: 'Rotterdam' },
  lines: Array.from({ length: 5 }, (_, i) => ({ article: `article-${id}-${i}`, count: i + 1, price: 2 * id })),
  note:
    'Leave the parcel with the neighbors at number twelve if nobody opens the door before noon; the bell does not ring, ' +
    'so knock twice and wait for a while',
});

const Order = v.object({
  id: v.number(),
  status: v.string(),
  total: v.number(),
  customer: v.object({ name: v.string(), email: v.string(), city: v.string() }),
  lines: v.array(v.object({ article: v.string(), count: v.number(), price: v.number() })),
  note: v.string(),
});

const Id = v.strictObject({ id: v.pipe(v.number(), v.description('The number of the order')) });
const reads = { readOnlyHint: true } as const;

/** Five tools. The tasks use the first one. */
const toolsFor = (...callers: ('model' | 'program')[]): readonly Tool[] => [
  defineTool({
    id: 'orders_get',
    description: 'Returns an order with its lines, its customer and its state',
    annotations: reads,
    callers,
    input: Id,
    output: Order,
    execute: ({ id }) => order(id),
  }),
  ...['customers_get', 'articles_get', 'invoices_get', 'shipments_get'].map((id) =>
    defineTool({
      id,
      description: `Returns one of the ${id.split('_')[0] ?? ''} by its number, with everything that is known of it`,
      annotations: reads,
      callers,
      input: Id,
      execute: () => null,
    })
  ),
];

/** About 300 tokens. */
const instructions = 'You answer questions about the orders of a shop. Use the tools; state only what they return. '
  .repeat(13);

/** Runs a task, and returns the model with the prompts that it received. */
export async function run(
  scripts: readonly Source[],
  tools: readonly Tool[] = toolsFor(isOfProgram(scripts) ? 'program' : 'model'),
): Promise<ScriptedModel> {
  const model = scriptedModel(...scripts);
  const isProgram = isOfProgram(scripts);
  const runtime = testRuntime({
    model: model.model,
    tools,
    limits: { toolCalls: 2_000, steps: 100 },
    ...(isProgram && { sandbox: denoSandbox(), programs: true }),
    agent: { instructions, entryTools: isProgram ? ['*', 'code_run'] : ['*'] },
  });
  const messages = [userMessage('What is the total of all open orders?')];
  const chunks = await readAll(await runtime.run(runRequest({ chat: { id: 'chat', messages } }), localPrincipal()));
  if (!chunks.some(({ type }) => type === 'finish')) throw new Error('The run did not finish');
  return model;
}

function isOfProgram([first]: readonly Source[]): boolean {
  return Array.isArray(first) && first.some((part) => part.type === 'tool-call' && part.toolName === 'code_run');
}

const answer = says('The open orders come to 180 euros in all.');

export function program(code: string): readonly Source[] {
  return [callsTools({ tool: 'code_run', input: { code }, id: idOf(0) }), answer];
}

/** The script of `count` calls, one a step. */
export function sequential(count: number): readonly Source[] {
  return [...Array.from({ length: count }, (_, i) => callsTools(callOf(i))), answer];
}

/** The script of `count` calls in one step. */
export function parallel(count: number): readonly Source[] {
  return [callsTools(...Array.from({ length: count }, (_, i) => callOf(i))), answer];
}

function callOf(i: number) {
  return { tool: 'orders_get', input: { id: i + 1 }, id: idOf(i + 1) };
}

/** As long as the ids of providers: prompts repeat them. */
function idOf(i: number): string {
  return `call_${String(i).padStart(24, 'x')}`;
}
