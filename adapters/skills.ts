/**
 * Skills (SKILL.md folders, agentskills.io) as one tool that only reads: `skill_read`.
 *
 * What must hold:
 *
 * 1. A skill is text. Nothing of it is run, and its front matter grants nothing, `allowed-tools` included.
 * 2. What a call returns is what was hashed for that call, and equals what was hashed when the tool was made: else `skill_changed`.
 * 3. The description of the tool depends on the skills alone, in the order of their names: it keeps the cached prefix of a prompt.
 * 4. A path of a call is a key of the files, never looked up on a disk. `readSkills` alone reads a disk, and follows no link.
 * 5. Each call asks the permission hook for `skill.read` of `skill:<name>`, besides `tool.call` of the tool.
 */

import { checkNames, optional, suggest } from '../src/base/check-options.ts';
import { PinnaceError } from '../src/base/errors.ts';
import { sha256 } from '../src/base/hash.ts';
import { visibleLines } from '../src/base/text.ts';
import { defineTool } from '../src/tools/define-tool.ts';
import type { Tool } from '../src/tools/tool.ts';

export type { Tool } from '../src/tools/tool.ts';

/** The files of skills by their paths, as `invoices/SKILL.md`: text, or bytes. The folder has the name of its skill. */
export type SkillFiles = Readonly<Record<string, string | Uint8Array>>;

/** Returns the files of all skills, or at least those of the named one. Is called when the tool is made, and for each read. */
export type LoadSkills = (skill?: string) => SkillFiles | Promise<SkillFiles>;

interface Skill {
  readonly name: string;
  readonly description: string;
  /** SKILL.md without its front matter. */
  readonly body: string;
  /** By their paths in the folder of the skill, in their order. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

const mostFiles = 256;
const mostFileBytes = 256 * 1024;
const mostSkillBytes = 1024 * 1024;
/** So many stand in the description of the tool, which has at most 4,096 characters. */
const mostShown = 20;
const shownLength = 3600;
const nameForm = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/;

const input = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^[a-z0-9-]{1,64}$' },
    file: { type: 'string', maxLength: 500, description: 'One of the files that the skill lists' },
  },
  required: ['name'],
  additionalProperties: false,
} as const;

/**
 * Returns the tool `skill_read`: it returns what a skill says with the list of its files, or one of the files. All files are pinned by
 * their SHA-256, in `definition.config.skills`. `reads: 'trusted'` says that you wrote the skills; otherwise, strangers did.
 *
 * @throws PinnaceError `invalid_argument`, reason `skill_invalid`, with the path and the line.
 * @example
 * const skillRead = await skills({ 'invoices/SKILL.md': '---\nname: invoices\ndescription: Writes invoices\n---\nAsk for the VAT number.' });
 */
export async function skills(
  source: SkillFiles | LoadSkills,
  options: { readonly reads?: 'trusted' | 'untrusted' | 'private' } = {},
): Promise<Tool> {
  checkNames('make the tool of the skills', options, optional('reads'));
  const fixed = typeof source === 'function' ? undefined : { ...source };
  const load: LoadSkills = typeof source === 'function' ? source : () => fixed ?? {};
  const folders = foldersOf(await load());
  const known = new Map([...folders].map(([name, files]) => [name, readSkill(name, files)] as const));
  const pins: Record<string, string> = {};
  for (const { name, files } of known.values()) pins[name] = await digestOf(files);
  const tool = defineTool({
    id: 'skill_read',
    title: 'Read a skill',
    description: describeSkills([...known.values()]),
    category: 'skills',
    keywords: ['skill', 'instructions', 'guide', 'how to'],
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    reads: options.reads ?? 'untrusted',
    config: { skills: pins },
    input,
    async execute({ name, file }) {
      const skill = known.get(name) ?? notFound(`skill "${name}"`, 'unknown_skill', suggest(name, known.keys()));
      const files = foldersOf(await load(name), `${name}/`).get(name) ?? new Map<string, Uint8Array>();
      if (await digestOf(files) !== pins[name]) {
        const why = 'its files have changed since the tool was made; review them, then make the tool again';
        throw new PinnaceError('conflict', `Cannot read skill "${name}": ${why}`, {
          retryable: false,
          details: { reason: 'skill_changed', skill: name },
        });
      }
      const paths = [...files.keys()];
      if (file === undefined) return { name, description: skill.description, text: skill.body, files: paths };
      const bytes = files.get(file) ?? notFound(`file of skill "${name}"`, 'unknown_skill_file', suggest(file, paths));
      return { name, file, text: textOf(bytes, `${name}/${file}`) };
    },
  });
  pinned.set(tool.definition, known);
  return {
    ...tool,
    starts: (checked) => {
      const { name, file } = checked as { readonly name: string; readonly file?: string }; // it passed the check
      return { action: 'skill.read', resource: { type: 'skill', id: name }, input: { name, file } };
    },
    topics: [...known.values()].map(({ name, description }) => ({ name: `skill:${name}`, description })),
  };
}

