/**
 * The endpoint on Node and on Deno: a composition and its HTTP handler. What must hold:
 * - It takes every option of `createRuntime` and of `createHandler`; unknown ones are rejected before anything is opened.
 * - It closes in this order: the runtime, which writes the ends of its runs, then the stored events, then the storage.
 */

import { checkKnownOptions, checkOptions, optional, type Wanted } from '../src/base/check-options.ts';
import { PinnaceError } from '../src/base/errors.ts';
import { loadOnce } from '../src/base/load-once.ts';
import type { Egress } from '../src/contracts/egress.ts';
import type { McpConnector } from '../src/contracts/mcp/mcp-connector.ts';
import type { McpSignIn } from '../src/contracts/mcp/sign-in.ts';
import type { Storage } from '../src/contracts/storage.ts';
import { type PlanningRuntime, runtimeOptions } from '../src/create-runtime.ts';
import { createEventRing } from '../src/events/event-ring.ts';
import type { Grounding } from '../src/grounding/create-grounding.ts';
import type { HostedRuntime } from '../src/runtime/runtime.ts';
import {
  composeRuntime,
  type CompositionOptions,
  type CompositionStorage,
  defined,
  made,
  pick,
  type Platform,
} from './composition.ts';
import { consoleErrors } from './console-errors.ts';
import { mcpSignIn, type McpSignInOptions } from './mcp/sign-in.ts';
import { consoleSink } from './sinks/console.ts';
import { eventStore } from './sinks/event-store.ts';
import { gaugeSink } from './sinks/queue.ts';
import { createHandler, type Handler, type HandlerOptions, handlerOptions } from './transport/handler.ts';
import type { McpRouteOptions } from './transport/http/routes/mcp.ts';

/** The options of the handler that the endpoint makes of its other parts. */
type MadeForHandler = 'authenticator' | 'mcp' | 'mcpSignIn' | 'registry' | 'grounding' | 'planner' | 'now';

/** The options of an endpoint: all of `createRuntime` and of `createHandler`, and these. */
export interface EndpointOptions extends CompositionOptions, Omit<HandlerOptions, MadeForHandler> {
  /** Verifies who calls: receives the storage, and returns `createAuthenticator(…)`, `bearerAuthenticator(…)` or your own. */
  readonly authenticator: (storage: CompositionStorage) => HandlerOptions['authenticator'];
  /** Serves MCP clients at `/mcp` with the tools of this agent. */
  readonly mcp?: EndpointMcp;
  /** Connects to MCP servers, as `mcp` of `createRuntime`; absent, by the library that is installed, over the endpoint's egress. */
  readonly mcpConnector?: McpConnector | ((egress: Egress) => McpConnector);
  /**
   * Signs people in to MCP servers with `auth`, over the endpoint's own egress; needs `sealKey`. The redirect URIs belong to your chat
   * back end. Servers are then reached with `@modelcontextprotocol/client`.
   */
  readonly mcpSignIn?: Omit<McpSignInOptions, 'egress'> | McpSignIn | ((egress: Egress) => McpSignIn);
  /** Origins on this machine, by address, as `privateOrigins`; for development. */
  readonly loopback?: readonly string[];
  /**
   * How long events are stored, in milliseconds, so that observers can resume at any instance. Absent, each instance keeps its last
   * events in memory.
   */
  readonly eventRetentionMs?: number;
  /** Whether `SIGINT` and `SIGTERM` close the endpoint and end the process, within 5 s. True when absent. */
  readonly exitOnStop?: boolean;
}

/** What an endpoint serves to MCP clients: the tools of an agent. Keys of `auth` are loaded by the endpoint's own egress. */
export type EndpointMcp = Omit<McpRouteOptions, 'tools' | 'storage' | 'resources'> & {
  readonly agentId: string;
  /** What clients may list and read; as a function where it is made of the endpoint's storage or grounding. */
  readonly resources?:
    | McpRouteOptions['resources']
    | ((parts: EndpointData) => NonNullable<McpRouteOptions['resources']>);
};

/** What resources of an endpoint may be made of. */
export interface EndpointData {
  readonly storage: Storage;
  readonly grounding: Grounding | undefined;
}

export interface EndpointPlatform extends Pick<Platform, 'storage' | 'egress' | 'defaults'> {
  /** The options of the handler that apply where the developer gives none. */
  readonly served: Partial<HandlerOptions>;
}

export interface ComposedEndpoint {
  readonly handler: Handler;
  readonly runtime: PlanningRuntime;
  /** Lets runs end for `drainMs`, hands the others over to other instances, and closes what the endpoint has opened. */
  readonly close: (options: { readonly drainMs: number }) => Promise<void>;
}

/** What an endpoint prints where the developer passes no `sinks` and no `onError`; in production, a line for what fails. */
export function endpointLog(isProduction: boolean): Required<Pick<Platform['defaults'], 'sinks' | 'onError'>> {
  return isProduction
    ? { sinks: [consoleSink({ format: 'failed-runs' })], onError: consoleErrors({ detail: 'line' }) }
    : { sinks: [consoleSink({ format: 'runs' })], onError: consoleErrors({ detail: 'brief' }) };
}

const action = 'create the endpoint';
const returned = `${action} with what "authenticator" and "tools" return`;

