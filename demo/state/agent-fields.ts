/** An agent as a form has it: every field a text, and back again as a merge patch. */

import type { Agent, Patch } from '../../src/index.ts';

/** The limits of a run that an agent may narrow, in the words of a form. */
export const limitLabels = {
  steps: 'Steps',
  toolCalls: 'Tool calls',
  callsPerMinute: 'Tool calls a minute',
  outputTokens: 'Output tokens',
  totalMs: 'Whole run, ms',
  stepMs: 'One step, ms',
  toolMs: 'One tool call, ms',
  firstChunkMs: 'First words, ms',
  chunkMs: 'Between words, ms',
} as const;

/** The name of a limit. */
export type LimitName = keyof typeof limitLabels;

const textLabels = {
  name: 'Name',
  role: 'Role',
  version: 'Version',
  visibility: 'Visibility',
  tags: 'Tags',
  description: 'Description',
  instructions: 'Instructions',
  entryTools: 'Tools',
} as const;

/** A field of the form; those of limits are named `limits.steps`. */
export type FieldName = keyof typeof textLabels | `limits.${LimitName}`;

/** What stands in the fields. */
export type FieldValues = Readonly<Record<FieldName, string>>;

const limitNames = Object.keys(limitLabels) as LimitName[]; // safe: the keys are the union
const limitFields = limitNames.map((name) => `limits.${name}` as const);
const fieldNames: readonly FieldName[] = [...Object.keys(textLabels) as (keyof typeof textLabels)[], ...limitFields]; // safe: as above

/** What people call a field. */
export function labelOf(field: FieldName): string {
  return (textLabels as Partial<Record<string, string>>)[field] ??
    limitLabels[field.slice('limits.'.length) as LimitName]; // safe: the others are limits
}

/** Gives what stands in the fields of an agent. */
export function valuesOf(agent: Agent): FieldValues {
  const limits = limitNames.map((name) => [`limits.${name}`, String(agent.limits?.[name] ?? '')]);
  return {
    name: agent.name,
    role: agent.role,
    version: agent.version,
    visibility: agent.visibility,
    tags: agent.tags.join(', '),
    description: agent.description,
    instructions: agent.instructions,
    entryTools: agent.entryTools.join('\n'),
    ...Object.fromEntries(limits),
  } as FieldValues; // safe: every limit is there
}

/** The fields whose values differ. */
export function changedFields(from: FieldValues, to: FieldValues): readonly FieldName[] {
  return fieldNames.filter((field) => from[field] !== to[field]);
}

/** Gives the merge patch that writes these fields. What is no number goes as it is: the registry says what is wrong with it. */
export function patchOf(values: FieldValues, fields: readonly FieldName[]): Patch<'agent'> {
  const limits: Record<string, unknown> = {};
  const patch: Record<string, unknown> = {};
  for (const field of fields) {
    if (field.startsWith('limits.')) limits[field.slice('limits.'.length)] = limitOf(values[field]);
    else patch[field] = listFields.has(field) ? entriesOf(values, field) : values[field];
  }
  return { ...patch, ...(Object.keys(limits).length > 0 && { limits }) };
}

/** The field that an issue is about, and what to say beside it; `undefined` where no field shows it. */
export function placeIssue(
  { path, message }: { readonly path: string; readonly message: string },
  values: FieldValues,
): { readonly field: FieldName; readonly text: string } | undefined {
  const field = fieldNames.find((name) => path === name || path.startsWith(`${name}.`));
  if (!field) return undefined;
  const entry = listFields.has(field) ? entriesOf(values, field)[Number(path.slice(field.length + 1))] : undefined;
  return { field, text: `${entry === undefined ? labelOf(field) : `“${entry}”`} ${message}.` };
}

const listFields: ReadonlySet<FieldName> = new Set(['tags', 'entryTools']);

function entriesOf(values: FieldValues, field: FieldName): readonly string[] {
  const separator = field === 'tags' ? /[,\n]/ : /[\s,]+/;
  return values[field].split(separator).map((entry) => entry.trim()).filter((entry) => entry !== '');
}

function limitOf(text: string): unknown {
  if (text.trim() === '') return null;
  return Number.isFinite(Number(text)) ? Number(text) : text;
}
