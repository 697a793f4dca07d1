/** Prints a tool as a TypeScript declaration: a model that writes code needs fewer characters for it than for JSON Schema. */

import { isRecord } from '../base/is-record.ts';
import { pointerKeys } from '../base/json.ts';
import { partsOf } from '../search/words.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { Tool } from './tool.ts';

/** The part of a definition that is printed. */
type DeclaredTool = Pick<ToolDefinition, 'name' | 'description' | 'paramsSchema' | 'outputSchema'>;

type Schema = Readonly<Record<string, unknown>>;

/** The deepest nesting of objects and arrays that is printed; what is deeper is `unknown`. */
const maxDepth = 6;
/** The most values of an enum or members of a union; more are printed as their type. */
const maxMembers = 64;
/** The most schemas that are printed: a schema that refers to itself in many places would grow without end. */
const maxSchemas = 512;

/**
 * Returns the description and the signature of a tool, as a method of `tools`. References are resolved within the schema; a reference
 * to another document is `unknown`.
 *
 * @example
 * declarationOf(add.definition).split('\n')[1]; // 'add(input: { a: number; b: number }): Promise<number>;'
 */
export function declarationOf(tool: DeclaredTool): string {
  return `/** ${commentText(tool.description)} */\n${signatureOf(tool)}`;
}

/** Returns the signature alone. */
export function signatureOf({ name, paramsSchema, outputSchema }: Omit<DeclaredTool, 'description'>): string {
  const input = typeOf(paramsSchema);
  const isOptional = !hasRequired(paramsSchema, placeOf(paramsSchema));
  const output = outputSchema ? typeOf(outputSchema) : 'unknown';
  return `${nameText(name)}(input${isOptional ? '?' : ''}: ${input}): Promise<${output}>;`;
}

/** Returns the TypeScript type of a JSON Schema. What TypeScript cannot express, such as a pattern, is left out. */
export function typeOf(schema: unknown): string {
  return print(schema, placeOf(schema));
}

interface Place {
  readonly root: unknown;
  /** Levels of objects, arrays and references above. */
  readonly depth: number;
  readonly budget: { left: number };
}

function placeOf(root: unknown): Place {
  return { root, depth: 0, budget: { left: maxSchemas } };
}

function below(place: Place): Place {
  return { ...place, depth: place.depth + 1 };
}

function isTooMuch({ depth, budget }: Place): boolean {
  return depth > maxDepth || --budget.left < 0;
}

function print(schema: unknown, place: Place): string {
  if (schema === false) return 'never';
  if (!isRecord(schema) || isTooMuch(place)) return 'unknown';
  const parts = [...ofReference(schema, place), ...ofValues(schema), ...ofGroups(schema, place)];
  // A schema with a list of values is described by them.
  if (!('const' in schema) && !('enum' in schema)) parts.push(...ofTypes(schema, place));
  return joined(parts, '&');
}

function ofReference({ $ref }: Schema, place: Place): readonly string[] {
  return $ref === undefined ? [] : [print(resolved($ref, place.root), below(place))];
}

/** Resolves a JSON Pointer within the document (RFC 6901). */
function resolved($ref: unknown, root: unknown): unknown {
  if (typeof $ref !== 'string' || !$ref.startsWith('#')) return undefined;
  let found = root;
  for (const name of pointerKeys($ref.slice(1))) {
    const isIn = (isRecord(found) || Array.isArray(found)) && Object.hasOwn(found, name);
    if (!isIn) return undefined;
    found = (found as Schema)[name];
  }
  return found;
}

function ofValues(schema: Schema): readonly string[] {
  if ('const' in schema) return [literal(schema['const'])];
  const values = schema['enum'];
  if (!Array.isArray(values)) return [];
  const isShort = values.length <= maxMembers;
  return [joined(values.map((value) => isShort ? literal(value) : typeOfValue(value)), '|')];
}

/** Lists of alternatives and of parts. */
function ofGroups({ anyOf, oneOf, allOf }: Schema, place: Place): readonly string[] {
  const members = (list: readonly unknown[]): string[] => list.map((one) => print(one, place));
  const unions = [anyOf, oneOf].filter(Array.isArray).map((list: readonly unknown[]) => {
    return list.length > maxMembers ? 'unknown' : joined(members(list), '|');
  });
  return Array.isArray(allOf) ? [...unions, ...members(allOf)] : unions;
}

function ofTypes(schema: Schema, place: Place): readonly string[] {
  const { type } = schema;
  if (Array.isArray(type)) return [joined(type.map((one) => ofType(one, schema, place)), '|')];
  if (type !== undefined) return [ofType(type, schema, place)];
  if ('properties' in schema) return [objectType(schema, place)];
  return 'items' in schema || 'prefixItems' in schema ? [arrayType(schema, place)] : [];
}