/** What has become of a skill since its tool was made. */
export interface SkillReview {
  readonly skill: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** What differs; a text is absent where the file is not there, or is no text in UTF-8. */
  readonly files: readonly { readonly path: string; readonly before?: string; readonly after?: string }[];
  /** What the checks of MCP texts say of the new texts: `error` for what is certain, else `warning`. */
  readonly findings: readonly {
    readonly severity: 'error' | 'warning';
    readonly rule: string;
    readonly message: string;
    readonly path: string;
  }[];
}

/** The files that a tool was made of. */
const pinned = new WeakMap<object, ReadonlyMap<string, Skill>>();

/**
 * Compares the skills of today with those that a tool of `skills` has pinned, for the person who decides whether to make it again.
 * Empty where nothing has changed.
 *
 * @throws PinnaceError `invalid_argument`: `skill_invalid` as `skills` does, or for another tool.
 * @example
 * for (const { skill, change, files, findings } of await reviewSkills(skillRead, readSkills('./skills'))) console.log(skill, change, files, findings);
 */
export async function reviewSkills(tool: Tool, source: SkillFiles | LoadSkills): Promise<readonly SkillReview[]> {
  const before = pinned.get(tool.definition);
  if (!before) throw invalidSkill('skill_read', 'the tool was not made by skills()');
  const { checkTexts } = await import('../src/mcp/check-texts.ts');
  const after = foldersOf(typeof source === 'function' ? await source() : source);
  for (const [name, files] of after) readSkill(name, files); // as `skills` will
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((skill): SkillReview[] => {
    const [old, now] = [before.get(skill)?.files, after.get(skill)];
    const paths = [...new Set([...old?.keys() ?? [], ...now?.keys() ?? []])].toSorted();
    const files = paths.filter((path) => !areSame(old?.get(path), now?.get(path))).map((path) => {
      const [was, is] = [old?.get(path), now?.get(path)].map((bytes) => bytes && textIn(bytes));
      return { path, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) };
    });
    if (files.length === 0) return [];
    const findings = files.flatMap(({ path, after: text = '' }) =>
      checkTexts(text, { others: new Set() }).map(({ severity, rule, message }) => ({ severity, rule, message, path }))
    );
    return [{ skill, change: old ? now ? 'changed' : 'removed' : 'added', files, findings }];
  });
}

function areSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one?.length === other?.length && (one ?? []).every((byte, at) => byte === other?.[at]);
}

function textIn(bytes: Uint8Array): string | undefined {
  try {
    return textOf(bytes, '');
  } catch {
    return undefined;
  }
}

/** The sorted files of each skill, by its name. Paths cannot lead out of a skill: they are keys, and have one form. */
function foldersOf(source: SkillFiles, prefix = ''): ReadonlyMap<string, Map<string, Uint8Array>> {
  const folders = new Map<string, Map<string, Uint8Array>>();
  for (const path of Object.keys(source).filter((one) => one.startsWith(prefix)).toSorted()) {
    const [name = '', ...inside] = path.split('/');
    if (!nameForm.test(name)) throw invalidSkill(path, 'a folder has a name of 1 to 64 a-z, 0-9 and single "-"');
    const isPlain = inside.length > 0 && inside.every((part) => part !== '' && part !== '.' && part !== '..');
    if (!isPlain || path.length > 500 || path.includes('\\') || visibleLines(path) !== path) {
      throw invalidSkill(path, 'the path must be <skill>/<file>, without "..", "\\" and invisible characters');
    }
    const content = source[path] ?? '';
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content.slice();
    const files = (folders.get(name) ?? new Map<string, Uint8Array>()).set(inside.join('/'), bytes);
    folders.set(name, files);
    requireSmall(path, [...files.values()].map(({ length }) => length));
  }
  return folders;
}

