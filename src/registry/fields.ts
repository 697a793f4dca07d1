/** Refuses records that could never run, field by field, and agents that name what does not exist. */

import { PinnaceError } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import {
  type CatalogRecords,
  type FieldIssue,
  kindNames,
  type KnownCode,
  mcpServerIssues,
  providerIssues,
  type RecordKind,
  toolIssues,
} from './record-kinds.ts';
import type { Agent, Provider, ToolDefinition } from '../base/schema.ts';

export interface KnownParts extends KnownCode {
  /** Ids of the composition's data sources in code. */
  readonly sources: ReadonlySet<string>;
}

/** What a composition without handlers, private origins and sources knows. */
export const nothingKnown: KnownParts = { handlers: new Set(), privateOrigins: [], sources: new Set() };

type AnyRecord = CatalogRecords[RecordKind];

export interface FieldContext {
  readonly known: KnownParts;
  /** Gives a record as it will be when the write is done. */
  readonly find: <Kind extends RecordKind>(kind: Kind, id: string) => Promise<CatalogRecords[Kind] | undefined>;
  /** The record as it is now: what it already holds was accepted before, and does not hold up other changes. */
  readonly current: AnyRecord | undefined;
}

/** Checks the fields of a record. @throws PinnaceError `invalid_argument` with `details.issues`, each with `field` and `reason`. */
export async function requireFields(context: FieldContext, kind: RecordKind, record: AnyRecord): Promise<void> {
  const issues = await issuesOf(context, record);
  const [first] = issues;
  if (!first) return;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot register the ${kindNames[kind]}: "${first.path}" ${first.message}`,
    { details: { reason: first.reason, issues: issues.slice(0, 20) } },
  );
}

async function issuesOf(context: FieldContext, record: AnyRecord): Promise<readonly FieldIssue[]> {
  const { known, current } = context;
  if ('entryTools' in record) return await agentIssues(context, record);
  if ('paramsSchema' in record) {
    return isSame(runningParts(record), current && 'paramsSchema' in current && runningParts(current))
      ? []
      : toolIssues(record, known);
  }
  if ('alias' in record) {
    return current && 'alias' in current && current.url === record.url ? [] : mcpServerIssues(record, known);
  }
  if (!isProvider(record)) return [];
  return isSame(addressParts(record), current && isProvider(current) && addressParts(current))
    ? []
    : providerIssues(record, known);
}

function isProvider(record: AnyRecord): record is Provider {
  return 'kind' in record && ['openai-compatible', 'rehearsal', 'custom'].includes(record.kind);
}

function runningParts({ type, config, secrets }: ToolDefinition): unknown {
  return [type, config ?? null, secrets];
}

function addressParts({ kind, baseUrl }: Provider): unknown {
  return [kind, baseUrl ?? null];
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

async function agentIssues({ current, find, known }: FieldContext, agent: Agent): Promise<readonly FieldIssue[]> {
  const before = current && 'entryTools' in current ? current : undefined;
  const issues: FieldIssue[] = [];
  const { providerId } = agent;
  if (providerId !== before?.providerId && !await find('provider', providerId)) {
    issues.push(unknown('providerId', 'unknown_provider', 'provider'));
  }
  const usable = new Set([providerId, ...before?.fallbacks?.map((fallback) => fallback.providerId) ?? []]);
  for (const [at, fallback] of agent.fallbacks?.entries() ?? []) {
    if (usable.has(fallback.providerId) || await find('provider', fallback.providerId)) continue;
    issues.push(unknown(`fallbacks.${at}.providerId`, 'unknown_provider', 'provider'));
  }
  for (const [at, id] of agent.dataSources.entries()) {
    if (before?.dataSources.includes(id) === true || known.sources.has(id) || await find('dataSource', id)) continue;
    issues.push(unknown(`dataSources.${at}`, 'unknown_data_source', 'data source'));
  }
  return issues;
}

/** Names the place and not the id: what a caller sends is not repeated. */
function unknown(path: string, reason: string, what: string): FieldIssue {
  return { path, field: path, reason, message: `is no ${what} that is known here: register it first` };
}
