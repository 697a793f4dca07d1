/** What must hold for a record besides its schema. */

import { PinnaceError } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import { invalid, type Issue } from '../base/parse.ts';
import type { Agent, McpServer } from '../base/schema.ts';
import { builtinToolIds, isOfProvider, isPattern } from '../tools/availability.ts';
import { nothingKnown, requireFields } from './fields.ts';
import type { Owner } from './owner.ts';
import { type CatalogRecords, kindNames, type RecordKind } from './record-kinds.ts';
import { scan, type ScanOptions } from './scan.ts';

export interface RuleContext extends ScanOptions {
  readonly owner: Owner;
  /** Gives a record as it will be when the write is done. */
  readonly find: <Kind extends RecordKind>(kind: Kind, id: string) => Promise<CatalogRecords[Kind] | undefined>;
  readonly current: CatalogRecords[RecordKind] | undefined;
}

/**
 * @throws PinnaceError `invalid_argument` for a field that could never work, for what is named and unknown, and for the value of a
 * secret, `conflict` for an alias that another server has.
 */
export async function requireFit(
  context: RuleContext,
  kind: RecordKind,
  record: CatalogRecords[RecordKind],
): Promise<void> {
  refuseSecrets(record, `the ${kindNames[kind]}`);
  await requireFields({ known: nothingKnown, ...context }, kind, record);
  if ('entryTools' in record) await requireTools(context, record);
  if ('alias' in record) await requireAlias(context, record);
}

/** Whether the id belongs to a tool that the registry does not keep. */
export function isGiven({ composed }: Pick<ScanOptions, 'composed'>, kind: RecordKind, id: string): boolean {
  return kind === 'tool' && (composed.has(id) || builtinToolIds.has(id));
}

async function requireTools(context: RuleContext, agent: Agent): Promise<void> {
  const { current, find } = context;
  // A bound record cannot have been removed, but a code tool may be missing: it must not block other changes.
  const known = new Set(current && 'entryTools' in current ? current.entryTools : []);
  const added = agent.entryTools.flatMap((id, at) =>
    isPattern(id) || isOfProvider(id) || known.has(id) || isGiven(context, 'tool', id) ? [] : [{ id, at }]
  );
  const isKnown = async ({ id }: { readonly id: string }): Promise<boolean> =>
    await find('tool', id) !== undefined || await isMcpTool(context, agent, id);
  const found = await Promise.all(added.map(isKnown));
  const unknown = added.filter((_, i) => found[i] !== true);
  if (unknown.length > 0) throw unknownTools(unknown.map(({ at }) => at));
}

/** Whether a server offers this tool, by its pin; before a pin, by the alias in its name. */
async function isMcpTool(context: RuleContext, agent: Agent, id: string): Promise<boolean> {
  const dash = id.indexOf('__');
  if (dash < 1) return false;
  const [alias, name] = [id.slice(0, dash), id.slice(dash + 2)];
  const server = await serverOf(context, agent, alias);
  if (!server || name === '') return false;
  return server.pinned?.tools.some(({ definition }) => definition.name === name) !== false;
}

/** The server of this alias: one that the agent names, which may be written in the same commit, or any other. */
async function serverOf(context: RuleContext, { mcp }: Agent, alias: string): Promise<McpServer | undefined> {
  const named = await Promise.all(Object.keys(mcp).map((serverId) => context.find('mcpServer', serverId)));
  const own = named.find((server) => server?.alias === alias);
  if (own) return own;
  const other = await holderOf(alias, context);
  return other === undefined ? undefined : await context.find('mcpServer', other);
}

/** Says the places and not the ids: what a caller sends is not repeated. */
function unknownTools(places: readonly number[]): PinnaceError {
  const message = 'is no tool that is known here: register it first';
  const issues = places.slice(0, 20).map((at): Issue => ({ path: `entryTools.${at}`, message }));
  return new PinnaceError('invalid_argument', `Cannot bind the agent: "entryTools.${places[0]}" ${message}`, {
    details: { reason: 'unknown_tool', issues },
  });
}

