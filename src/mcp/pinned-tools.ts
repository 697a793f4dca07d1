/** From a pin to tool definitions: everything that a model sees of an MCP tool is made here, of what was approved alone. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import { asRecord, isRecord } from '../base/is-record.ts';
import {
  JsonSchema,
  type McpFinding,
  type McpServer,
  type PinnedTool,
  ToolAnnotations,
  ToolDefinition,
  ToolName,
} from '../base/schema.ts';
import { createMatcher } from '../permission/regex/matcher.ts';
import { fingerprintOf } from './pins.ts';

export interface PinnedDefinition {
  readonly definition: ToolDefinition;
  readonly pinned: PinnedTool;
  /** Whether the definition is the one that its fingerprint is of. */
  readonly genuine: boolean;
  /** Whether models may call it. */
  readonly forModel: boolean;
  /** Whether apps of its server may call it. */
  readonly forApp: boolean;
}

/** What is read of a raw definition; all else only counts for the fingerprint. Broken annotations are as good as none. */
const RawDefinition = v.object({
  name: v.string(),
  title: v.optional(v.string()),
  description: v.optional(v.string()),
  inputSchema: JsonSchema,
  outputSchema: v.optional(JsonSchema),
  annotations: v.fallback(v.optional(v.looseObject({ ...ToolAnnotations.entries, title: v.optional(v.string()) })), {}),
});

/**
 * The names of a server's tools for models, by their own: `alias__tool`. A name that providers would not accept is spelled in their
 * letters, `a.b` as `alias__a_b`, and cut to their length. Digits of its own name follow where letters are lost, as those of Chinese
 * are, and where that is the name of another tool.
 */
export function exposedNames(alias: string, names: readonly string[]): ReadonlyMap<string, string> {
  const spelled = names.map((name) => `${alias}__${spelledOf(name)}`);
  const count = Map.groupBy(spelled, (exposed) => exposed);
  const taken = new Set<string>();
  const exposed = names.flatMap((name, i) => {
    const plain = spelled[i]!; // one for each name
    const isPlain = plain === `${alias}__${name}` || (!/[^\p{ASCII}]/u.test(name) && count.get(plain)?.length === 1);
    const digits = isPlain && plain.length <= maxName ? '' : `_${digitsOf(name)}`;
    const full = `${plain.slice(0, maxName - digits.length)}${digits}`;
    if (taken.has(full) || !v.is(ToolName, full)) return [];
    taken.add(full);
    return [[name, full] as const];
  });
  return new Map(exposed);
}

const maxName = 64;

/** In letters of ASCII: `Météo du jour` as `Meteo_du_jour`. */
function spelledOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '');
  return plain.replaceAll(/[^A-Za-z0-9_./-]+/g, '_').replaceAll(/[./]/g, '_');
}

