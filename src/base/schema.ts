/** Shared data as valibot schemas: the agents, providers and tools of a catalog. */

import { isRecord } from './is-record.ts';
import { pointerForm } from './json.ts';
import { egressForm, isEgressEntry } from './origins.ts';
import * as v from 'valibot';
import type * as Input from './agent-input.ts';
import { CallerSettings, ModelSettings, otherNames, OutputSpec } from './model-settings.ts';
import {
  Currency,
  Id,
  JsonSchema,
  listOf,
  McpToolPattern,
  positive,
  Revision,
  Semver,
  State,
  Tenant,
  Text,
  Timestamp,
  ToolName,
  ToolPattern,
  Words,
} from './record-fields.ts';

export type { AgentInput } from './agent-input.ts';
export type { ProviderInput } from './agent-input.ts';
export { JsonSchema, ToolName } from './record-fields.ts';

const EgressEntry = v.pipe(v.string(), v.maxLength(300), v.check(isEgressEntry, egressForm));

/** The name of a secret, never its value. */
export const SecretRef = v.strictObject(
  { id: Id, version: v.optional(v.string()) },
  ({ expected }) => expected === 'Object' ? 'must be { id }, the name of a secret' : '',
);
export type SecretRef = Input.SecretRef;

/** Upper bounds of one run; each narrows what the runtime allows and never widens it. */
export const LimitOverrides = v.strictObject({
  steps: positive,
  toolCalls: positive,
  totalMs: positive,
  stepMs: positive,
  firstChunkMs: positive,
  reasoningMs: positive,
  chunkMs: positive,
  toolMs: positive,
  outputTokens: positive,
  callsPerMinute: positive,
  recoveries: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
});
export type LimitOverrides = Input.LimitOverrides;

/** The tools of one MCP server that an agent may use: of those that are pinned, all or the allowed, without the masked. */
export const McpSelection = v.strictObject({
  allow: v.optional(listOf(McpToolPattern, 1000)),
  mask: v.optional(listOf(McpToolPattern, 1000)),
});
export type McpSelection = Input.McpSelection;

/** Less would leave no room for instructions, tools and an answer. */
const ContextTokens = v.optional(v.pipe(v.number(), v.integer(), v.minValue(1024)));

/** A model that takes over when those before it cannot answer. */
export const Fallback = v.strictObject({
  providerId: Id,
  model: v.optional(v.string()),
});
export type Fallback = Input.Fallback;

const agentNames = {
  system: '"instructions"',
  systemPrompt: '"instructions"',
  prompt: '"instructions"',
  tools: '"entryTools", a list of ids',
  provider: '"providerId"',
  temperature: '"modelSettings"',
  maxSteps: '"limits.steps"',
};

/** Who acts: instructions, a model, and the allowlist of tools. `AgentInput` describes the fields. */
export const Agent = v.strictObject({
  id: Id,
  tenant: Tenant,
  name: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  role: v.optional(v.string(), ''),
  description: v.optional(Text, ''),
  version: v.optional(Semver, '0.1.0'),
  visibility: v.optional(v.picklist(['public', 'internal', 'disabled']), 'public'),
  state: State,
  tags: Words,
  entryTools: v.optional(listOf(ToolPattern, 1000), []),
  mcp: v.optional(v.pipe(v.record(Id, McpSelection), v.maxEntries(100, 'must name at most 100 servers')), {}),
  secrets: v.optional(listOf(SecretRef, 100)),
  dataSources: v.optional(listOf(Id, 100), []),
  egress: v.optional(listOf(EgressEntry, 100)),
  instructions: v.optional(Text, ''),
  providerId: Id,
  model: v.optional(v.string()),
  contextTokens: ContextTokens,
  fallbacks: v.optional(v.pipe(v.array(Fallback), v.maxLength(4))),
  modelSettings: v.optional(ModelSettings),
  callerSettings: v.optional(CallerSettings),
  output: v.optional(OutputSpec),
  facts: v.optional(v.array(v.picklist(['date']))),
  limits: v.optional(LimitOverrides),
  plans: v.optional(v.boolean()),
  trust: v.optional(v.picklist(['open', 'watched', 'guarded'])),
  createdAt: v.optional(Timestamp, '1970-01-01T00:00:00.000Z'),
  updatedAt: v.optional(Timestamp, '1970-01-01T00:00:00.000Z'),
  revision: v.optional(Revision, 1),
}, /* @__PURE__ */ otherNames(agentNames));
export type Agent = v.InferOutput<typeof Agent>;