/** Two servers with one alias would give their tools the same names. */
async function requireAlias(context: RuleContext, { id, alias }: McpServer): Promise<void> {
  const { current, find } = context;
  if (current && 'alias' in current && current.alias === alias) return;
  const other = await holderOf(alias, context);
  if (!other || other === id || (await find('mcpServer', other))?.alias !== alias) return;
  throw new PinnaceError('conflict', `Cannot set MCP server "${id}": server "${other}" has the alias "${alias}"`, {
    retryable: false,
    details: { reason: 'alias_taken' },
  });
}

async function holderOf(alias: string, options: RuleContext): Promise<string | undefined> {
  for await (const server of scan(options, { kind: 'mcpServer', owner: options.owner })) {
    if (server.alias === alias) return server.id;
  }
  return undefined;
}

/**
 * Gives the record as its author may write it. That an MCP server was checked is not for its author to say: when anything that it
 * was checked for has changed, it waits to be checked anew.
 */
export function asAuthored<Kind extends RecordKind>(
  record: CatalogRecords[Kind],
  current: CatalogRecords[Kind] | undefined,
): CatalogRecords[Kind] {
  if (!('alias' in record)) return record;
  return withChecks(record, current as McpServer | undefined) as CatalogRecords[Kind]; // safe, both: only an MCP server has an alias
}

function withChecks(server: McpServer, current: McpServer | undefined): McpServer {
  const { status: _, findings: __, validatedAt: ___, ...rest } = server;
  if (!current || checkedPart(current) !== checkedPart(server)) return { ...rest, status: 'pending', findings: [] };
  const { status, findings, validatedAt } = current;
  return { ...rest, status, findings, ...(validatedAt !== undefined && { validatedAt }) };
}

function checkedPart({ alias, url, secret, pinned }: McpServer): string {
  return canonicalJson([alias, url, secret ?? null, pinned ?? null]);
}

/** Names under which people write credentials, without case, `-` and `_`. */
const names: ReadonlySet<string> = new Set([
  'accesstoken',
  'apikey',
  'apitoken',
  'authorization',
  'authtoken',
  'bearertoken',
  'clientsecret',
  'connectionstring',
  'cookie',
  'credential',
  'credentials',
  'passphrase',
  'passwd',
  'password',
  'privatekey',
  'proxyauthorization',
  'refreshtoken',
  'secret',
  'secretaccesskey',
  'secretkey',
  'token',
  'xapikey',
]);

/**
 * Refuses a record that holds what looks like a credential: a text under such a name in its `config` or its
 * `modelSettings.providerOptions` that is no template, or a user name or password in its address.
 * @throws PinnaceError `invalid_argument` that names the places and repeats no value.
 */
function refuseSecrets(record: CatalogRecords[RecordKind], what: string): void {
  const issues = [
    ...('config' in record ? issuesIn(record.config, 'config') : []),
    ...('modelSettings' in record
      ? issuesIn(record.modelSettings?.providerOptions, 'modelSettings.providerOptions')
      : []),
    ...('baseUrl' in record ? addressIssues(record.baseUrl, 'baseUrl') : []),
    ...('url' in record ? addressIssues(record.url, 'url') : []),
  ];
  if (issues.length > 0) throw invalid(what, issues);
}

function issuesIn(value: unknown, path: string): readonly Issue[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]: [string, unknown]) => {
    const place = `${path}.${name.replace(/[^\w$-]/g, '?').slice(0, 64)}`;
    return isCredential(name, item)
      ? [{ path: place, message: 'must name a secret, like {{secret:NAME}}, and not be its value' }]
      : issuesIn(item, place);
  });
}

/** A template's value is put in later: by the input, or by the source of secrets. */
function isCredential(name: string, value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('{') &&
    names.has(name.toLowerCase().replace(/[-_]/g, ''));
}

function addressIssues(address: string | undefined, path: string): readonly Issue[] {
  const url = address === undefined ? null : URL.parse(address);
  return url && (url.username !== '' || url.password !== '')
    ? [{ path, message: 'must have no user name and no password' }]
    : [];
}
