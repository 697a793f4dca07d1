/** The kinds of records in a catalog, and what is wrong with one besides its schema. */

import * as v from 'valibot';
import { checkUrl, type UrlRule } from '../base/check-url.ts';
import { type Issue, parse, toIssue } from '../base/parse.ts';
import { isPrivateOriginAllowed, type PrivateOrigins } from '../base/origins.ts';
import {
  Agent,
  type AgentInput,
  DataSource,
  type DataSourceInput,
  McpServer,
  type McpServerInput,
  Provider,
  type ProviderInput,
  ToolDefinition,
  type ToolDefinitionInput,
  withEntryTools,
} from '../base/schema.ts';
import { withTenant } from '../log/cache-key.ts';
import { builtinToolIds, declaredBy, providerConfigForm } from '../tools/availability.ts';
import { HttpToolConfig, secretNames } from '../tools/http-config.ts';
import { requireDestinations } from '../tools/input-fields.ts';
import { CodeToolConfig } from '../tools/implement.ts';
import { requireOutputSchema, requireSchema } from '../tools/json-schema/json-schema.ts';

/** What a record of each kind is. */
export interface CatalogRecords {
  readonly agent: Agent;
  readonly provider: Provider;
  readonly tool: ToolDefinition;
  readonly mcpServer: McpServer;
  readonly dataSource: DataSource;
}

/** A record of each kind as its author writes it; the `revision` is not the author's, and is replaced. */
export interface CatalogInputs {
  readonly agent: AgentInput;
  readonly provider: ProviderInput;
  readonly tool: ToolDefinitionInput;
  readonly mcpServer: McpServerInput;
  readonly dataSource: DataSourceInput;
}

/** A kind of record. */
export type RecordKind = keyof CatalogRecords;

export const kindNames: Readonly<Record<RecordKind, string>> = {
  agent: 'agent',
  provider: 'provider',
  tool: 'tool',
  mcpServer: 'MCP server',
  dataSource: 'data source',
};

export const collectionNames: Readonly<Record<RecordKind, string>> = {
  agent: 'agents',
  provider: 'providers',
  tool: 'tools',
  mcpServer: 'mcp-servers',
  dataSource: 'data-sources',
};

export const recordSchemas = {
  agent: Agent,
  provider: Provider,
  tool: ToolDefinition,
  mcpServer: McpServer,
  dataSource: DataSource,
};

/** How each kind is read; `what` names the record in errors. @throws PinnaceError `invalid_argument`. */
export const readRecord: {
  readonly [Kind in RecordKind]: (data: unknown, what: string) => CatalogRecords[Kind];
} = {
  agent: readAgent,
  provider: (data, what) => parse(Provider, data, { what }),
  tool: readTool,
  mcpServer: (data, what) => parse(McpServer, data, { what }),
  dataSource: (data, what) => parse(DataSource, data, { what }),
};

function readAgent(data: unknown, what: string): Agent {
  const agent = parse(Agent, withEntryTools(data), { what });
  if (agent.output) requireOutputSchema(agent.output.schema);
  return agent;
}

/** A tool whose `paramsSchema` is no JSON Schema would accept any input. */
function readTool(data: unknown, what: string): ToolDefinition {
  const tool = parse(ToolDefinition, data, { what });
  requireSchema(tool.paramsSchema, 'paramsSchema');
  requireDestinations(tool);
  if (tool.outputSchema) requireSchema(tool.outputSchema, 'outputSchema');
  return tool;
}

/** The key that a runtime invalidates a record by; tools are cached all together, a tenant's own apart from the shared ones. */
export function cacheKeyOf(kind: RecordKind, id: string, tenant?: string): string {
  return withTenant(kind === 'tool' ? 'tools' : `${collectionNames[kind].slice(0, -1)}:${id}`, tenant);
}

export interface FieldIssue extends Issue {
  /** The same place as `path`, as `config.origin`. */
  readonly field: string;
  /** The rule that refuses it, for code to branch on. */
  readonly reason: string;
}

export interface KnownCode {
  readonly handlers: ReadonlySet<string>;
  /** Origins on private networks that HTTP tools, model and MCP servers may have. */
  readonly privateOrigins: PrivateOrigins;
}

/** Lists what keeps a tool from ever running. */
export function toolIssues(tool: ToolDefinition, { handlers, privateOrigins }: KnownCode): readonly FieldIssue[] {
  switch (tool.type) {
    case 'http':
      return httpIssues(tool, privateOrigins);
    case 'code':
      return configIssues(CodeToolConfig, tool);
    case 'agent':
      return configIssues(AgentToolConfig, tool);
    case 'provider':
      return declaredBy(tool) ? [] : [issueAt('config', 'invalid_config', providerConfigForm)];
    case 'datastore':
      return configIssues(DataStoreToolConfig, tool);
    case 'function':
    case 'extension':
      return handlerIssues(tool, handlers);
    case 'builtin':
      if (builtinToolIds.has(tool.id)) return [];
      return [issueAt('id', 'unknown_builtin', `must be a built-in tool: ${[...builtinToolIds].join(', ')}`)];
    case 'mcp':
      return [
        issueAt('type', 'mcp_tools_come_from_servers', 'must not be "mcp": register the MCP server and validate it'),
      ];
    default:
      return tool.type satisfies never;
  }
}

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(128));

const AgentToolConfig = v.looseObject({ agentId: Id });

const DataStoreToolConfig = v.looseObject({ dataSourceId: Id });