/** Returns the data of an agent with `entryTools` where it says `tools`. What has both, or anything but names, is left to the schema. */
export function withEntryTools(data: unknown): unknown {
  if (!isRecord(data) || data['entryTools'] !== undefined || !Array.isArray(data['tools'])) return data;
  const { tools, ...record } = data;
  return tools.every((name) => typeof name === 'string') ? { ...record, entryTools: tools } : data;
}

const price = v.optional(v.pipe(v.number(), v.minValue(0)));

/** What a provider takes for a million tokens, in its currency (ISO 4217). Pinnace does not bill; it shows the costs. */
const Prices = v.strictObject({
  input: price,
  output: price,
  cachedInput: price,
  cacheWrite: price,
  currency: v.optional(Currency),
});

/** Where models are. `ProviderInput` describes the fields. */
export const Provider = v.strictObject({
  id: Id,
  tenant: Tenant,
  kind: v.picklist(['openai-compatible', 'rehearsal', 'custom']),
  version: v.optional(Semver, '0.1.0'),
  state: State,
  baseUrl: v.optional(v.pipe(v.string(), v.url('must be an address like "https://api.example.com/v1"'))),
  model: v.optional(v.string()),
  contextTokens: ContextTokens,
  secret: v.optional(SecretRef),
  jsonSchema: v.optional(v.boolean()),
  unsupportedParameters: v.optional(
    v.pipe(v.array(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]{0,63}$/))), v.maxLength(20)),
  ),
  cache: v.optional(v.picklist(['off', 'marks', 'key', 'salt', '1h'])),
  toolLoading: v.optional(v.picklist(['call', 'native'])),
  prices: v.optional(Prices),
  inputs: v.optional(v.array(v.picklist(['image', 'pdf', 'audio']))),
  toolContent: v.optional(v.boolean()),
  revision: v.optional(Revision, 1),
}, /* @__PURE__ */ otherNames({ apiKey: '"secret", the name of a secret', baseURL: '"baseUrl"', url: '"baseUrl"' }));
export type Provider = v.InferOutput<typeof Provider>;

/** What a tool says of itself (MCP); hints, never proof. */
export const ToolAnnotations = v.object({
  readOnlyHint: v.optional(v.boolean()),
  destructiveHint: v.optional(v.boolean()),
  idempotentHint: v.optional(v.boolean()),
  openWorldHint: v.optional(v.boolean()),
});

/** The bounds of one tool's calls. */
const ToolLimits = v.strictObject({
  /** The longest input and output, as JSON in UTF-16 code units. */
  inputLength: positive,
  outputLength: positive,
  timeoutMs: positive,
  /** Calls at once on one instance; more wait. */
  parallel: positive,
  /** `allowed`: calling it again with the same input and the same outcome is its purpose, as of a tool that is polled. */
  repeats: v.optional(v.literal('allowed')),
});

/** A tool as the registry knows it. */
export const ToolDefinition = v.strictObject({
  id: ToolName,
  tenant: Tenant,
  name: ToolName,
  title: v.optional(v.pipe(v.string(), v.maxLength(200))),
  type: v.picklist(['builtin', 'function', 'http', 'mcp', 'datastore', 'code', 'extension', 'agent', 'provider']),
  version: v.optional(Semver, '0.1.0'),
  visibility: v.optional(v.picklist(['public', 'internal', 'hidden']), 'public'),
  state: State,
  description: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)),
  paramsSchema: JsonSchema,
  outputSchema: v.optional(JsonSchema),
  annotations: v.optional(ToolAnnotations),
  category: v.optional(v.string()),
  keywords: Words,
  /** The agents whose `entryTools` name it; maintained by the registry. */
  boundAgents: v.optional(v.array(Id)),
  /** Tells people what credentials it needs. */
  authn: v.optional(v.pipe(v.string(), v.maxLength(1000))),
  /** Earlier names; calls of them learn the new one. */
  renamedFrom: v.optional(listOf(ToolName, 100)),
  /** Whether a person must approve calls: none, those of a tool that does not only read, or all. `rules`: as `mutating`, but in a guarded agent what its rules say. */
  approval: v.optional(v.picklist(['never', 'mutating', 'always', 'rules'])),
  /** Who wrote what it returns: the operator, strangers, or strangers to the principal alone. Absent: strangers, as far as is known. */
  reads: v.optional(v.picklist(['trusted', 'untrusted', 'private'])),
  /** Who can see what is put in. Absent: the public with `openWorldHint`, and for a tool that may act; else the tenant. */
  sends: v.optional(v.picklist(['public', 'tenant', 'principal'])),
  /** JSON Pointers of the arguments that say where or to whom, as `/to`. Absent: every text of a tool that may act. */
  destinations: v.optional(
    listOf(v.pipe(v.string(), v.maxLength(500), v.regex(pointerForm, 'must be a JSON Pointer, as "/to"')), 20),
  ),
  limits: v.optional(ToolLimits),
  /** Who may call it: the model of an agent, programs that it writes, or when absent both. */
  callers: v.optional(v.pipe(v.array(v.picklist(['model', 'program'])), v.minLength(1), v.maxLength(2))),
  /** Whether a call can be taken back. Set where the tool has code for it, whatever a record says. */
  undoable: v.optional(v.boolean()),
  /** `false`: a person who approves a call cannot change its input. */
  edit: v.optional(v.literal(false)),
  secrets: v.optional(listOf(SecretRef, 100), []),
  /** What the type needs besides; parsed by the tool of that type. */
  config: v.optional(v.record(v.string(), v.unknown())),
  revision: v.optional(Revision, 1),
}, /* @__PURE__ */ otherNames({ needsApproval: '"approval"' }));
export type ToolDefinition = v.InferOutput<typeof ToolDefinition>;
/** A tool as it is registered: fields with defaults are optional. */
export type ToolDefinitionInput = v.InferInput<typeof ToolDefinition>;

