/** The API reference: a page for each entry of the package, from its docstrings. */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Html, markup } from './html.ts';
import { renderCode, renderMarkdown, scroller, type Section } from './render.ts';

const root = join(import.meta.dirname, '../..');
const deno = join(root, 'node_modules/.bin/deno');

export interface ApiPage {
  readonly path: string;
  readonly title: string;
  readonly body: Html;
  readonly sections: readonly Section[];
}

interface Location {
  readonly filename: string;
  readonly line: number;
}

/** A name exported by several entries is documented in one and linked from the others. */
interface Declaration {
  readonly kind: string;
  readonly jsDoc?: { readonly doc?: string };
  readonly location: Location;
  readonly def?: { readonly target?: Location };
}

interface Module {
  readonly symbols: readonly { readonly name: string; readonly declarations: readonly Declaration[] }[];
}

/** A declaration, by its source position. */
interface Known {
  readonly docs: ReadonlyMap<string, string>;
  readonly signatures: ReadonlyMap<string, string>;
}

/** Returns the pages; the first, `api.html`, lists the others. */
export async function apiPages(): Promise<readonly ApiPage[]> {
  const { exports } = JSON.parse(await readFile(join(root, 'deno.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  const files = Object.values(exports);
  const [json, text] = await Promise.all([denoDoc('--json', ...files), denoDoc(...files)]);
  const { nodes } = JSON.parse(json) as { readonly nodes: Readonly<Record<string, Module>> }; // as that tool writes it
  const known = { docs: docsIn(Object.values(nodes)), signatures: signaturesIn(text) };
  const pages = await Promise.all(
    Object.entries(exports).map(async ([name, path]) => {
      const found = nodes[pathToFileURL(join(root, path)).href];
      if (!found) throw new Error(`No docstrings of ${path}`);
      const [, about = ''] = /^\/\*\*\s*(.*?)\s*\*\//s.exec(await readFile(join(root, path), 'utf8')) ?? [];
      return entryPage(found, known, { entry: name.replace('.', 'pinnace'), about: about.replace(/\n \* ?/g, '\n') });
    }),
  );
  return [listOf(pages), ...pages];
}

async function denoDoc(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' };
  const { stdout } = await promisify(execFile)(deno, ['doc', ...args], { cwd: root, env, maxBuffer: 100_000_000 });
  return stdout;
}

function docsIn(modules: readonly Module[]): ReadonlyMap<string, string> {
  const declarations = modules.flatMap(({ symbols }) => symbols).flatMap((symbol) => symbol.declarations);
  return new Map(declarations.flatMap(({ jsDoc, location }) => jsDoc?.doc ? [[placeOf(location), jsDoc.doc]] : []));
}

/** The tool's output has each declaration's position and kind. */
function signaturesIn(text: string): ReadonlyMap<string, string> {
  const blocks = text.split(/^Defined in /m).slice(1);
  return new Map(blocks.map((block) => {
    const end = block.indexOf('\n');
    return [block.slice(0, end).replace(/:\d+$/, ''), block.slice(end).trim()];
  }));
}

function placeOf({ filename, line }: Location): string {
  return `${filename}:${line}`;
}

interface EntryPage extends ApiPage {
  readonly entry: string;
  readonly about: string;
  readonly count: number;
}

function entryPage(
  { symbols }: Module,
  known: Known,
  { entry, about }: { readonly entry: string; readonly about: string },
): EntryPage {
  const named = symbols.filter(({ name }) => name !== 'default').toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
  const first = named.find(({ name }) => /^[a-z]/.test(name))?.declarations[0];
  const summary = about || (first && known.docs.get(placeOf(targetOf(first)))) || '';
  const body = markup`<h1><code>${entry}</code></h1>\n${proseOf(summary)}<p class="api-names">${
    named.map(({ name }) => markup`<a href="#${name}">${name}</a> `)
  }</p>\n${named.map(({ name, declarations }) => symbolOf(name, declarations, known))}`;
  return {
    path: `api/${entry.replaceAll('/', '-')}.html`,
    entry,
    title: entry,
    about: summary,
    count: named.length,
    body,
    sections: [],
  };
}

function targetOf({ def, location }: Declaration): Location {
  return def?.target ?? location;
}

function symbolOf(name: string, declarations: readonly Declaration[], known: Known): Html {
  const anchor = markup`<a class="anchor" href="#${name}" aria-label="Link to ${name}">#</a>`;
  return markup`<h2 id="${name}" class="heading-3">${name} ${anchor}</h2>\n${
    declarations.map((one) => declarationOf(placeOf(targetOf(one)), known))
  }`;
}

/** The docstring as prose, then the declaration with the comments of its members. */
function declarationOf(place: string, { docs, signatures }: Known): Html {
  const doc = docs.get(place);
  const lines = (signatures.get(place) ?? '').split('\n');
  const docAt = lines.findIndex((line) => line.startsWith('  '));
  if (doc === undefined || docAt === -1) return renderCode(lines.join('\n'), 'ts');
  const after = lines.findIndex((line, i) => i > docAt && line === '');
  const rest = after === -1 ? [] : lines.slice(after);
  return markup`${proseOf(doc)}${renderCode([...lines.slice(0, docAt), ...rest].join('\n').trim(), 'ts')}`;
}

function proseOf(doc: string): Html {
  return renderMarkdown(doc, String).body;
}

function listOf(pages: readonly EntryPage[]): ApiPage {
  const rows = pages.map(({ entry, path, about, count }) =>
    markup`<tr><td><a href="${path}"><code>${entry}</code></a></td><td>${
      proseOf(about)
    }</td><td class="align-right">${count}</td></tr>\n`
  );
  const body = markup`<h1>API reference</h1>
<p>The public entries of the package and their exports. <code>npm run docs</code> builds the same reference with a search.</p>
${
    scroller(
      markup`<thead><tr><th>entry</th><th>purpose</th><th class="align-right">exports</th></tr></thead>\n<tbody>\n${rows}</tbody>`,
    )
  }`;
  return { path: 'api.html', title: 'API reference', body, sections: [] };
}
