/** The facts of a run: what has been read by it, and what of that can be in a call. */

import type { ToolDefinition } from '../base/schema.ts';
import { join, type Label, labelOf, narrow, type Readers, stricter, type Trust } from './label.ts';

/** The parts of a definition that labels depend on. */
type Labelled = Pick<ToolDefinition, 'id' | 'type' | 'annotations' | 'reads' | 'sends'>;

/** The types of tools whose outputs are written by others, unless their definition says otherwise. */
const strangers: ReadonlySet<ToolDefinition['type']> = new Set(['mcp', 'http', 'provider']);

/** The source of a tool's outputs. An MCP tool has that of its server. */
export function sourceOf({ id, type }: Pick<Labelled, 'id' | 'type'>): string {
  return type === 'mcp' ? `mcp:${id.split('__')[0] ?? id}` : `tool:${id}`;
}

/**
 * Returns the label of an output: what the tool reads, with the label of its input. A tool in code that does not say what it reads
 * counts as a stranger's in a guarded agent alone.
 */
export function outputLabel(definition: Labelled, input: Label, trust: Trust = 'guarded'): Label {
  const { type, reads, annotations } = definition;
  const readers = stricter(input.readers, 'tenant');
  if (reads === 'trusted') return narrow(labelOf(input.from, readers));
  const source = sourceOf(definition);
  if (reads === 'private') return join(input, labelOf([source], 'principal'));
  if (reads === 'untrusted' || strangers.has(type)) return join(input, labelOf([source], readersOf(definition)));
  const onlyComputes = annotations?.openWorldHint === false || trust !== 'guarded';
  return onlyComputes ? labelOf(input.from, readers, input.narrow) : join(input, labelOf([source], 'tenant'));
}

/** A page or an API that anyone can read without a secret tells nobody's secrets. */
function readersOf({ id, type, ...tool }: Labelled & { readonly secrets?: readonly unknown[] }): Readers {
  const isPublic = id === 'fetch_url' || (type === 'http' && tool.secrets?.length === 0);
  return isPublic ? 'public' : 'tenant';
}

/** Who can see what is put into a call. */
export function readersOfInput({ annotations, sends }: Pick<Labelled, 'annotations' | 'sends'>): Readers {
  if (sends !== undefined) return sends;
  if (annotations?.openWorldHint === true) return 'public';
  const mayAct = annotations?.readOnlyHint !== true;
  return mayAct && annotations?.openWorldHint !== false ? 'public' : 'tenant';
}