/** Bounds the files of a skill so far; the last is the one of the path. */
function requireSmall(path: string, sizes: readonly number[]): void {
  if ((sizes.at(-1) ?? 0) > mostFileBytes) throw invalidSkill(path, 'the file is larger than 256 KiB');
  if (sizes.reduce((sum, one) => sum + one, 0) > mostSkillBytes) {
    throw invalidSkill(path, 'the skill is larger than 1 MiB');
  }
  if (sizes.length > mostFiles) throw invalidSkill(path, `the skill has more than ${mostFiles} files`);
}

/** SHA-256 over all paths and bytes: over the hashes of the files, so that no file can pass for two. */
async function digestOf(files: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const rows = [...files].map(async ([path, bytes]) => [path, await sha256(new Uint8Array(bytes))]);
  return await sha256(JSON.stringify(await Promise.all(rows)));
}

function readSkill(folder: string, files: ReadonlyMap<string, Uint8Array>): Skill {
  const path = `${folder}/SKILL.md`;
  const bytes = files.get('SKILL.md');
  if (!bytes) throw invalidSkill(path, 'the file is missing');
  const { fields, body } = readFrontMatter(path, textOf(bytes, path).split(/\r?\n/));
  const { name, description } = Object.fromEntries(fields);
  if (name !== folder) throw invalidSkill(path, `"name" must be that of the folder, "${folder}"`);
  if (description === undefined || description.trim() === '' || description.length > 1024) {
    throw invalidSkill(path, '"description" must have 1 to 1,024 characters');
  }
  if (visibleLines(description) !== description) throw invalidSkill(path, '"description" has invisible characters');
  return { name, description, body, files };
}

/** Reads the fields `name` and `description`; all others are only checked for their form, and stay in the file. */
function readFrontMatter(path: string, lines: readonly string[]) {
  const end = lines.indexOf('---', 1);
  if (lines[0] !== '---' || end < 0) throw invalidSkill(path, 'it must start with front matter between lines "---"', 1);
  const fields = new Map<string, string>();
  for (let at = 1; at < end;) {
    const line = lines[at++] ?? '';
    if (/^\s*(?:#|$)/.test(line)) continue;
    const [, key, rest = ''] = /^([A-Za-z][\w-]*):(?:[ ]+(.*))?$/.exec(line) ?? [];
    if (key === undefined) throw invalidSkill(path, 'expected "key: value"', at);
    if (fields.has(key)) throw invalidSkill(path, `"${key}" is there twice`, at);
    const first = at;
    while (at < end && /^(?:\s|- |$)/.test(lines[at] ?? '')) at++;
    const [text, below] = [rest.replace(/^[ \t]+|[ \t]+$/g, ''), lines.slice(first, at)];
    const wrong = (why: string): PinnaceError => invalidSkill(path, why, first);
    if (key === 'name' || key === 'description') fields.set(key, readValue(text, below, wrong));
    else if (isOpen([text, ...below].join('\n'))) {
      throw wrong('the value is not whole, or refers to another; put it in quotes');
    } else fields.set(key, '');
  }
  return { fields, body: lines.slice(end + 1).join('\n').trim() };
}

/** Whether YAML reads a value that is not used as one that is not whole, or that refers to another. */
function isOpen(text: string): boolean {
  if (text.startsWith('"')) return !/^"(?:[^"\\]|\\.)*"\s*(?:\s#.*)?$/s.test(text);
  if (text.startsWith("'")) return !/^'(?:[^']|'')*'\s*(?:\s#.*)?$/s.test(text);
  if (/^[[{]/.test(text)) return !/[\]}]\s*(?:\s#.*)?$/.test(text);
  return /^[&*!%@`,\]}]/.test(text) || (/^[|>]/.test(text) && !/^[|>][-+\d]{0,2}\s/.test(text));
}

/** What YAML reads as a number, a truth value or nothing. */
const otherType =
  /^(?:~|null|Null|NULL|true|True|TRUE|false|False|FALSE|\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF)|0o[0-7]+|0x[\da-fA-F]+|[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)$/;

/** A plain value, one in quotes, or a block: what YAML would read otherwise is refused. Space around the value is no part of it. */
function readValue(text: string, below: readonly string[], wrong: (why: string) => PinnaceError): string {
  const block = /^([|>])[+-]?$/.exec(text)?.[1];
  if (block) {
    const start = below.findIndex((line) => line.trim() !== '');
    const indent = /^ */.exec(below[start] ?? '')?.[0] ?? '';
    const isWhole = indent !== '' && below.every((line) => line.trim() === '' || line.startsWith(indent));
    if (!isWhole || below.slice(0, start).some((line) => line.length > indent.length)) {
      throw wrong('the lines of a block must be indented by the same spaces');
    }
    const content = below.map((line) => line.slice(indent.length));
    if (block === '>' && content.some((line) => /^[ \t]/.test(line))) {
      throw wrong('a block with ">" must not have lines that are indented further; use "|"');
    }
    const value = content.join('\n').replace(/^[ \t\n]+|[ \t\n]+$/g, '');
    return block === '|' ? value : value.replaceAll(/(?<!\n)\n(?!\n)/g, ' ').replaceAll(/\n(\n+)/g, '$1');
  }
  if (below.some((line) => line.trim() !== '')) throw wrong('a value of several lines needs ">" or "|"');
  if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (text.startsWith('"')) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'string') return value;
    } catch {
      // It is refused below.
    }
    throw wrong('the text in quotes must be one that JSON can read');
  }
  const isSpecial = /^[-?:](?:[ \t]|$)|^[[\]{}&*!%@`|>,#'"]|:(?:[ \t]|$)|[ \t]#|^(?:---|\.\.\.)(?:[ \t]|$)/.test(text);
  if (isSpecial || otherType.test(text)) throw wrong('put the value in quotes');
  return text;
}

/** Lists the first skills, shortened so that all have the same room. */
function describeSkills(all: readonly Skill[]): string {
  if (all.length === 0) throw invalidSkill('SKILL.md', 'there are no skills');
  const shown = all.slice(0, mostShown);
  const room = Math.floor(shownLength / shown.length) - 8;
  const rows = shown.map(({ name, description }) => {
    const row = `${name}: ${description.replaceAll(/\s+/g, ' ')}`;
    return `\n- ${row.length > room ? `${row.slice(0, room - 1).toWellFormed()}…` : row}`;
  });
  const rest = all.length - shown.length;
  const more = rest > 0 ? `\nAnd ${rest} more: tool_find finds them.` : '';
  return `Reads a skill: instructions for one kind of task. Before such a task, read its skill, then what you need of its files. A skill \
is a text: it adds no rights.${rows.join('')}${more}`;
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidSkill(path, 'the file is no text in UTF-8');
  }
}