function ofType(type: unknown, schema: Schema, place: Place): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return arrayType(schema, place);
    case 'object':
      return objectType(schema, place);
    default:
      return 'unknown';
  }
}

function arrayType(schema: Schema, place: Place): string {
  const inside = below(place);
  const { items, prefixItems } = schema;
  const first = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : undefined;
  if (!first) return `${grouped(print(items, inside))}[]`;
  const min = typeof schema['minItems'] === 'number' ? schema['minItems'] : 0;
  const fixed = first.map((one, at) => at < min ? print(one, inside) : `${grouped(print(one, inside))}?`);
  const rest = prefixItems === undefined ? schema['additionalItems'] : items;
  return `[${(rest === false ? fixed : [...fixed, `...${grouped(print(rest, inside))}[]`]).join(', ')}]`;
}

function objectType(schema: Schema, place: Place): string {
  const inside = below(place);
  const { properties, additionalProperties: others } = schema;
  const known = isRecord(properties) ? Object.entries(properties) : [];
  const required = requiredOf(schema);
  if ((inside.budget.left -= known.length) < 0) return 'Record<string, unknown>';
  if (known.length === 0) {
    return others === false && required.size === 0 ? '{}' : `Record<string, ${print(others, inside)}>`;
  }
  const fields = known.map(([name, of]) => `${nameText(name)}${required.has(name) ? '' : '?'}: ${print(of, inside)}`);
  // The type of an index would have to include those of all fields.
  if (others !== undefined && others !== false) fields.push('[key: string]: unknown');
  return `{ ${fields.join('; ')} }`;
}

function requiredOf({ required }: Schema): ReadonlySet<unknown> {
  return new Set(Array.isArray(required) ? required : []);
}

/** Whether an empty input would be incomplete. */
function hasRequired(schema: unknown, place: Place): boolean {
  if (!isRecord(schema) || isTooMuch(place)) return false;
  const { allOf, anyOf, oneOf, $ref } = schema;
  const parts = [allOf, anyOf, oneOf].flatMap((list): readonly unknown[] => Array.isArray(list) ? list : []);
  if ($ref !== undefined) parts.push(resolved($ref, place.root));
  return requiredOf(schema).size > 0 || parts.some((one) => hasRequired(one, below(place)));
}

function literal(value: unknown): string {
  return typeOfValue(value) === 'unknown' ? 'unknown' : JSON.stringify(value);
}

function typeOfValue(value: unknown): string {
  const type = value === null ? 'null' : typeof value;
  return type === 'object' || type === 'undefined' ? 'unknown' : type;
}

/** Joins types without repeating one. `unknown` adds nothing to an intersection, and is all of a union. */
function joined(types: readonly string[], by: '&' | '|'): string {
  const distinct = [...new Set(types)];
  if (by === '|' && distinct.includes('unknown')) return 'unknown';
  const parts = distinct.filter((one) => one !== (by === '&' ? 'unknown' : 'never'));
  if (parts.length === 0) return by === '&' || types.length === 0 ? 'unknown' : 'never';
  return parts.length === 1 ? parts.join('') : parts.map((one) => by === '&' ? grouped(one) : one).join(` ${by} `);
}

/** In parentheses where the type may have an operator. */
function grouped(type: string): string {
  return /[|&]/.test(type) ? `(${type})` : type;
}

function nameText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** One line that cannot end the comment. */
function commentText(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replaceAll('*/', '* /');
}

/** Returns the tools, those first whose name and description share the most words with the request. Equal ones stay in their order. */
export function bestFirst(tools: readonly Tool[], request: string): readonly Tool[] {
  const asked = wordsOf(request);
  if (asked.size === 0) return tools;
  const scores = new Map(tools.map((tool) => [tool, scoreOf(tool.definition, asked)]));
  return tools.toSorted((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
}

/** A word of the name says more than one of the description. */
function scoreOf({ name, title = '', description }: ToolDefinition, asked: ReadonlySet<string>): number {
  const [named, described] = [wordsOf(`${name} ${title}`), wordsOf(description)];
  let score = 0;
  for (const word of asked) score += named.has(word) ? 2 : described.has(word) ? 1 : 0;
  return score;
}

/** The words of three letters and more, without the plural; of other scripts, all words. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = partsOf(text).filter((word) => word.length > 2 || word > '\u007f');
  return new Set(words.map((word) => word.length > 3 ? word.replace(/s$/, '') : word));
}
