/** Model servers that people run on their own computer, and how each is made to allow this page. */

import { readModels } from './ask-server.ts';
import { pageFetch } from './page-fetch.ts';

/** A command or setting that allows this page, and where it applies. */
export interface Fix {
  readonly where: string;
  readonly line: string;
}

/** A server by its usual address. */
export interface LocalServer {
  readonly id: string;
  readonly name: string;
  readonly baseUrl: string;
  /** What allows a page of this origin. */
  readonly fixes: (origin: string) => readonly Fix[];
}

/** Facts of November 2026. Never suggest `*` for Ollama: every website could use the server. */
export const localServers: readonly LocalServer[] = [
  {
    id: 'ollama',
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    fixes: (origin) => [
      { where: 'macOS, then restart Ollama', line: `launchctl setenv OLLAMA_ORIGINS "${origin}"` },
      { where: 'Windows, then restart Ollama', line: `setx OLLAMA_ORIGINS "${origin}"` },
      {
        where: 'Linux: in “systemctl edit ollama”, below [Service], then restart it',
        line: `Environment="OLLAMA_ORIGINS=${origin}"`,
      },
      { where: 'Docker, as an option of “docker run”', line: `-e OLLAMA_ORIGINS=${origin}` },
    ],
  },
  {
    id: 'lm-studio',
    name: 'LM Studio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    fixes: () => [{ where: 'or switch on “Enable CORS” in its server settings', line: 'lms server start --cors' }],
  },
  {
    id: 'llama-cpp',
    name: 'llama.cpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    fixes: (origin) => [{ where: 'with your model’s file', line: `llama-server -m MODEL --cors-origins ${origin}` }],
  },
  {
    id: 'vllm',
    name: 'vLLM',
    baseUrl: 'http://127.0.0.1:8000/v1',
    fixes: (
      origin,
    ) => [{ where: 'with your model’s name', line: `vllm serve MODEL --allowed-origins '["${origin}"]'` }],
  },
];

/** What was found at an address. `refused`: it runs and does not allow this page. `key`: it wants a key. `blocked`: the browser does not let the page look. */
export type LocalState =
  | { readonly type: 'open'; readonly models: readonly string[] }
  | { readonly type: 'refused' | 'key' | 'blocked' | 'absent' };

export interface FoundServer {
  readonly server: LocalServer;
  readonly state: LocalState;
}

interface LookOptions {
  readonly servers?: readonly LocalServer[];
  readonly fetch?: typeof fetch;
  /** The state of the browser's permission to reach this computer; `undefined` where it has none. */
  readonly permission?: () => Promise<PermissionState | undefined>;
  readonly timeoutMs?: number;
}

/** Looks at all addresses at once. Call it from a click: browsers may ask the person for permission. */
export async function lookForServers(
  { servers = localServers, fetch: send = pageFetch, permission = localPermission, timeoutMs = 1500 }: LookOptions = {},
): Promise<readonly FoundServer[]> {
  const found = await Promise.all(servers.map(async (server): Promise<FoundServer> => {
    const state = await stateOf(server, { send, timeoutMs });
    if (state) return { server, state };
    const isThere = await send(server.baseUrl, { mode: 'no-cors', signal: AbortSignal.timeout(timeoutMs) })
      .then(() => true, () => false);
    return { server, state: { type: isThere ? 'refused' : 'absent' } };
  }));
  const isBlocked = found.every(({ state }) => state.type === 'absent') && await permission() === 'denied';
  return isBlocked ? found.map(({ server }) => ({ server, state: { type: 'blocked' } })) : found;
}

async function stateOf(
  { baseUrl }: LocalServer,
  { send, timeoutMs }: { readonly send: typeof fetch; readonly timeoutMs: number },
): Promise<LocalState | undefined> {
  try {
    const response = await send(`${baseUrl}/models`, { signal: AbortSignal.timeout(timeoutMs) });
    if (response.status === 401) return { type: 'key' };
    const models = response.ok ? readModels(await response.json()) : undefined;
    return models && { type: 'open', models };
  } catch {
    return undefined; // what the next request tells apart
  }
}

/** Chromium has named it twice. */
async function localPermission(): Promise<PermissionState | undefined> {
  for (const name of ['loopback-network', 'local-network-access']) {
    try {
      const { state } = await navigator.permissions.query({ name: name as PermissionName }); // TypeScript lacks both
      return state;
    } catch {
      // a browser that does not know the name
    }
  }
  return undefined;
}
