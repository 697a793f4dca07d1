/** What bundles leave out, and where the package's own names lead while it is worked on. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Alias } from 'vite';

/** For `resolve.alias` of Vite. */
export const alias: readonly Alias[] = [
  // Nothing here passes model names as text, so the AI SDK's gateway need not be in any bundle.
  { find: '@ai-sdk/gateway', replacement: resolve(import.meta.dirname, 'no-gateway.ts') },
  { find: /^\.\.\/validation\/ajv-provider\.js$/, replacement: resolve(import.meta.dirname, 'no-ajv.ts') },
];

const root = resolve(import.meta.dirname, '..');
const { exports } = JSON.parse(readFileSync(resolve(root, 'deno.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>;
};

/** `pinnace` and `pinnace/…` as sources: the names that `deno.json` exports. */
export const packageAlias: readonly Alias[] = Object.entries(exports).map(([name, source]) => ({
  find: new RegExp(`^pinnace${name.slice(1)}$`),
  replacement: resolve(root, source),
}));