/** Checks the options of an endpoint before anything is opened; `own` are those of its platform. @throws PinnaceError `invalid_argument`. */
export function checkEndpoint(options: EndpointOptions, own: Readonly<Record<string, Wanted>>): void {
  checkKnownOptions(action, options, {
    ...runtimeOptions,
    ...handlerOptions,
    catalog: [
      typeof options?.catalog === 'function' ? 'function' : '.agent',
      'a catalog, such as staticCatalog({ agents, providers }), or a function (storage) => registry',
    ],
    authenticator: ['function', 'a function, such as () => bearerAuthenticator({ tokens })'],
    tools: [
      typeof options?.tools === 'function' ? 'function' : 'array?',
      'an array of tools, or a function (storage) => [add]',
    ],
    storage: ['.commit?', 'a storage, such as memoryStorage()'],
    ...optional('models', 'grounding'),
    ...ownOptions,
    ...own,
  });
}

const ownOptions = {
  ...optional('mcpConnector', 'loopback', 'auditRetentionMs', 'eventRetentionMs'),
  privateOrigins: ['array?', 'an array of origins, such as ["http://127.0.0.1:11434"]'],
  ...optional('exitOnStop'),
} satisfies Partial<Record<keyof EndpointOptions, Wanted>>;

const madeHere: ReadonlySet<string> = new Set<MadeForHandler>(
  ['authenticator', 'mcp', 'mcpSignIn', 'registry', 'grounding', 'planner', 'now'],
);
const passedOn = Object.keys(handlerOptions).filter((name) => !madeHere.has(name)) as Exclude<
  keyof HandlerOptions,
  MadeForHandler
>[]; // safe: the table has a row for each option

/** Composes the runtime of an endpoint and its handler. @throws PinnaceError as `createRuntime` and `createHandler`. */
export function createEndpoint(options: EndpointOptions, platform: EndpointPlatform): ComposedEndpoint {
  const { storage, egress } = platform;
  const authenticator = options.authenticator(storage);
  checkOptions(returned, { authenticator }, {
    authenticator: ['.authenticate', 'an authenticator, such as bearerAuthenticator({ tokens })'],
  });
  const { eventRetentionMs: retentionMs } = options;
  const store = retentionMs === undefined ? undefined : eventStore({ storage, retentionMs });
  const signIn = signInOf(options, egress);
  const connector = made(options.mcpConnector ?? mcpOnUse(egress), egress);
  const { runtime, registry, grounding } = composeRuntime(
    { ...options, ...defined({ tools: checked(options.tools) }) },
    {
      ...platform,
      ring: createEventRing({ store }),
      mcp: { mcp: connector, ...defined({ mcpSignIn: signIn }) },
    },
  );
  if (store) gaugeSink(runtime.metrics, 'events', store);
  const handler = createHandler(runtime, {
    ...platform.served,
    ...pick(options, passedOn),
    ...defined({
      mcp: options.mcp && mcpOf(options.mcp, { runtime, storage, egress, grounding }),
      mcpSignIn: signIn,
      registry,
      grounding: grounding && { grounding, storage },
      now: options.now,
    }),
    authenticator,
    planner: runtime.planner,
  });
  return {
    handler,
    runtime,
    async close({ drainMs }) {
      await runtime.close({ drainMs, handOver: storage.isVolatile !== true });
      await store?.close();
      await storage.close();
    },
  };
}

/** Returns the tools so that what a function returns is checked as an array is. */
function checked(tools: EndpointOptions['tools']): EndpointOptions['tools'] {
  if (typeof tools !== 'function') return tools;
  return (...parts) => {
    const array = tools(...parts);
    checkOptions(returned, { tools: array }, { tools: ['array', 'an array of tools'] });
    return array;
  };
}

/** Returns the sign-in to MCP servers. @throws PinnaceError `invalid_argument` without `sealKey`, and as `mcpSignIn` does. */
function signInOf({ mcpSignIn: how, sealKey, loopback = [] }: EndpointOptions, egress: Egress): McpSignIn | undefined {
  if (!how) return undefined;
  if (!sealKey) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot sign people in to MCP servers without "sealKey": name a secret of 32 random bytes, bound to "code"',
      { details: { reason: 'no_seal_key' } },
    );
  }
  if (typeof how === 'function') return how(egress);
  return 'discover' in how ? how : mcpSignIn({ loopback, ...how, egress });
}

/** Loads the connector with the first connection: most instances never open one. */
function mcpOnUse(egress: Egress): McpConnector {
  const connector = loadOnce(async () => (await import('./mcp/client.ts')).mcpConnector({ egress }));
  return { connect: async (server, options) => await (await connector()).connect(server, options) };
}

/** Returns the options of `/mcp`. */
function mcpOf(
  { agentId, auth, resources, ...options }: EndpointMcp,
  { runtime, storage, egress, grounding }: EndpointData & {
    readonly runtime: Pick<HostedRuntime, 'tools'>;
    readonly egress: Egress;
  },
): McpRouteOptions {
  return {
    ...options,
    ...defined({
      resources: typeof resources === 'function' ? resources({ storage, grounding }) : resources,
      auth: auth && { egress, ...auth },
    }),
    storage,
    tools: (principal) => runtime.tools(agentId, principal),
  };
}
