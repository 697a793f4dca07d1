import process from 'node:process';
import { playwright } from '@vitest/browser-playwright';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import type { BrowserInstanceOption } from 'vitest/node';
import { alias, packageAlias } from './demo/alias.ts';
import { contentSecurityPolicy, policy } from './demo/csp.ts';
import { noWebAssembly } from './demo/offline/no-web-assembly.ts';
import { offline } from './demo/offline/plugin.ts';
import { appFrame } from './demo/mcp/apps/plugin.ts';
import { signInCallback } from './demo/oauth/plugin.ts';
import { docsSite } from './demo/site/plugin.ts';
import { LongFirst } from './test/tools/run/long-first.ts';
import { slowestFiles } from './test/tools/run/slowest-files.ts';
import { unhandledErrors } from './test/tools/run/unhandled-errors.ts';
import {
  measuringDenoTests,
  measuringPlatformTests,
  measuringTests,
  platformTests,
} from './test/tools/run/selection.ts';

const root = import.meta.dirname;
const isDeno = 'Deno' in globalThis;
/** In `npm run test:long`, and where files are named, everything runs in every runtime and with its full counts. */
const isLong = process.env['PINNACE_TEST'] === 'long';
const namesFiles = process.argv.some((argument) => argument.startsWith('test/'));
const everyCoreTest = ['test/src/**/*.test.ts', 'test/adapters/**/*.test.ts', 'test/scenarios/**/*.test.ts'];
const core = isLong || namesFiles ? everyCoreTest : platformTests;
/** Files share a process, apart from those that measure it. Named files run alone, in the project that is named with them. */
const shared = namesFiles ? { isolate: true } : { isolate: false, exclude: measuringTests };
const alone = namesFiles ? [] : measuringTests;
const aloneElsewhere = isLong
  ? measuringTests.filter((path) => !path.startsWith('test/node/'))
  : measuringPlatformTests;
/** What the start of the playground's page shares with what it loads later: one file, for each is a request. */
const pageBase = new RegExp(
  [
    'preload-helper',
    '/node_modules/(preact|@preact|comlink|valibot)/',
    '/src/base/(check-options|errors|is-record|json)[.]ts$',
    '/demo/kit/(dialog|format|icon|lazy)[.]tsx?$',
    '/demo/chat/(state/(approval|branches|chat|citations|message|run-data)|store/(stored-message|chat-rows))[.]ts$',
    '/demo/(endpoint/state/endpoint|files/state/attached-file|plan/state/plan-data)[.]ts$',
    '/demo/(app/state/route|privacy/state/tabs|settings/state/(model-name|settings))[.]ts$',
  ].join('|').replaceAll('/', '[\\\\/]'),
);
const setupInNode = 'fake-indexeddb/auto';
/** A machine may be busy or slow: these find what hangs, not what is late. */
const patience = {
  provide: { isLong, sampleSeed: Date.now() % 2 ** 31 },
  testTimeout: 180_000,
  hookTimeout: 120_000,
  teardownTimeout: 60_000,
  expect: { poll: { timeout: 30_000 } },
};
const patient = 'test/tools/run/patience.ts';
const setupFiles = [patient, 'test/tools/run/unchanged-globals.ts'];
/** Servers on 127.0.0.1 that tests in every runtime call: peers of models, as real clients see them. */
const globalSetup = 'test/tools/servers/peers.ts';

/** Examples and snippets import the package by its name. */
const resolve = { alias: [...packageAlias] };

/** Agents that cannot be talked into it: also in the other engine. */
const trustTests = [
  'test/src/permission/{label,rules}.test.ts',
  'test/src/runtime/{attacks,trust,trust-survives,program/guarded*}.test.ts',
  ...(namesFiles ? ['test/src/runtime/{agent-egress,program/agentdojo}.test.ts'] : []),
];

/** Launch options are looked up only when a browser is wanted (the Deno run wants none). */
async function browserProjects(): Promise<TestProjectInlineConfiguration[]> {
  const [{ chromium }, { firefoxOptions, firefoxPath }] = await Promise.all([
    import('./test/tools/browsers/chromium.ts'),
    import('./test/tools/browsers/firefox.ts'),
  ]);
  /** One for each project: vitest writes the name of its project into it. */
  const inChromium = () => ({ browser: 'chromium' as const, provider: playwright({ launchOptions: chromium }) });
  const inFirefox = {
    browser: 'firefox' as const,
    include: [
      'test/browser/{parity,presence}.test.ts',
      'test/adapters/storage/indexeddb.test.ts',
      'test/src/base/network/network-error.test.ts',
      ...trustTests,
    ],
    provider: playwright({ launchOptions: firefoxOptions }),
  };
  return [
    browserProject({ name: 'browser', ...shared, include: [...core, 'test/browser/**/*.test.ts'] }, [
      inChromium(),
      ...(firefoxPath ? [inFirefox] : []),
    ]),
    browserProject({ name: 'browser-alone', include: namesFiles ? [] : aloneElsewhere }, [inChromium()]),
  ];
}

