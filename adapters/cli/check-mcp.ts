/** `pinnace mcp`: looks at what an MCP server offers, with the checks of the runtime. */

import { localPrincipal } from '../../src/base/principal.ts';
import type { Egress } from '../../src/contracts/egress.ts';
import type { McpValidation } from '../../src/contracts/mcp/mcp-validation.ts';
import { createRuntime } from '../../src/create-runtime.ts';
import { staticCatalog } from '../catalog/static.ts';
import { denoEgress } from '../egress/deno.ts';
import { mcpConnector } from '../mcp/client.ts';
import { rehearsal } from '../models/rehearsal.ts';
import { memorySecrets } from '../secrets/memory.ts';
import { memoryStorage } from '../storage/memory.ts';
import { addressOf, type Command, optionOf, requirePrivacy, type Terminal, UsageError } from './command.ts';

export const mcp: Command = {
  summary: 'Check the tools of an MCP server',
  usage: `pinnace mcp URL [--token-env NAME] [--insecure-http] [--private] [--json]

  URL               the address for Streamable HTTP
  --token-env NAME  the variable with the server's bearer token
  --insecure-http   send the token over http:// to another machine, where everyone on the way can read it
  --private         allow a server in a private network or on this machine
  --json            print the whole result

Needs @modelcontextprotocol/client, or @modelcontextprotocol/sdk for servers up to 2025-11-25. Connects, lists the tools and
calls none. The exit code is 1 when a finding is an error.`,
  options: {
    'token-env': { type: 'string' },
    'insecure-http': { type: 'boolean' },
    'private': { type: 'boolean' },
    'json': { type: 'boolean' },
  },
  args: [1, 1],
  async run(given, terminal) {
    const url = addressOf(given.args[0] ?? '');
    const name = optionOf(given, 'token-env');
    const token = name === undefined ? undefined : terminal.env[name];
    if (name !== undefined && !token) throw new UsageError(`The variable ${name} is not set`);
    if (token !== undefined) requirePrivacy(given, url);
    const look = { url, token, isPrivate: given.options['private'] === true, signal: terminal.signal };
    const result = await check(look);
    if (given.options['json'] === true) terminal.out(`${JSON.stringify(result, null, 2)}\n`);
    else show(result, terminal);
    return result.findings.some(({ severity }) => severity === 'error') ? 1 : 0;
  },
};

interface Look {
  readonly url: URL;
  readonly token: string | undefined;
  readonly isPrivate: boolean;
  readonly signal: AbortSignal;
}

async function check({ url, token, isPrivate, signal }: Look): Promise<McpValidation> {
  const guarded = denoEgress();
  const privateOrigins = isPrivate ? [url.origin] : [];
  const egress: Egress = { fetch: (request, options) => guarded.fetch(request, { ...options, privateOrigins }) };
  const secret = { id: 'server' };
  const server = { id: 'server', alias: 'server', url: url.href, ...(token !== undefined && { secret }) };
  const secrets = token === undefined ? {} : { server: { value: token, origins: [url.origin] } };
  const runtime = createRuntime({
    catalog: staticCatalog({ agents: [], providers: [], mcpServers: [server] }),
    models: { model: () => rehearsal() },
    storage: memoryStorage(),
    secrets: memorySecrets(secrets),
    mcp: mcpConnector({ egress }),
  });
  try {
    return await runtime.validateMcpServer('server', {}, localPrincipal(), { signal });
  } finally {
    await runtime.close();
  }
}

/** What the server says is untrusted: control and format characters are not printed. */
function show({ serverInfo, protocolVersion, tools, findings, digest }: McpValidation, { out }: Terminal): void {
  out(`${plain(serverInfo.name)} ${plain(serverInfo.version)}, protocol ${plain(protocolVersion)}\n`);
  out(`${tools.length} tools, digest ${digest}\n`);
  for (const { name, included, exposedAs } of tools) {
    out(`  ${included ? ' ' : '-'} ${plain(name)}${exposedAs === undefined ? '' : ` as ${plain(exposedAs)}`}\n`);
  }
  for (const { severity, rule, message, tool } of findings) {
    out(`${severity}: ${rule}${tool === undefined ? '' : ` (${plain(tool)})`}: ${plain(message)}\n`);
  }
}

function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?');
}
