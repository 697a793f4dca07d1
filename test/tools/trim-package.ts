/**
 * Removes from `dist/`, or from the folder that is named, what no user of the package reads: declarations that no entry leads to, and
 * the comments of JavaScript, which the declarations have as well. Comments that tools read stay.
 */

import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { parseSync } from 'oxc-parser';

const root = join(import.meta.dirname, '../..');
const dist = process.argv[2] ?? join(root, 'dist');
const forTools = /[@#]__|@vite-ignore|webpack|turbopack|^!|@license|@preserve/;

/** The declarations that an entry leads to, by their paths. */
function reachable(): ReadonlySet<string> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const open = Object.values(exports).map((path) => join(dist, path.slice('./dist/'.length).replace(/\.js$/, '.d.ts')));
  const found = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path) || !existsSync(path)) continue;
    found.add(path);
    for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(/['"](\.{1,2}\/[^'"]+)\.[jt]s['"]/g)) {
      open.push(join(dirname(path), `${target}.d.ts`));
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

const kept = reachable();
for (const name of globSync('**/*.d.ts', { cwd: dist })) {
  const path = join(dist, name);
  if (!kept.has(path)) rmSync(path);
}
for (const name of globSync('**/*.js', { cwd: dist })) {
  const path = join(dist, name);
  writeFileSync(path, withoutComments(path, readFileSync(path, 'utf8')));
}