/** 8 hexadecimal digits that follow from a name (FNV-1a). */
function digitsOf(name: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Returns the definitions of a server's pin, in its order. What cannot be offered under a name that models can say is left out. */
export async function pinnedDefinitions(server: McpServer): Promise<readonly PinnedDefinition[]> {
  const tools = server.pinned?.tools ?? [];
  const names = exposedNames(server.alias, tools.map(({ definition }) => definition.name));
  const all = await Promise.all(tools.map(async (pinned) => {
    const definition = toDefinition(server, pinned, names.get(pinned.definition.name));
    const genuine = await fingerprintOf(pinned.definition) === pinned.fingerprint;
    const { forModel, forApp } = toolUi(pinned.definition);
    return definition && { definition, pinned, genuine, forModel, forApp };
  }));
  return all.filter((one) => one !== undefined);
}

/**
 * Returns the definition of one pinned tool; `undefined` when it cannot be offered. Its `config` has the fingerprint, so that an
 * approval of a call is bound to the whole raw definition.
 */
function toDefinition(
  { id, alias, secret, auth, trust, ifc }: McpServer,
  pinned: PinnedTool,
  name: string | undefined,
): ToolDefinition | undefined {
  const raw = v.safeParse(RawDefinition, readDefinition(pinned.definition).definition);
  if (!raw.success || name === undefined) return undefined;
  const { annotations = {}, inputSchema, outputSchema } = raw.output;
  const title = (raw.output.title ?? annotations.title)?.slice(0, 200);
  const description = raw.output.description || title || raw.output.name;
  const definition = v.safeParse(ToolDefinition, {
    id: name,
    name,
    ...(title !== undefined && { title }),
    type: 'mcp',
    description: description.slice(0, 4096),
    paramsSchema: inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...policyOf(pinned, annotations),
    ...((trust ?? ifc) && { reads: 'trusted' }), // with "ifc" each result says more
    category: alias,
    secrets: secret === undefined || auth ? [] : [secret],
    config: { serverId: id, tool: raw.output.name, fingerprint: pinned.fingerprint },
  });
  return definition.success ? { ...definition.output, description } : undefined; // a person has seen how long it is
}

/**
 * What calls may do. The server's hints are claims: they can only make it stricter than the person who approved the tool has said,
 * and without any statement the strictest holds, as MCP defines it.
 */
function policyOf(
  { effect = 'destructive' }: PinnedTool,
  { readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: v.InferOutput<typeof ToolAnnotations>,
): Pick<ToolDefinition, 'annotations' | 'approval'> {
  const reads = effect === 'read' && readOnlyHint !== false && destructiveHint !== true;
  const destroys = !reads && (effect !== 'write' || destructiveHint === true);
  return {
    annotations: {
      readOnlyHint: reads,
      destructiveHint: destroys,
      idempotentHint: reads && idempotentHint !== false,
      openWorldHint: openWorldHint !== false,
    },
    approval: reads ? 'mutating' : 'always',
  };
}

/** What a tool's definition says of its app, and of who may call it (MCP Apps, 2026-01-26). */
interface ToolUi {
  /** Of the app that shows its results; `undefined` without one. */
  readonly uri: string | undefined;
  readonly forModel: boolean;
  readonly forApp: boolean;
}

/** Reads the `ui` of a tool's `_meta`. What is malformed counts as absent: both may call the tool. */
export function toolUi(definition: unknown): ToolUi {
  const meta = asRecord(asRecord(definition)['_meta']);
  const { resourceUri, visibility } = asRecord(meta['ui']);
  const uri = resourceUri ?? meta['ui/resourceUri']; // the second is the earlier form
  const isUri = typeof uri === 'string' && uri.length <= 2048 && /^ui:\/\/[^\s\p{C}\\]+$/u.test(uri);
  const isFor = (one: string): boolean => !Array.isArray(visibility) || visibility.includes(one);
  return { uri: isUri ? uri : undefined, forModel: isFor('model'), forApp: isFor('app') };
}

/** What was read, and what was not as it should be. */
interface ReadDefinition {
  readonly definition: Readonly<Record<string, unknown>>;
  readonly remarks: readonly Remark[];
}

/** Reads it. It was checked to be JSON of a bounded depth. */
export function readDefinition(raw: unknown): ReadDefinition {
  const remarks: Remark[] = [];
  const definition = withoutNulls(asRecord(raw), '', remarks);
  const { input_schema: underOtherName = definition['parameters'], inputSchema = underOtherName } = definition;
  const { outputSchema, annotations } = definition;
  if (isRecord(annotations)) definition['annotations'] = withoutNulls(annotations, '/annotations', remarks);
  if (isRecord(inputSchema)) {
    definition['inputSchema'] = asObject(readSchema(inputSchema, '/inputSchema', remarks), remarks);
  }
  if (inputSchema === undefined) {
    remarks.push(warning('schema_root', 'is absent: the tool counts as one without parameters', '/inputSchema'));
    definition['inputSchema'] = { type: 'object', properties: {} };
  }
  if (isRecord(outputSchema)) definition['outputSchema'] = readSchema(outputSchema, '/outputSchema', remarks);
  return { definition, remarks };
}

function withoutNulls(
  record: Readonly<Record<string, unknown>>,
  path: string,
  remarks: Remark[],
): Record<string, unknown> {
  const entries = Object.entries(record).filter(([key, value]) => {
    if (value !== null) return true;
    remarks.push(warning('null_field', 'is null, and counts as absent', below(path, key)));
    return false;
  });
  return Object.fromEntries(entries);
}

function asObject(schema: Record<string, unknown>, remarks: Remark[]): Record<string, unknown> {
  if ('type' in schema) return schema;
  remarks.push(warning('schema_root', 'has no type, and counts as one of an object', '/inputSchema'));
  return { type: 'object', ...schema };
}

const keywordsWithNames = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Their values are data, not schemas. */
const keywordsWithData = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'example',
  'type',
  'required',
  'dependentRequired',
]);

