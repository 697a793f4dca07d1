/**
 * Removes from `dist/`, or from the folder that is named, what no user of the package reads: what no entry leads to, and the comments
 * of JavaScript, which the declarations have as well. Comments that tools read stay. Lines are indented by two spaces, as in the
 * sources, and not by the compiler's four.
 */

import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { parseSync } from 'oxc-parser';

const root = join(import.meta.dirname, '../..');
const dist = process.argv[2] ?? join(root, 'dist');
const forTools = /[@#]__|@vite-ignore|webpack|turbopack|^!|@license|@preserve/;

/** The files with this ending that an entry or a command leads to, by their paths. */
function reachable(ending: '.js' | '.d.ts'): ReadonlySet<string> {
  const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Readonly<
    Record<'exports' | 'bin', Readonly<Record<string, string>>>
  >;
  const open = [...Object.values(exports), ...Object.values(bin)].map((path) =>
    join(dist, path.replace(/^(?:\.\/)?dist\//, '').replace(/\.js$/, ending))
  );
  const found = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path) || !existsSync(path)) continue;
    found.add(path);
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/['"](\.{1,2}\/[^'"]+)\.[jt]s['"]/g)) {
      open.push(join(dirname(path), `${target}${ending}`));
    }
  }
  return found;
}

/** The code without comments, and without the lines that held nothing else. */
function withoutComments(path: string, code: string): string {
  const comments = parseSync(path, code).comments.filter(({ start, value }) =>
    !forTools.test(value) && !code.startsWith('#!', start)
  );
  let rest = '';
  let at = 0;
  for (const { start, end } of comments) {
    const before = code.slice(at, start);
    const after = /^[^\S\n]*(\n|$)/.exec(code.slice(end));
    const isWholeLine = /(^|\n)[^\S\n]*$/.test(rest + before) && after;
    rest += isWholeLine ? before.replace(/[^\S\n]*$/, '') : before.trimEnd() + (after ? '' : ' ');
    at = end + (isWholeLine ? after[0].length : 0);
  }
  return rest + code.slice(at);
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** The texts in backticks, whose spaces are part of a value. */
function templatesIn(node: unknown): readonly Node[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.values(node).flatMap(templatesIn);
  return (node as Partial<Node>).type === 'TemplateElement' ? [node as Node, ...inner] : inner; // safe: a node of the parser
}

/** The code with half the spaces before each line. */
function halfIndented(path: string, code: string): string {
  const templates = templatesIn(parseSync(path, code).program);
  return code.replaceAll(/^(?: {4})+/gm, (spaces, at: number) => {
    const isText = templates.some(({ start, end }) => start <= at && at <= end);
    return isText ? spaces : halved(spaces);
  });
}

function halved(spaces: string): string {
  return spaces.slice(spaces.length / 2);
}

const kept = reachable('.d.ts');
for (const name of globSync('**/*.d.ts', { cwd: dist })) {
  const path = join(dist, name);
  if (kept.has(path)) writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/^(?: {4})+/gm, halved));
  else rmSync(path);
}
const running = reachable('.js');
for (const name of globSync('**/*.js', { cwd: dist })) {
  const path = join(dist, name);
  if (!running.has(path)) {
    rmSync(path);
    continue;
  }
  writeFileSync(path, halfIndented(path, withoutComments(path, readFileSync(path, 'utf8'))));
}
