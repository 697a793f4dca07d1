/** Compares what a server offers now with what was approved. */

import { canonicalJson, checkData } from '../base/json.ts';
import type { McpPin, PinnedTool } from '../base/schema.ts';
import { asRecord } from '../base/is-record.ts';
import { knownFields } from './checks/fields.ts';
import { fingerprintOf } from './fingerprint.ts';

/** How one tool differs from its pin. */
export interface ToolChange {
  /** As the server names it. */
  readonly name: string;
  readonly kind: 'changed' | 'removed' | 'added';
  /** The fields of the definition that differ; those that MCP does not know are all called `other`. */
  readonly fields: readonly string[];
  readonly old?: string;
  readonly new?: string;
}

/** All that differs. */
export interface Drift {
  readonly tools: readonly ToolChange[];
  readonly instructionsChanged: boolean;
}

/** What a server offers now. */
export interface Offer {
  readonly tools: readonly unknown[];
  readonly instructions: string | undefined;
}

/** Compares. A name that is offered twice has changed, whatever it offers. */
export async function compareWithPin(pin: McpPin, { tools, instructions }: Offer): Promise<Drift> {
  const live = Map.groupBy(tools, (tool) => nameOf(tool) ?? '');
  const pinned = new Set(pin.tools.map(({ definition }) => definition.name));
  const changes = await Promise.all(pin.tools.map((tool) => changeOf(tool, live.get(tool.definition.name) ?? [])));
  const added = [...live.keys()].filter((name) => !pinned.has(name));
  return {
    tools: [
      ...changes.filter((change) => change !== undefined),
      ...added.map((name): ToolChange => ({ name, kind: 'added', fields: [] })),
    ],
    instructionsChanged: (pin.instructions ?? '') !== (instructions ?? ''),
  };
}

/** The name of a raw definition, when it has one. */
export function nameOf(definition: unknown): string | undefined {
  const name = asRecord(definition)['name'];
  return typeof name === 'string' ? name : undefined;
}

async function changeOf(pinned: PinnedTool, live: readonly unknown[]): Promise<ToolChange | undefined> {
  const { definition: { name }, fingerprint: old } = pinned;
  const [first] = live;
  if (first === undefined) return { name, kind: 'removed', fields: [], old };
  const fingerprints = await Promise.all(live.map(fingerprintOfLive));
  const other = fingerprints.find((fingerprint) => fingerprint !== old);
  if (other === undefined && live.length === 1) return undefined;
  const fields = live.length === 1 ? changedFields(pinned.definition, first) : ['name'];
  return { name, kind: 'changed', fields, old, new: other ?? old };
}

/** What is no sane JSON is never what was approved. */
async function fingerprintOfLive(definition: unknown): Promise<string> {
  try {
    checkData(definition);
  } catch {
    return 'unreadable';
  }
  return await fingerprintOf(definition);
}

/** The fields that differ. Names of fields that MCP does not know are the server's own words, and are not repeated. */
export function changedFields(old: object, live: unknown, known = knownFields): readonly string[] {
  const [a, b] = [asRecord(old), asRecord(live)];
  const keys = Object.keys({ ...a, ...b }).filter((key) => textOf(a[key]) !== textOf(b[key]));
  return [...new Set(keys.map((key) => known.has(key) ? key : 'other'))].toSorted();
}

/** Tells what is missing from `null`, and what is nested too deep from everything. */
function textOf(value: unknown): string {
  try {
    return value === undefined ? '' : canonicalJson(value);
  } catch {
    return 'unreadable';
  }
}
