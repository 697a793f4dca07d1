/** What an index reads of a tool, as fields with a weight and a usual length each. */

import { isRecord } from '../base/is-record.ts';
import type { ToolDefinition } from '../base/schema.ts';
import type { FieldRule } from '../search/search-index.ts';

/** A tool as an index takes it. It must not be changed while it is in one. */
export interface IndexedTool {
  /** Any text. The part before `__` is the server that the tool belongs to. */
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** A JSON Schema; the names, descriptions and choices of its properties are searched. */
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly category?: string | undefined;
  readonly keywords?: readonly string[] | undefined;
  /** Names that the tool had before. */
  readonly renamedFrom?: readonly string[] | undefined;
  /** The tool that reads it, where it is no tool itself, as a skill: it is found, and never loaded. */
  readonly readWith?: string | undefined;
}

/** Returns a tool of a registry as an index takes it. */
export function toIndexedTool(
  { name, title, description, paramsSchema, category, keywords, ...rest }: ToolDefinition & {
    readonly renamedFrom?: readonly string[] | undefined;
  },
): IndexedTool {
  return { name, title, description, inputSchema: paramsSchema, category, keywords, renamedFrom: rest.renamedFrom };
}

/** A part of a tool that is searched. */
export type Field = 'server' | 'name' | 'description' | 'keywords' | 'category' | 'parameters' | 'parameterTexts';

/** The rules of all fields, in the order in which they are counted; the title counts among the keywords. Name and description come first. */
export const toolFields: Readonly<Record<Field, FieldRule>> = {
  name: { weight: 2, usualLength: 4, lengthEffect: 0.8 },
  description: { weight: 0.8, usualLength: 20, lengthEffect: 0.85 },
  server: { weight: 1.8, usualLength: 2, lengthEffect: 0.6 },
  keywords: { weight: 0.75, usualLength: 4, lengthEffect: 0.7 },
  category: { weight: 0.3, usualLength: 2, lengthEffect: 0.7 },
  parameters: { weight: 0.5, usualLength: 4, lengthEffect: 0.7 },
  parameterTexts: { weight: 0.35, usualLength: 30, lengthEffect: 0.7 },
};

/** Returns the texts of the fields, in their order. */
export function textsOf(tool: IndexedTool): readonly string[] {
  const { server, name } = splitName(tool.name);
  const { names, texts } = parametersOf(tool.inputSchema);
  const fields: Readonly<Record<Field, string>> = {
    name,
    description: tool.description ?? '',
    server,
    keywords: [tool.title, ...(tool.keywords ?? [])].join(' '),
    category: tool.category ?? '',
    parameters: names.join(' '),
    parameterTexts: texts.join(' '),
  };
  return Object.values(fields).map((text) => text.slice(0, longestField));
}

/** Splits `server__name`; a name without a server has an empty one. */
export function splitName(name: string): { readonly server: string; readonly name: string } {
  const at = name.indexOf('__');
  return at > 0 ? { server: name.slice(0, at), name: name.slice(at + 2) } : { server: '', name };
}

/** The most characters of a field that are read: descriptions start with the purpose of the tool. */
const longestField = 8192;

/** Bounds on a schema from a stranger, which may be deep, wide or lead back to itself. */
const deepestSchema = 6;
const mostProperties = 200;
const mostParts = 2000;

function parametersOf(schema: unknown): { readonly names: readonly string[]; readonly texts: readonly string[] } {
  const names: string[] = [];
  const texts: string[] = [];
  let parts = 0;
  const walk = (part: unknown, depth: number): void => {
    if (!isRecord(part) || depth > deepestSchema || ++parts > mostParts) return;
    for (const [name, property] of Object.entries(isRecord(part.properties) ? part.properties : {})) {
      if (names.length >= mostProperties) return;
      names.push(name);
      addTexts(property, texts);
      walk(property, depth + 1);
    }
    walk(part.items, depth + 1);
    for (const choices of [part.anyOf, part.oneOf, part.allOf]) {
      if (Array.isArray(choices)) { for (const choice of choices) walk(choice, depth + 1); }
    }
  };
  walk(schema, 0);
  return { names, texts };
}

function addTexts(property: unknown, texts: string[]): void {
  if (!isRecord(property)) return;
  if (typeof property.description === 'string') texts.push(property.description);
  if (!Array.isArray(property.enum)) return;
  for (const choice of property.enum.slice(0, mostProperties)) if (typeof choice === 'string') texts.push(choice);
}