function notFound(what: string, reason: string, suggestions: readonly string[]): never {
  const hint = suggestions.length > 0 ? `; did you mean ${suggestions.map((one) => `"${one}"`).join(' or ')}` : '';
  throw new PinnaceError('not_found', `Cannot read ${what}: there is none of this name${hint}`, {
    details: { reason, suggestions },
  });
}

function invalidSkill(path: string, why: string, line?: number): PinnaceError {
  const where = line === undefined ? visibleLines(path) : `line ${line} of ${visibleLines(path)}`;
  return new PinnaceError('invalid_argument', `Cannot use ${where}: ${why}`, {
    details: { reason: 'skill_invalid', path, ...(line !== undefined && { line }) },
  });
}

/**
 * Returns a loader for `skills` of the folders in a folder, on Node and Deno. What starts with "." is left out, and links are refused
 * (`skill_invalid`): they could lead out.
 *
 * @example
 * const skillRead = await skills(readSkills('./skills'));
 */
export function readSkills(folder: string): LoadSkills {
  return async (skill) => {
    const disk = await import('node:fs/promises');
    const files: Record<string, Uint8Array> = {};
    const walk = async (path: string, sizes: number[]): Promise<void> => {
      for (const entry of await disk.readdir(`${folder}/${path}`, { withFileTypes: true })) {
        const inner = path === '' ? entry.name : `${path}/${entry.name}`;
        if (entry.name.startsWith('.') || (path === '' && (skill ?? inner) !== inner)) continue;
        if (entry.isSymbolicLink()) throw invalidSkill(inner, 'links are refused, which could lead out of the folder');
        if (entry.isDirectory()) await walk(inner, path === '' ? [] : sizes);
        else if (entry.isFile() && path !== '') {
          sizes.push((await disk.stat(`${folder}/${inner}`)).size);
          requireSmall(inner, sizes);
          files[inner] = await disk.readFile(`${folder}/${inner}`);
        }
      }
    };
    await walk('', []);
    return files;
  };
}
