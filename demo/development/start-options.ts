/** The options of `npm start`, from arguments and environment, and whether they are valid. */

import { createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { tokenProblem } from './token-problem.ts';

/** What to do: start, show the usage, or report what is wrong. */
export type StartOptions =
  | { readonly type: 'start'; readonly port: number; readonly token: string; readonly extension: string | undefined }
  | { readonly type: 'help'; readonly text: string }
  | { readonly type: 'wrong'; readonly text: string };

const help = `npm start: the playground, and the endpoint beside it, on this machine alone

  npm start                        opens both; press h for lines to copy, q to stop
  npm start -- --port=8790         the endpoint at another port (8787)
  npm start -- --help              prints this

Environment:

  PINNACE_PORT       the port of the endpoint
  PINNACE_TOKEN      the token that the endpoint takes (16 characters or more); a random one when absent
  PINNACE_PRIVATE_ORIGINS
                     model servers on private networks that the endpoint may ask, apart by commas, such as
                     http://127.0.0.1:11434; "loopback" stands for every port of this machine
  PINNACE_EXTENSION  a module of tools that the endpoint loads besides, as a path from this folder
  CI                 where it is set, no browser is opened
`;

export function readStartOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): StartOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { help: { type: 'boolean', short: 'h' }, port: { type: 'string', short: 'p' } },
    });
    if (values.help) return { type: 'help', text: help };
    const given = values.port ?? env['PINNACE_PORT'] ?? '8787';
    const port = Number(given);
    if (!/^\d+$/.test(given) || port < 1 || port > 65_535) {
      return { type: 'wrong', text: `Cannot listen at port "${given}": a port is a number from 1 to 65535` };
    }
    const token = env['PINNACE_TOKEN'] ?? crypto.randomUUID();
    const problem = tokenProblem(token);
    if (problem !== undefined) return { type: 'wrong', text: problem };
    return { type: 'start', port, token, extension: env['PINNACE_EXTENSION'] };
  } catch (error) {
    const [why = ''] = error instanceof Error ? error.message.split('. ') : [];
    return { type: 'wrong', text: `${why}\n\n${help}` };
  }
}

/** Why the endpoint cannot listen there, if it cannot. */
export function portProblem(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: Error & { readonly code?: string }) => resolve(sayWhy(port, code)));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(undefined)));
  });
}

function sayWhy(port: number, code: string | undefined): string {
  const other = 'Choose another one: npm start -- --port=8790';
  if (code === 'EADDRINUSE') {
    return `Port ${port} is taken: is another Pinnace running? Stop what listens there, or choose another one: npm start -- --port=${
      port + 1
    }`;
  }
  if (code === 'EACCES') return `Port ${port} may not be used by you. ${other}`;
  return `Port ${port} cannot be used (${code ?? 'unknown reason'}). ${other}`;
}

/** What the key `h` prints: the addresses, and lines that ask the endpoint. */
export function helpText({ playground, endpoint, port, token }: {
  readonly playground: string;
  readonly endpoint: string;
  readonly port: number;
  readonly token: string;
}): string {
  const authorization = `-H 'authorization: Bearer ${token}'`;
  const body = JSON.stringify({
    agentId: 'navigator',
    chat: { id: 'c1', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'What is 6 * 7?' }] }] },
  });
  const files = JSON.stringify({
    files: [{ name: 'ship.md', text: '# The ship\n\nThe spare key hangs behind the chart table.' }],
  });
  const mcpClient = {
    mcpServers: { pinnace: { type: 'http', url: `${endpoint}/mcp`, headers: { Authorization: `Bearer ${token}` } } },
  };
  return `
  Playground  ${playground}
  Endpoint    ${endpoint}
  Token       ${token}

  Ask the endpoint with a signed request, or with the token:

  ${port === 8787 ? '' : `PINNACE_PORT=${port} `}npm run ask -- "What is 6 * 7?"

  curl -N ${endpoint}/v1/runs ${authorization} \\
    -H 'content-type: application/json' -H 'idempotency-key: "${crypto.randomUUID()}"' \\
    -d '${body}'

  curl '${endpoint}/v1/agents?tags=sample' ${authorization}

  Add to what the agent “almanac” knows, and ask it:

  curl ${endpoint}/v1/data-sources/knowledge/ingest ${authorization} \\
    -H 'content-type: application/json' -d '${files}'

  curl ${endpoint}/v1/grounding/knowledge/retrieve ${authorization} \\
    -H 'content-type: application/json' -d '{"query": "Where is the spare key?"}'

  Watch what happens, and ask who did what:

  curl -N '${endpoint}/v1/events' ${authorization}

  curl '${endpoint}/v1/audit?limit=20' ${authorization}

  Give its tools to any MCP client:

  ${JSON.stringify(mcpClient)}

  In the playground, select the model's badge, then “A Pinnace server”.
`;
}
