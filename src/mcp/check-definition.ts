/** Rules for names: what MCP allows, what models can say, and what only looks like another name. */

import { asRecord } from '../base/is-record.ts';
import { checkOf } from '../tools/json-schema/json-schema.ts';
import { mixesScripts } from './hidden-text.ts';
import { below, error, exposedNames, type Remark, warning } from './pinned-tools.ts';
import { toolFields } from './pins.ts';

/** Names that are ours: a tool that is called so, or nearly so, would be taken for one of them. */
const reservedNames: readonly string[] = [
  'tool_find',
  'tool_describe',
  'tool_load',
  'tool_active',
  'tool_call',
  'http_request',
  'fetch_url',
  'current_time',
  'calculator',
  'ask_human',
];

/** What a name looks like at a glance: names with the same skeleton are mistaken for each other. */
export function skeletonOf(name: string): string {
  return name.normalize('NFKC').toLowerCase()
    .replaceAll(/[-_./\s]/g, '')
    .replaceAll('0', 'o')
    .replaceAll(/[1il|]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

const reservedSkeletons = new Set(reservedNames.map(skeletonOf));

export function checkName(name: string, alias: string): readonly Remark[] {
  if (!isToolName(name)) {
    const why = 'must be 1 to 128 characters that a reader can see and tell apart, without space around them';
    return [error('name', why, '/name')];
  }
  const exposed = exposedNames(alias, [name]).get(name);
  const isOther = exposed !== undefined && exposed !== `${alias}__${name}`;
  return [
    ...(reservedSkeletons.has(skeletonOf(name))
      ? [warning('reserved_name', 'looks like a tool of ours', '/name')]
      : []),
    ...(isOther ? [warning('name_spelled', 'is spelled otherwise for models, which cannot say it', '/name')] : []),
  ];
}

export function isToolName(name: string): boolean {
  const isSeen = !/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u.test(name.replaceAll(' ', '_'));
  return isSeen && !mixesScripts(name) && name.length >= 1 && name.length <= 128 && name.trim() === name;
}

/** What is wrong with a definition besides its name, its texts and its schemas. `origin` is the server's. */
export function checkFields(definition: Readonly<Record<string, unknown>>, origin: string): readonly Remark[] {
  const unknown = Object.keys(definition).filter((key) => !toolFields.has(key));
  return [
    ...checkLengths(definition),
    ...unknown.map((key) => warning('unknown_field', 'is no field that MCP knows', below('', key))),
    ...checkAnnotations(definition),
    ...checkIcons(definition['icons'], origin),
    ...(needsTask(definition)
      ? [
        warning(
          'needs_task',
          'can only be called as a task, which is not supported: the tool is left out',
          '/execution',
        ),
      ]
      : []),
  ];
}

export function needsTask(definition: Readonly<Record<string, unknown>>): boolean {
  return asRecord(definition['execution'])['taskSupport'] === 'required';
}

function checkLengths({ title, description, annotations }: Readonly<Record<string, unknown>>): readonly Remark[] {
  const bounds = [
    ['/title', title, 200],
    ['/annotations/title', asRecord(annotations)['title'], 200],
    ['/description', description, 4096],
  ] as const;
  return bounds.flatMap(([path, text, most]) =>
    text === undefined || (typeof text === 'string' && text.length <= most)
      ? []
      : typeof text === 'string'
      ? [warning('text_length', `is longer than ${most} characters: read to its end`, path)]
      : [error('text_type', 'must be a text', path)]
  );
}

const hints = new Set(['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']);
/** Verbs that never only read, and those that mostly do more. */
const destroying = /^(?:delete|destroy|purge)(?=[_./A-Z-]|$)/;
const acting =
  /^(?:remove|drop|send|write|create|update|insert|set|put|post|patch|execute|exec|run|kill|push|publish|pay|transfer|upload|move|rename|merge|deploy|revoke|grant)(?=[_./A-Z-]|$)/;

function checkAnnotations({ name, annotations }: Readonly<Record<string, unknown>>): readonly Remark[] {
  if (annotations === undefined) return [];
  const record = asRecord(annotations);
  const odd = Object.entries(record).filter(([key, value]) =>
    hints.has(key) ? typeof value !== 'boolean' : key !== 'title'
  );
  const claims = record['readOnlyHint'] === true ? String(name) : '';
  const why = 'claims only to read, which its name denies';
  return [
    ...odd.map(([key]) => warning('annotation', 'is no hint of MCP', below('/annotations', key))),
    ...(destroying.test(claims) ? [error('false_hint', why, '/annotations/readOnlyHint')] : []),
    ...(acting.test(claims) ? [warning('false_hint', why, '/annotations/readOnlyHint')] : []),
  ];
}

function checkIcons(icons: unknown, origin: string): readonly Remark[] {
  if (icons === undefined) return [];
  if (!Array.isArray(icons)) return [error('icon', 'must be a list', '/icons')];
  return icons.flatMap((icon, i) =>
    isHarmless(asRecord(icon)['src'], origin)
      ? []
      : [error('icon', 'must come from its own server, or be a PNG, JPEG or WebP image', below('/icons', i))]
  );
}

function isHarmless(src: unknown, origin: string): boolean {
  if (typeof src !== 'string') return false;
  if (/^data:image\/(?:png|jpeg|webp);base64,/.test(src)) return true;
  const url = URL.parse(src);
  return url?.protocol === 'https:' && url.origin === origin && url.username === '' && url.password === '';
}

const dialects = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12\/schema|draft-0[67]\/schema)#?$/;
/** More than this is worth a look, and more than the other cannot be used: what a check of an input goes through is bounded. */
const depths = { many: 12, most: 24 };
const subschemas = { many: 500, most: 10_000 };
/** With references put in. */
const expanded = { many: 5000, most: 100_000 };
const properties = { many: 100, most: 2000 };
const choices = { many: 250, most: 10_000 };

interface Bounds {
  readonly many: number;
  readonly most: number;
}

/** Returns the remark of a number over its bounds; none within. */
function checkBounds(
  count: number,
  { many, most }: Bounds,
  remark: (limit: number) => Pick<Remark, 'rule' | 'message' | 'path'>,
): readonly Remark[] {
  if (count <= many) return [];
  return count > most ? [{ severity: 'error', ...remark(most) }] : [{ severity: 'warning', ...remark(many) }];
}

/** What is wrong with the input schema of a tool. */
export function checkInputSchema(schema: unknown): readonly Remark[] {
  const path = '/inputSchema';
  if (asRecord(schema)['type'] !== 'object') return [error('schema_root', 'must be of type "object"', path)];
  return checkSchema(asRecord(schema), path);
}

/** What is wrong with any other schema of a tool. */
export function checkSchema(schema: Readonly<Record<string, unknown>>, path: string): readonly Remark[] {
  const walk: Walk = { remarks: [], subschemas: 0, deepest: 0, headers: new Set() };
  walkSchema(schema, { path, depth: 0 }, walk);
  const { remarks } = walk;
  remarks.push(
    ...checkBounds(walk.subschemas, subschemas, (limit) => ({
      rule: 'schema_size',
      message: `has more than ${limit} parts`,
      path,
    })),
    ...checkBounds(walk.deepest, depths, (limit) => ({
      rule: 'schema_depth',
      message: `is nested deeper than ${limit} levels`,
      path,
    })),
  );
  if (hasError(remarks)) return remarks;
  remarks.push(...checkBounds(expandedSize(schema), expanded, (limit) => ({
    rule: 'schema_size',
    message: `stands for more than ${limit} parts`,
    path,
  })));
  return hasError(remarks) ? remarks : [...remarks, ...checkCompiles(schema, path)];
}

function hasError(remarks: readonly Remark[]): boolean {
  return remarks.some(({ severity }) => severity === 'error');
}

interface Walk {
  readonly remarks: Remark[];
  subschemas: number;
  deepest: number;
  /** The names that parameters have as headers, in small letters. */
  readonly headers: Set<string>;
}

interface SchemaPath {
  readonly path: string;
  readonly depth: number;
}

const keywordsWithNames = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Their values are data, not schemas. */
const keywordsWithData = new Set(['enum', 'const', 'default', 'examples', 'required', 'type', 'dependentRequired']);

function walkSchema(schema: unknown, { path, depth }: SchemaPath, walk: Walk): void {
  if (Array.isArray(schema)) {
    for (const [i, part] of schema.entries()) walkSchema(part, { path: below(path, i), depth }, walk);
    return;
  }
  if (typeof schema !== 'object' || schema === null) return;
  walk.deepest = Math.max(walk.deepest, depth);
  if (++walk.subschemas > subschemas.most || depth > depths.most) return;
  const record = asRecord(schema);
  walk.remarks.push(...checkKeywords(record, path), ...checkProperties(record, { path, depth }, walk));
  for (const [key, value] of Object.entries(record)) {
    if (keywordsWithData.has(key)) continue;
    const place = below(path, key);
    if (!keywordsWithNames.has(key)) walkSchema(value, { path: place, depth: depth + 1 }, walk);
    else {
      for (const [name, part] of Object.entries(asRecord(value))) {
        walkSchema(part, { path: below(place, name), depth: depth + 1 }, walk);
      }
    }
  }
}

const keywordRules: Readonly<Record<string, (value: unknown, path: string) => Remark | undefined>> = {
  $schema: (value, path) =>
    typeof value === 'string' && dialects.test(value)
      ? undefined
      : warning('schema_dialect', 'is read as JSON Schema 2020-12', path),
  $ref: checkReference,
  $dynamicRef: checkReference,
  $id: (_, path) => warning('schema_id', 'gives the schema an identity of its own', path),
  enum: (value, path) =>
    checkBounds(Array.isArray(value) ? value.length : Infinity, choices, (limit) => ({
      rule: 'schema_enum',
      message: `is no list of at most ${limit} values`,
      path,
    }))[0],
};

function checkReference(value: unknown, path: string): Remark | undefined {
  return typeof value === 'string' && value.startsWith('#')
    ? undefined
    : error('schema_reference', 'must lead to a place in the same schema', path);
}

function checkKeywords(schema: Readonly<Record<string, unknown>>, path: string): readonly Remark[] {
  return Object.entries(keywordRules).filter(([key]) => Object.hasOwn(schema, key))
    .map(([key, rule]) => rule(schema[key], below(path, key))).filter((one) => one !== undefined);
}

const secretNames =
  /^(?:api_?key|(?:access_?|auth_?|bearer_?|refresh_?)?token|password|passwd|passphrase|secret|client_?secret|credentials?|private_?key|authorization|cookie)$/i;
const contextNames =
  /^(?:side_?notes?|system_?prompt|instructions_?followed|conversation(?:_?history)?|chat_?history|message_?history|history|context_?window|chain_?of_?thought|reasoning|env(?:ironment)?(?:_?variables)?)$/i;

function checkProperties(
  schema: Readonly<Record<string, unknown>>,
  { path }: SchemaPath,
  walk: Walk,
): readonly Remark[] {
  const described = asRecord(schema['properties']);
  const names = Object.keys(described);
  const place = below(path, 'properties');
  const { required } = schema;
  const missing = Array.isArray(required) && names.length > 0 && required.some((name) => !names.includes(String(name)));
  return [
    ...checkBounds(names.length, properties, (limit) => ({
      rule: 'schema_properties',
      message: `has more than ${limit} properties`,
      path: place,
    })),
    ...(missing
      ? [warning('schema_required', 'requires a property that it does not describe', below(path, 'required'))]
      : []),
    ...names.flatMap((name) =>
      checkProperty(name, { schema: asRecord(described[name]), path: below(place, name) }, walk)
    ),
  ];
}

function checkProperty(
  name: string,
  { schema, path }: { readonly schema: Readonly<Record<string, unknown>>; readonly path: string },
  { headers }: Walk,
): readonly Remark[] {
  const isSecret = secretNames.test(name);
  const remarks = [
    ...(/^[A-Za-z0-9_.$@:[\]-]{1,128}$/.test(name)
      ? []
      : [warning('property_name', 'has odd characters in its name', path)]),
    ...(isSecret ? [warning('secret_parameter', 'asks for a secret: models have none to give', path)] : []),
    ...(contextNames.test(name) ? [warning('context_parameter', 'asks for more than a call needs', path)] : []),
  ];
  if (!Object.hasOwn(schema, 'x-mcp-header')) return remarks;
  const header = schema['x-mcp-header'];
  const isPrimitive = ['string', 'integer', 'boolean'].includes(String(schema['type']));
  const isName = typeof header === 'string' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(header);
  const isNew = isName && !headers.has(header.toLowerCase());
  if (isName) headers.add(header.toLowerCase());
  if (isPrimitive && isNew && !isSecret) return remarks;
  return [...remarks, error('parameter_header', 'may not be sent as a header', path)];
}

function checkCompiles(schema: Readonly<Record<string, unknown>>, path: string): readonly Remark[] {
  return checkOf(schema) ? [] : [error('schema_invalid', 'is no JSON Schema', path)];
}

/** Counts the parts of a schema with everything put in where a reference leads to it; a reference back into itself counts once. */
function expandedSize(root: Readonly<Record<string, unknown>>): number {
  const anchors = new Map<string, unknown>();
  findAnchors(root, anchors);
  const sizes = new Map<object, number>();
  const sizeOf = (part: unknown): number => {
    if (typeof part !== 'object' || part === null) return 0;
    const known = sizes.get(part);
    if (known !== undefined) return known;
    sizes.set(part, 1); // for those that lead back here
    const target = targetOf(asRecord(part), { root, anchors });
    const size = [...Object.values(part), target].reduce((sum: number, child) => sum + sizeOf(child), 1);
    sizes.set(part, size);
    return size;
  };
  return sizeOf(root);
}

function findAnchors(part: unknown, anchors: Map<string, unknown>): void {
  if (typeof part !== 'object' || part === null) return;
  const { $anchor, $dynamicAnchor } = asRecord(part);
  for (const name of [$anchor, $dynamicAnchor]) if (typeof name === 'string') anchors.set(name, part);
  for (const child of Object.values(part)) findAnchors(child, anchors);
}

/** What a reference within the schema leads to; others are refused elsewhere. */
function targetOf(
  { $ref, $dynamicRef }: Readonly<Record<string, unknown>>,
  { root, anchors }: { readonly root: object; readonly anchors: ReadonlyMap<string, unknown> },
): unknown {
  const reference = $ref ?? $dynamicRef;
  if (typeof reference !== 'string' || !reference.startsWith('#')) return undefined;
  if (!reference.startsWith('#/')) return reference === '#' ? root : anchors.get(reference.slice(1));
  const steps = reference.slice(2).split('/').map((step) =>
    decodedStep(step).replaceAll('~1', '/').replaceAll('~0', '~')
  );
  return steps.reduce<unknown>(
    (part, step) => Array.isArray(part) ? part[Number(step)] : asRecord(part)[step],
    root,
  );
}

function decodedStep(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
