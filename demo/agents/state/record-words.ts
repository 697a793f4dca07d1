/** What people read of a record in a line, and of the values of its fields. */

import type { AnyRecord } from '../../control/registry-control.ts';
import { nameOfModel } from '../../kit/model-name.ts';

/** What people call a record. */
export function nameOf(record: AnyRecord): string {
  if ('title' in record && record.title !== undefined) return record.title;
  if ('alias' in record) return record.alias;
  return 'name' in record && record.name !== '' ? record.name : record.id;
}

/** What a record is tagged with; a tool's keywords are its tags. */
export function tagsOf(record: AnyRecord): readonly string[] {
  if ('tags' in record) return record.tags;
  return 'keywords' in record ? record.keywords : [];
}

/** What distinguishes a record from its neighbors. */
export function lineOf(record: AnyRecord): string {
  if ('url' in record) return record.url;
  if ('description' in record && record.description !== '') return record.description;
  if (!('kind' in record)) return '';
  const facts = 'baseUrl' in record || 'model' in record ? [record.kind, record.model, record.baseUrl] : [record.kind];
  return [...new Set(facts.filter((fact) => fact !== undefined).map(nameOfModel))].join(' · ');
}

const words: Readonly<Record<string, string>> = {
  http: 'HTTP request',
  mcp: 'MCP',
  builtin: 'Built in',
  datastore: 'Data store',
  json: 'JSON',
  'openai-compatible': 'OpenAI-compatible',
  rehearsal: 'Scripted demo',
  user: 'Each person',
  tenant: 'The tenant',
};

/** Returns what people read in place of a value of a field. */
export function wordOfValue(value: string): string {
  return words[value] ?? `${value.charAt(0).toUpperCase()}${value.slice(1)}`;
}