function readSchema(
  schema: Readonly<Record<string, unknown>>,
  path: string,
  remarks: Remark[],
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    const place = below(path, key);
    if (value === null && !(key === 'const' || key === 'default' || key === 'example')) {
      remarks.push(warning('null_field', 'is null, and counts as absent', place));
    } else if (isOtherEmpty(key, value)) {
      remarks.push(
        warning('null_field', `is no ${key === 'required' ? 'list' : 'object'}, and counts as absent`, place),
      );
    } else if (key === 'type' && typeof value === 'string' && !jsonTypes.has(value)) {
      const type = typesElsewhere.get(value.toLowerCase());
      if (type !== undefined) remarks.push(warning('schema_type', `is read as ${JSON.stringify(type)}`, place));
      if (type !== 'any') read[key] = type ?? value;
    } else if (keywordsWithData.has(key)) read[key] = value;
    else if (key === 'pattern') {
      if (typeof value !== 'string' || isCheckable(value, place, remarks)) read[key] = value;
    } else if (keywordsWithNames.has(key) && isRecord(value)) {
      read[key] = Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, part ?? {}] as const).map(
          ([name, part]) => [name, readPart(part, below(place, name), remarks)],
        ),
      );
    } else read[key] = readPart(value, place, remarks);
  }
  return withoutUncheckable(read['nullable'] === true ? orNull(read) : read, path, remarks);
}

const jsonTypes: ReadonlySet<string> = new Set('string number integer boolean object array null'.split(' '));
/** What servers write instead: the names of Python, Go and Gemini. */
const typesElsewhere: ReadonlyMap<string, string> = new Map([
  ...[...jsonTypes].map((type) => [type, type] as const),
  ...Object.entries({ int: 'integer', int32: 'integer', int64: 'integer', long: 'integer', float: 'number' }),
  ...Object.entries({ double: 'number', decimal: 'number', bool: 'boolean', str: 'string' }),
  ...Object.entries({ dict: 'object', map: 'object', list: 'array', none: 'null', any: 'any', unknown: 'any' }),
]);

/** A schema of OpenAPI that takes null as well. */
function orNull({ nullable: _, ...schema }: Record<string, unknown>): Record<string, unknown> {
  const { type, enum: values } = schema;
  return {
    ...schema,
    ...(typeof type === 'string' && { type: [type, 'null'] }),
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  };
}

/** PHP writes an empty object as a list, and the reverse; `required` was a flag of each property before it was a list. */
function isOtherEmpty(key: string, value: unknown): boolean {
  if (key === 'required') return typeof value === 'boolean' || (isRecord(value) && Object.keys(value).length === 0);
  return keywordsWithNames.has(key) && Array.isArray(value) && value.length === 0;
}

function readPart(part: unknown, path: string, remarks: Remark[]): unknown {
  if (Array.isArray(part)) return part.map((item, i) => readPart(item, below(path, i), remarks));
  return isRecord(part) ? readSchema(part, path, remarks) : part;
}

/** What such a pattern allows is unknown here, so the properties that no name covers are the server's to refuse as well. */
function withoutUncheckable(schema: Record<string, unknown>, path: string, remarks: Remark[]): Record<string, unknown> {
  const { patternProperties: patterns } = schema;
  if (!isRecord(patterns)) return schema;
  const kept = Object.entries(patterns).filter(([pattern]) =>
    isCheckable(pattern, below(below(path, 'patternProperties'), pattern), remarks)
  );
  if (kept.length === Object.keys(patterns).length) return schema;
  const { additionalProperties: _, unevaluatedProperties: __, ...rest } = schema;
  return { ...rest, patternProperties: Object.fromEntries(kept) };
}

function isCheckable(pattern: string, path: string, remarks: Remark[]): boolean {
  try {
    createMatcher(pattern);
    return true;
  } catch (cause) {
    const { position, why } = cause instanceof PinnaceError ? cause.details ?? {} : {};
    const message = `is checked by the server alone: at character ${Number(position) + 1}, ${String(why)}`;
    remarks.push(warning('schema_pattern', message, path));
    return false;
  }
}

/** A finding before it is known whose it is. */
export type Remark = Omit<McpFinding, 'tool'>;

export function error(rule: string, message: string, path = ''): Remark {
  return remark('error', { rule, message, path });
}

export function warning(rule: string, message: string, path = ''): Remark {
  return remark('warning', { rule, message, path });
}

function remark(
  severity: Remark['severity'],
  { rule, message, path }: { rule: string; message: string; path: string },
): Remark {
  return { severity, rule, message, ...(path !== '' && { path }) };
}

/** One step further in a JSON Pointer. What the server names is repeated only as far as it is harmless. */
export function below(path: string, key: string | number): string {
  const name = typeof key === 'number' ? String(key) : key.replaceAll('~', '~0').replaceAll('/', '~1');
  return `${path}/${name.replace(/[^\w.$~@:-]/g, '?').slice(0, 64)}`.slice(0, 300);
}