function browserProject(
  test: NonNullable<TestProjectInlineConfiguration['test']>,
  instances: BrowserInstanceOption[],
): TestProjectInlineConfiguration {
  return {
    root,
    resolve,
    // All that the tests reach, workers too: a dependency found mid-run makes vite reload and hangs a test for 60 s.
    optimizeDeps: {
      entries: [
        'src/**/*.ts',
        'adapters/**/*.ts',
        'demo/**/*.ts',
        '!demo/create/**',
        '!demo/examples/tasks/peers/**', // what they import is installed by their own tool
        'test/browser/**/*.ts',
        ...everyCoreTest,
      ],
    },
    worker: { format: 'es' },
    test: {
      ...patience,
      ...test,
      setupFiles,
      globalSetup,
      // The browsers start while four other projects do: on two cores that takes its time.
      browser: { enabled: true, headless: true, screenshotFailures: false, connectTimeout: 180_000, instances },
    },
  };
}

/** The readers of files: several workers load them, each with the first such file. */
const ofFiles =
  /[\\/](?:node_modules[\\/](?:htmlparser2|entities|dom[a-z-]+|papaparse|unzipit|saxes|xmlchars)[\\/]|(?:src[\\/]grounding[\\/]ingest|adapters[\\/]grounding[\\/]office)[\\/]|adapters[\\/]grounding[\\/]zip\.ts$)/;
/** The libraries of MCP and what imports them by name. */
const ofMcp =
  /node_modules[\\/](?:@modelcontextprotocol|eventsource-parser)[\\/]|adapters[\\/](?:mcp[\\/](?:sdk|sdk-2026|oauth|session|failures|notices|messages)|linear-validator)\.ts$|src[\\/]mcp[\\/](?!servers-on-use)/;
/** What cells of code are made of: it is loaded with the first of them. */
const ofCells = /adapters[\\/]sandbox[\\/](bridge|prelude|program-prelude)\.ts$/;

export default defineConfig(async ({ mode }) => ({
  root: 'demo',
  base: './',
  resolve: { alias: [...alias] },
  plugins: [contentSecurityPolicy(), signInCallback(), appFrame(), docsSite(), offline(), noWebAssembly()],
  optimizeDeps: { entries: ['index.html', 'worker.ts'] },
  build: {
    outDir: '../dist-demo',
    emptyOutDir: true,
    target: 'es2024',
    sourcemap: true,
    rolldownOptions: {
      // What the page and all that it loads later share is one file, not one for each set of sharers.
      output: {
        codeSplitting: { groups: [{ name: 'page-base', test: pageBase }] },
        // Page and worker are built apart, and would each write this file under one name.
        chunkFileNames: ({ name }: { readonly name: string }) =>
          `assets/${name === 'rolldown-runtime' ? 'page-runtime' : '[name]'}-[hash].js`,
      },
    },
  },
  worker: {
    format: 'es' as const,
    plugins: () => [noWebAssembly()],
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // The libraries of models and MCP servers share zod; the worker loads neither at its start.
            { name: 'worker-zod', test: /node_modules[\\/]zod[\\/]/, priority: 2 },
            // Connections to MCP servers and sign-ins to them share their library.
            { name: 'worker-mcp', test: ofMcp, priority: 1, includeDependenciesRecursively: false },
            // What the worker shares with what it loads later is one file, not one for each set of sharers.
            { name: 'worker-shared', minShareCount: 2, test: (id: string) => !ofCells.test(id) && !ofFiles.test(id) },
          ],
        },
      },
    },
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
    sequence: { sequencer: LongFirst },
    reporters: ['default', 'json', slowestFiles(), unhandledErrors()],
    outputFile: { json: `node_modules/.cache/test-${isDeno ? 'deno' : 'node'}.json` },
    projects: [
      {
        root,
        resolve,
        test: {
          name: 'node',
          ...patience,
          ...shared,
          include: [...everyCoreTest, 'test/node/**/*.test.ts'],
          setupFiles: [setupInNode, ...setupFiles],
          globalSetup,
        },
      },
      {
        root,
        resolve,
        test: {
          name: 'node-alone',
          ...patience,
          include: alone,
          setupFiles: [setupInNode, ...setupFiles],
          globalSetup,
        },
      },
      {
        root,
        test: {
          name: 'dom',
          ...patience,
          isolate: namesFiles,
          setupFiles,
          include: ['test/demo/**/*.test.{ts,tsx}'],
          environment: 'happy-dom',
        },
      },
      {
        root,
        resolve,
        test: {
          name: 'deno',
          ...patience,
          ...shared,
          ...(!namesFiles && { exclude: [...measuringTests, ...measuringDenoTests] }),
          setupFiles,
          include: [...core, 'test/deno/**/*.test.ts'],
          globalSetup,
        },
      },
      {
        root,
        resolve,
        test: {
          name: 'deno-alone',
          ...patience,
          setupFiles,
          include: namesFiles ? [] : [...aloneElsewhere, ...measuringDenoTests],
          globalSetup,
        },
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
          isolate: false,
        },
      },
      ...(isDeno || mode !== 'test' ? [] : await browserProjects()), // the page needs no browser of ours
    ],
  },
}));
