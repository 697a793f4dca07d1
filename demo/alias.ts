/** What bundles leave out. */

import { resolve } from 'node:path';
import type { Alias } from 'vite';

/** For `resolve.alias` of Vite. */
export const alias: readonly Alias[] = [
  // Nothing here passes model names as text, so the AI SDK's gateway need not be in any bundle.
  { find: '@ai-sdk/gateway', replacement: resolve(import.meta.dirname, 'no-gateway.ts') },
  { find: /^\.\.\/validation\/ajv-provider\.js$/, replacement: resolve(import.meta.dirname, 'no-ajv.ts') },
];