/** What a check of MCP metadata found. */
export const McpFinding = v.strictObject({
  /** An `error` blocks; a `warning` needs a person's eye. */
  severity: v.picklist(['error', 'warning']),
  rule: v.string(),
  /** The tool as its server names it; without one, the finding is about the server or the set. */
  tool: v.optional(v.string()),
  /** The prompt, resource, template or app, as `prompt:<name>`, `resource:<uri>`, `template:<uri template>`, `app:<uri>`. */
  item: v.optional(v.string()),
  /** Where in the definition, as a JSON Pointer. */
  path: v.optional(v.string()),
  message: v.string(),
});
export type McpFinding = v.InferOutput<typeof McpFinding>;

/** SHA-256 as hexadecimal digits. */
const Fingerprint = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal digits'));

/** A tool as a person has approved it. */
export const PinnedTool = v.strictObject({
  /** The whole raw definition; what a model sees is made of this one alone. */
  definition: v.looseObject({ name: v.string(), inputSchema: v.optional(v.nullable(JsonSchema)) }),
  fingerprint: Fingerprint,
  /** `drifted`: the server offers another definition now. */
  status: v.picklist(['valid', 'drifted']),
  /** What it does, as the person who approved it says; without it, its annotations can only make it stricter. */
  effect: v.optional(v.picklist(['read', 'write', 'destructive'])),
});
export type PinnedTool = v.InferOutput<typeof PinnedTool>;

/** A prompt, a resource or a template of resources, as a person has approved it: its definition, not what it contains. */
export const PinnedContent = v.strictObject({
  definition: v.record(v.string(), v.unknown()),
  fingerprint: Fingerprint,
  status: v.picklist(['valid', 'drifted']),
});
export type PinnedContent = v.InferOutput<typeof PinnedContent>;

/** The origins that the app of an MCP server may reach; with an empty list, none. */
export const McpAppCsp = v.strictObject({
  /** For requests: `https://api.example.com`, `wss://…`, `https://*.example.com`. */
  connect: v.array(v.string()),
  /** For images, scripts, styles, fonts and media. */
  resource: v.array(v.string()),
});
export type McpAppCsp = v.InferOutput<typeof McpAppCsp>;

/** An app of an MCP server (MCP Apps), as a person has approved it. Its HTML is read again before each use. */
export const PinnedApp = v.strictObject({
  uri: v.string(),
  /** Over the HTML, `csp` and `permissions`. */
  sha256: Fingerprint,
  /** Of the HTML. */
  bytes: v.number(),
  csp: McpAppCsp,
  /** What it requests of the browser, such as `camera`; nothing of it is granted. */
  permissions: v.array(v.string()),
  status: v.picklist(['valid', 'drifted']),
});
export type PinnedApp = v.InferOutput<typeof PinnedApp>;

/** The authorization server of an MCP server, as a person has approved it. */
export const McpAuthPin = v.strictObject({
  issuer: v.string(),
  /** The `resource` of the server's metadata, to the last character; tokens are requested for it alone. */
  resource: v.string(),
  /** Where the server's metadata was found, when its challenge named the URL. */
  resourceMetadata: v.optional(v.string()),
  authorizationEndpoint: v.string(),
  tokenEndpoint: v.string(),
  registrationEndpoint: v.optional(v.string()),
  revocationEndpoint: v.optional(v.string()),
  issParameterSupported: v.boolean(),
  clientIdMetadataDocument: v.boolean(),
  /** Whether it lists `offline_access`. */
  offlineAccess: v.boolean(),
  tokenAuthMethods: v.array(v.string()),
  /** Those that the server's metadata lists. */
  scopes: v.array(v.string()),
  /** Those that its challenge asked for, which come before. */
  requested: v.optional(v.array(v.string())),
});
export type McpAuthPin = v.InferOutput<typeof McpAuthPin>;