function handlerIssues({ config }: ToolDefinition, handlers: ReadonlySet<string>): readonly FieldIssue[] {
  const handler = config?.['handler'];
  if (typeof handler === 'string' && handlers.has(handler)) return [];
  const known = handlers.size === 0
    ? 'the composition gives none: pass "handlers"'
    : `must be one of ${[...handlers].slice(0, 20).join(', ')}`;
  return [issueAt('config.handler', 'unknown_handler', `is no handler that is known here; ${known}`)];
}

type ConfigSchema = v.GenericSchema<unknown, unknown>;

function configIssues(schema: ConfigSchema, { config }: ToolDefinition): readonly FieldIssue[] {
  const { issues = [] } = v.safeParse(schema, config ?? {});
  return issues.map(toIssue).map(({ path, message }) => issueAt(`config.${path}`, reasonOf(path, message), message));
}

function httpIssues(tool: ToolDefinition, privateOrigins: PrivateOrigins): readonly FieldIssue[] {
  const { config = {}, secrets } = tool;
  const issues = configIssues(HttpToolConfig, tool);
  const unreachable = originFields(config).flatMap(([path, origin]) => originIssues(path, origin, privateOrigins));
  const others = issues.filter(({ path }) => !unreachable.some((issue) => issue.path === path));
  const parsed = v.safeParse(HttpToolConfig, config);
  const isUnlisted = parsed.success &&
    secretNames(parsed.output).some((name) => !secrets.some(({ id }) => id === name));
  const unlisted = isUnlisted
    ? [issueAt('secrets', 'secret_not_listed', 'must list every secret that the template uses')]
    : [];
  return [...unreachable, ...others, ...unlisted];
}

function originFields(config: Readonly<Record<string, unknown>>): readonly [path: string, origin: string][] {
  const redirects = Array.isArray(config['redirectOrigins']) ? config['redirectOrigins'] : [];
  const all: [string, unknown][] = [
    ['config.origin', config['origin']],
    ...redirects.map((origin: unknown, at): [string, unknown] => [`config.redirectOrigins.${at}`, origin]),
  ];
  return all.flatMap(([path, origin]) => typeof origin === 'string' ? [[path, origin] satisfies [string, string]] : []);
}

/** An origin alone, which is public and https, unless the composition lists it. */
function originIssues(path: string, origin: string, privateOrigins: PrivateOrigins): readonly FieldIssue[] {
  if (/[{}]/.test(origin)) {
    return [
      issueAt(path, 'placeholder_in_origin', 'must have no placeholder: inputs go into path, query, headers or body'),
    ];
  }
  const url = URL.parse(origin);
  if (url && url.origin === origin && isPrivateOriginAllowed(url, privateOrigins)) return [];
  const reason = urlRule(origin, ['https']) ?? (url?.origin === origin ? undefined : 'origin_not_listed');
  return reason === undefined ? [] : [issueAt(path, reason, urlMessages[reason])];
}

/** Where the message says which rule it is. */
function reasonOf(path: string, message: string): string {
  if (message.startsWith('must have no secret')) return 'secret_not_allowed';
  if (message.startsWith('must not be set by a template')) return 'header_not_allowed';
  if (path === 'method') return 'method_not_allowed';
  return message === 'is missing' ? 'missing' : 'invalid_value';
}

/** Lists what keeps a provider from ever answering. */
export function providerIssues(
  { kind, baseUrl }: Provider,
  { privateOrigins }: Pick<KnownCode, 'privateOrigins'>,
): readonly FieldIssue[] {
  if (baseUrl === undefined) {
    if (kind !== 'openai-compatible') return [];
    return [
      issueAt('baseUrl', 'missing_base_url', 'is missing: where the models are, like "https://api.example.com/v1"'),
    ];
  }
  return addressIssues('baseUrl', baseUrl, privateOrigins);
}

/** Lists what keeps an MCP server from ever being called. */
export function mcpServerIssues(
  { url }: Pick<McpServer, 'url'>,
  { privateOrigins }: Pick<KnownCode, 'privateOrigins'>,
): readonly FieldIssue[] {
  return addressIssues('url', url, privateOrigins);
}

/** An address must be public and https, unless the composition lists its origin. */
function addressIssues(path: string, text: string, privateOrigins: PrivateOrigins): readonly FieldIssue[] {
  const url = URL.parse(text);
  if (url && url.username === '' && url.password === '' && isPrivateOriginAllowed(url, privateOrigins)) return [];
  const reason = urlRule(text, ['https']);
  return reason === undefined ? [] : [issueAt(path, reason, urlMessages[reason])];
}

/** An origin of its own may have any port: what it must be is public. */
function urlRule(text: string, schemes: readonly string[]): UrlRule | undefined {
  const checked = checkUrl(text, { schemes, origins: [URL.parse(text)?.origin ?? ''] });
  return checked.ok ? undefined : checked.reason;
}

const urlMessages: Readonly<Record<UrlRule, string>> = {
  too_long: 'must be at most 2048 characters long',
  forbidden_character: 'must have no spaces, control characters, invisible characters or backslashes',
  scheme_not_allowed: 'must begin with "https://"',
  credentials_or_escapes_in_authority: 'must have no user name, no password and no escapes before its path',
  not_a_url: 'must be a URL, like "https://api.example.com"',
  origin_not_listed: 'must be an origin alone, like "https://api.example.com"',
  port_not_allowed: 'must use the port of its scheme',
  address_not_canonical: 'must write an IP address in its usual form',
  address_not_public: 'must not be an address of this machine, of a private network or of a metadata service',
  host_not_public: 'must be the name of a public host',
};

function issueAt(path: string, reason: string, message: string): FieldIssue {
  return { path: path.replace(/\.$/, ''), field: path.replace(/\.$/, ''), reason, message };
}
