/** How the model looks for tools: it finds by the words of the message, loads the best that was found, and then uses that one. */

import type { ActiveTool } from './choose-tool.ts';
import type { PastCall } from './conversation.ts';
import type { Call } from './explicit-calls.ts';
import { own } from './shape.ts';
import { stemsOf } from './words.ts';

const finder = 'tool_find';
const loader = 'tool_load';
const discoveryNames: ReadonlySet<string> = new Set([finder, loader, 'tool_describe', 'tool_active']);

/** Whether a tool is there to find others. */
export function isDiscovery({ name }: Pick<ActiveTool, 'name'>): boolean {
  return discoveryNames.has(name);
}

/**
 * Whether the model should search for tools by itself: if the description of `tool_find` says to load the needed tools. A
 * message that names these tools uses them like any others.
 */
export function mayDiscover(tools: readonly ActiveTool[], message: string): boolean {
  const find = tools.find(({ name }) => name === finder);
  const canLoad = tools.some(({ name }) => name === loader) && find?.description.includes(loader);
  return canLoad === true && ![...discoveryNames].some((name) => message.includes(name));
}

/** How far the search for one stage has come. */
export type Search =
  | { readonly state: 'calling'; readonly call: Call }
  | { readonly state: 'found'; readonly name: string }
  | { readonly state: 'nothing' };

/** Reads how far the search for a stage is, by the calls since the last stage. A single word is no task. */
export function searchFor(stage: string, steps: readonly (readonly PastCall[])[]): Search | undefined {
  if (stemsOf(stage).size < 2) return undefined;
  const recent = steps.slice(steps.findLastIndex((calls) => !isSearch(calls)) + 1).flat();
  const find = recent.findLast(({ toolName }) => toolName === finder);
  if (!find) return { state: 'calling', call: callOf(finder, { query: keywordsOf(stage), limit: 5 }) };
  const best = bestOf(find);
  if (!best) return { state: 'nothing' };
  const load = recent.findLast(({ toolName }) => toolName === loader);
  if (!best.active && !load) return { state: 'calling', call: callOf(loader, { names: [best.name] }) };
  return best.active || load?.outcome?.kind === 'value' ? { state: 'found', name: best.name } : { state: 'nothing' };
}

/** Quoted text is input for the tool and does not help to choose it. */
function keywordsOf(stage: string): string {
  return stage.replace(/"[^"]*"/g, '').replace(/\s+/g, ' ').trim().slice(0, 200);
}

/** Whether a step was part of looking for tools. */
export function isSearch(calls: readonly PastCall[]): boolean {
  return calls.every(({ toolName }) => discoveryNames.has(toolName));
}

function callOf(toolName: string, input: unknown): Call {
  return { toolName, input: JSON.stringify(input) };
}

/** The first hit, unless the answer says that none fits. */
function bestOf({ outcome }: PastCall): { readonly name: string; readonly active: boolean } | undefined {
  if (outcome?.kind !== 'value' || own(outcome.value, 'message') !== undefined) return undefined;
  const hits = own(outcome.value, 'tools');
  const [first] = Array.isArray(hits) ? hits : [];
  const name = own(first, 'name');
  return typeof name === 'string' ? { name, active: own(first, 'active') === true } : undefined;
}