/** Everything of an MCP server that was approved. */
export const McpPin = v.strictObject({
  protocolVersion: v.string(),
  serverInfo: v.looseObject({ name: v.string(), version: v.string() }),
  instructions: v.optional(v.string()),
  tools: v.array(PinnedTool),
  prompts: v.optional(v.array(PinnedContent)),
  resources: v.optional(v.array(PinnedContent)),
  templates: v.optional(v.array(PinnedContent)),
  apps: v.optional(v.array(PinnedApp)),
  auth: v.optional(McpAuthPin),
});
export type McpPin = v.InferOutput<typeof McpPin>;

/** How people sign in to an MCP server (OAuth 2.1). */
export const McpAuth = v.strictObject({
  /** The only authorization server that is trusted, as its metadata names itself. */
  issuer: v.pipe(v.string(), v.url('must be an address like "https://login.example.com"'), v.maxLength(2048)),
  /** Whose account the tools use: that of the person whose run it is, or one account for the whole tenant. */
  grantee: v.optional(v.picklist(['user', 'tenant']), 'user'),
  /** The most that is ever requested; without a list, what the server requests. */
  scopes: v.optional(listOf(v.pipe(v.string(), v.regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/)), 100)),
  /** A client that was registered by hand; otherwise the runtime registers itself. */
  client: v.optional(v.strictObject({
    id: v.pipe(v.string(), v.minLength(1), v.maxLength(2048)),
    secret: v.optional(SecretRef),
  })),
});
export type McpAuth = v.InferOutput<typeof McpAuth>;

/** A remote MCP server. Its tools exist for agents only once its metadata is validated and pinned. */
export const McpServer = v.strictObject({
  id: Id,
  tenant: Tenant,
  /** Stands before the names of its tools: `alias__tool`. */
  alias: v.pipe(v.string(), v.regex(/^[a-z0-9](?:_?[a-z0-9-]){0,23}$/, 'must be 1 to 24 of a-z, 0-9, "-", single "_"')),
  url: v.pipe(v.string(), v.url('must be an address like "https://mcp.example.com/mcp"')),
  version: v.optional(Semver, '0.1.0'),
  state: State,
  /** Is sent as a bearer token, to this URL alone. */
  secret: v.optional(SecretRef),
  /** People sign in to it at this authorization server; then `secret` is not sent. */
  auth: v.optional(McpAuth),
  /** Whether images, sounds and files in results are given on as base64; they are left out otherwise. */
  media: v.optional(v.boolean(), false),
  /** Whether its tools may bring apps (MCP Apps): it is asked for them, and a person approves them. */
  apps: v.optional(v.boolean()),
  /** `trusted`: nobody outside can write what its tools return. Absent: strangers may. */
  trust: v.optional(v.literal('trusted')),
  /** `believe`: its `_meta.ifc` may also say that a result is trusted and public. Absent: it can only make a result stricter. */
  ifc: v.optional(v.literal('believe')),
  status: v.optional(v.picklist(['pending', 'valid', 'error']), 'pending'),
  findings: v.optional(v.array(McpFinding), []),
  pinned: v.optional(McpPin),
  validatedAt: v.optional(Timestamp),
  revision: v.optional(Revision, 1),
});
export type McpServer = v.InferOutput<typeof McpServer>;
/** An MCP server as it is registered: fields with defaults are optional. */
export type McpServerInput = v.InferInput<typeof McpServer>;

/** Where agents get context from. What `config` holds, the kind of source says. */
export const DataSource = v.strictObject({
  id: Id,
  tenant: Tenant,
  name: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
  kind: v.picklist(['text', 'vector', 'records', 'code']),
  description: v.optional(Text, ''),
  version: v.optional(Semver, '0.1.0'),
  state: State,
  tags: Words,
  /** Used to read the source; `config` never contains its value. */
  secret: v.optional(SecretRef),
  config: v.optional(v.record(v.string(), v.unknown()), {}),
  revision: v.optional(Revision, 1),
});
export type DataSource = v.InferOutput<typeof DataSource>;
/** A data source as it is registered: fields with defaults are optional. */
export type DataSourceInput = v.InferInput<typeof DataSource>;
