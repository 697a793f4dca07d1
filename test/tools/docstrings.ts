/** Which public names the emitted declarations leave without a docstring: what a hover shows is what they have. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';

interface Statement {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Module {
  readonly path: string;
  readonly text: string;
  readonly body: readonly Statement[];
}

const modules = new Map<string, Module>();

function moduleAt(path: string): Module {
  const found = modules.get(path);
  if (found) return found;
  const text = readFileSync(path, 'utf8');
  const read = { path, text, body: parseSync(path, text).program.body as unknown as readonly Statement[] };
  modules.set(path, read);
  return read;
}

/** A name of a declaration: of an interface, a type, a function, a class or a constant. */
function namesOf(statement: Statement): readonly string[] {
  const { id, declarations } = statement as {
    id?: { name: string };
    declarations?: readonly { id: { name: string } }[];
  };
  return id ? [id.name] : (declarations ?? []).map((declared) => declared.id.name);
}

const nameOf = (node: unknown): string =>
  (node as { name?: string; value?: string }).name ?? (node as { value: string }).value;

interface Found {
  readonly module: Module;
  /** The statement with the docstring: that of the export, if it declares. */
  readonly statement: Statement;
}

/** The exported names of a module, each with where it is declared; a name of another package has no place. */
function exportsOf(path: string): ReadonlyMap<string, Found> {
  const module = moduleAt(path);
  const result = new Map<string, Found>();
  const beside = (source: unknown): string | undefined => {
    const target = (source as { value: string } | null)?.value;
    const file = target?.startsWith('.') ? join(dirname(path), target.replace(/\.[jt]s$/, '.d.ts')) : undefined;
    return file !== undefined && existsSync(file) ? file : undefined;
  };
  const imported = new Map<string, { readonly file: string; readonly name: string }>();
  for (const statement of module.body) {
    if (statement.type !== 'ImportDeclaration') continue;
    const file = beside(statement['source']);
    for (
      const { local, imported: name } of statement['specifiers'] as readonly { local: unknown; imported?: unknown }[]
    ) {
      if (file !== undefined && name) imported.set(nameOf(local), { file, name: nameOf(name) });
    }
  }
  const locate = (name: string): Found | undefined => {
    const elsewhere = imported.get(name);
    if (elsewhere) return exportsOf(elsewhere.file).get(elsewhere.name);
    for (const statement of module.body) {
      const declared = (statement['declaration'] ?? statement) as Statement;
      if (namesOf(declared).includes(name)) return { module, statement };
    }
    return undefined;
  };
  for (const statement of module.body) {
    if (statement.type === 'ExportAllDeclaration') {
      const file = beside(statement['source']);
      if (file !== undefined) { for (const [name, found] of exportsOf(file)) result.set(name, found); }
    }
    if (statement.type !== 'ExportNamedDeclaration') continue;
    const declared = statement['declaration'] as Statement | null;
    for (const name of declared ? namesOf(declared) : []) {
      if (!result.has(name)) result.set(name, { module, statement });
    }
    const file = beside(statement['source']);
    for (const { local, exported } of statement['specifiers'] as readonly { local: unknown; exported: unknown }[]) {
      if (statement['source'] && file === undefined) continue; // of another package
      const found = file === undefined ? locate(nameOf(local)) : exportsOf(file).get(nameOf(local));
      if (found) result.set(nameOf(exported), found);
    }
  }
  return result;
}

/** Where the functions, classes and constants of every entry are declared: the file, the name there, and the offset of its statement. */
export function publicValues(
  folder: string,
  entries: readonly string[],
): readonly { readonly path: string; readonly name: string; readonly start: number }[] {
  const isValue = ({ type }: Statement): boolean => !type.startsWith('TS') || type === 'TSDeclareFunction';
  return entries.flatMap((path) => [...exportsOf(join(folder, path.replace(/\.js$/, '.d.ts'))).values()])
    .flatMap(({ module, statement }) => {
      const declared = (statement['declaration'] ?? statement) as Statement;
      return isValue(declared)
        ? namesOf(declared).map((name) => ({ path: module.path, name, start: statement.start }))
        : [];
    });
}

/** Whether a docstring ends where this starts. */
const isDocumented = (text: string, start: number): boolean =>
  /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.test(text.slice(0, start));

/** The exported names of every entry that have no docstring, as `entry: name`. */
export function undocumentedNames(folder: string, entries: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(entries).flatMap(([entry, path]) =>
    [...exportsOf(join(folder, path.replace(/\.js$/, '.d.ts')))]
      .filter(([, { module, statement }]) => !isDocumented(module.text, statement.start))
      .map(([name, { module }]) => `${entry}: ${name} (${module.path.slice(folder.length)})`)
  );
}

/** The fields of an exported interface, or of the object types of an exported alias, that have no docstring. */
export function undocumentedFields(folder: string, entry: string, name: string): readonly string[] {
  const found = exportsOf(join(folder, entry.replace(/\.js$/, '.d.ts'))).get(name);
  if (!found) return [`${name} is not exported`];
  const { module, statement } = found;
  const declared = (statement['declaration'] ?? statement) as Statement & {
    body?: { body: readonly Statement[] };
    typeAnnotation?: Statement;
  };
  const members = declared.body?.body ?? (declared.typeAnnotation?.['members'] as readonly Statement[] | undefined);
  if (!members) return [`${name} has no fields`];
  return members.filter(({ start }) => !isDocumented(module.text, start))
    .map((member) => `${name}.${member['key'] ? nameOf(member['key']) : member.type}`);
}

/** The fields without a docstring of every exported interface of options. */
export function undocumentedOptions(folder: string, entries: readonly string[]): readonly string[] {
  const missing = entries.flatMap((entry) =>
    [...exportsOf(join(folder, entry.replace(/\.js$/, '.d.ts'))).keys()].filter((name) => name.endsWith('Options'))
      .flatMap((name) => undocumentedFields(folder, entry, name))
      .filter((field) => field.includes('.'))
  );
  return [...new Set(missing)];
}
