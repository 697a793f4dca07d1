import { playwright } from '@vitest/browser-playwright';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { alias, packageAlias } from './demo/alias.ts';
import { contentSecurityPolicy, policy } from './demo/csp.ts';
import { offline } from './demo/offline/plugin.ts';
import { docsSite } from './demo/site/plugin.ts';

const root = import.meta.dirname;
const isDeno = 'Deno' in globalThis;
/** What runs in every runtime, from one source. */
const core = ['test/src/**/*.test.ts', 'test/adapters/**/*.test.ts', 'test/scenarios/**/*.test.ts'];
/** Nothing here is about speed, and a machine may be busy or slow: whoever hangs is found late, whoever is late is no failure. */
const patience = {
  testTimeout: 180_000,
  hookTimeout: 120_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 30_000 } },
};
const setupFiles = ['test/tools/patience.ts'];
/** Servers on 127.0.0.1 that tests in every runtime call: peers of models, as real clients see them. */
const globalSetup = 'test/tools/servers/peers.ts';

/** Examples and snippets import the package by its name. */
const resolve = { alias: [...packageAlias] };

/** Launch options are looked up only when a browser is wanted (the Deno run wants none). */
async function browserProject(): Promise<TestProjectInlineConfiguration> {
  const [{ chromium }, { firefoxOptions, firefoxPath }] = await Promise.all([
    import('./test/tools/browsers/chromium.ts'),
    import('./test/tools/browsers/firefox.ts'),
  ]);
  return {
    root,
    resolve,
    // All that the tests reach, workers too: a dependency found mid-run makes vite reload and hangs a test for 60 s.
    optimizeDeps: { entries: ['src/**/*.ts', 'adapters/**/*.ts', 'demo/**/*.ts', 'test/browser/**/*.ts', ...core] },
    worker: { format: 'es' },
    test: {
      name: 'browser',
      ...patience,
      setupFiles,
      include: [...core, 'test/browser/**/*.test.ts'],
      globalSetup,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({ launchOptions: chromium }),
        instances: [
          { browser: 'chromium' },
          ...(firefoxPath
            ? [{
              browser: 'firefox' as const,
              include: ['test/browser/parity.test.ts'],
              provider: playwright({ launchOptions: firefoxOptions }),
            }]
            : []),
        ],
      },
    },
  };
}

export default defineConfig(async ({ mode }) => ({
  root: 'demo',
  base: './',
  resolve: { alias: [...alias] },
  plugins: [contentSecurityPolicy(), docsSite(), offline()],
  optimizeDeps: { entries: ['index.html', 'worker.ts'] },
  build: { outDir: '../dist-demo', emptyOutDir: true, target: 'es2024', sourcemap: true },
  // What the worker shares with what it fetches later is one file beside it, not one for each set of sharers.
  worker: {
    format: 'es' as const,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'worker-shared', minShareCount: 2 }] } } },
  },
  server: {
    host: '127.0.0.1',
    cors: false,
    // What the tools of this project keep is nothing for a page; the first four are the defaults.
    fs: { strict: true, deny: ['.env', '.env.*', '*.{crt,pem}', '**/.git/**', '**/node_modules/.cache/**'] },
  },
  preview: { host: '127.0.0.1', headers: { 'content-security-policy': policy } },
  test: {
    root,
    reporters: ['default', 'json'],
    outputFile: { json: `node_modules/.cache/test-${isDeno ? 'deno' : 'node'}.json` },
    projects: [
      {
        root,
        resolve,
        test: {
          name: 'node',
          ...patience,
          include: [...core, 'test/node/**/*.test.ts'],
          setupFiles: ['fake-indexeddb/auto', ...setupFiles],
          globalSetup,
        },
      },
      {
        root,
        test: {
          name: 'dom',
          ...patience,
          setupFiles,
          include: ['test/demo/**/*.test.{ts,tsx}'],
          environment: 'happy-dom',
        },
      },
      {
        root,
        resolve,
        test: { name: 'deno', ...patience, setupFiles, include: [...core, 'test/deno/**/*.test.ts'], globalSetup },
      },
      {
        root,
        test: {
          name: 'e2e',
          ...patience,
          testTimeout: 240_000,
          hookTimeout: 240_000,
          setupFiles,
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: 'test/tools/servers/serve-playground.ts',
          fileParallelism: false,
        },
      },
      ...(isDeno || mode !== 'test' ? [] : [await browserProject()]), // the page needs no browser of ours
    ],
  },
}));
