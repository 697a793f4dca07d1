/** What a document from elsewhere would import, with its approvals and permissions removed. */

import { PinnaceError } from '../../../src/index.ts';
import type { RecordKind } from '../../../src/registry/index.ts';
import { readItems } from '../../../src/registry/catalog-document.ts';
import { HttpToolConfig, secretNames } from '../../../src/tools/http-config.ts';
import type { AgentDocument } from '../../control/trial-control.ts';
import { readAs } from '../../chat/state/run-data.ts';
import type { AgentReview, NamedHost } from '../../control/trial-control.ts';

const mostRecords = 50;
/** Secrets that are the page's own: the key of the model that a person has connected. */
const own: ReadonlySet<string> = new Set(['endpoint-key']);

/**
 * Returns the review.
 *
 * @throws PinnaceError `invalid_argument` for what is no such document; also for one that holds too much, no agent, or
 * reaches for what is not its own.
 */
export function reviewOf(data: unknown): AgentReview {
  const items = readItems(data);
  const given = data as AgentDocument; // as just read
  if (items.length > mostRecords) throw refused(`it holds more than ${mostRecords} records`);
  const tamed: string[] = [];
  const parts = { tools: records('tool'), mcpServers: records('mcpServer'), agents: records('agent') };
  function records(kind: RecordKind): readonly unknown[] {
    return items.filter((item) => item.kind === kind).map(({ record }) => tame(record, tamed));
  }
  if (parts.agents.length === 0) throw refused('it contains no agent');
  const document = {
    format: given.format,
    formatVersion: given.formatVersion,
    providers: records('provider'),
    dataSources: records('dataSource'),
    ...parts,
  } as AgentDocument; // safe: each was read as its kind
  const hosts = hostsOf(document);
  const secrets = secretsOf(document);
  if (secrets.some((name) => own.has(name))) throw refused('it uses your model’s key');
  return { document, agents: document.agents, tools: document.tools, hosts, secrets, tamed };
}

function refused(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot import the document: ${why}`);
}

/** Side effects require approval, and approvals from elsewhere do not count. */
function tame(record: object, tamed: string[]): object {
  const { createdAt: _, updatedAt: __, revision: ___, ...rest } = record as Readonly<Record<string, unknown>>;
  if ('alias' in rest) {
    const { pinned, status: _status, findings: _findings, validatedAt: _at, ...server } = rest;
    if (pinned !== undefined) {
      tamed.push(`MCP server ${String(rest['id'])}: you review and approve its tools before agents can use them`);
    }
    return server;
  }
  const { config } = rest;
  if (rest['type'] !== 'http' || typeof config !== 'object' || config === null || !('autoApprove' in config)) {
    return rest;
  }
  const { autoApprove, ...strict } = config as { readonly autoApprove?: unknown };
  if (autoApprove === true) tamed.push(`HTTP tool ${String(rest['id'])}: asks you before it changes data`);
  return { ...rest, config: strict };
}

function hostsOf({ tools, mcpServers, providers }: AgentDocument): readonly NamedHost[] {
  const uses = [
    ...tools.flatMap(({ id, config }) => {
      const template = readAs(HttpToolConfig, config);
      return template
        ? [template.origin, ...template.redirectOrigins].map((origin, i) => ({
          origin,
          by: `HTTP tool ${id}`,
          secrets: i === 0 ? secretNames(template) : [],
        }))
        : [];
    }),
    ...mcpServers.map(({ id, url, secret }) => ({
      origin: originOf(url),
      by: `MCP server ${id}`,
      secrets: secret ? [secret.id] : [],
    })),
    ...providers.flatMap(({ id, baseUrl, secret }) =>
      baseUrl === undefined
        ? []
        : [{ origin: originOf(baseUrl), by: `model ${id}`, secrets: secret ? [secret.id] : [] }]
    ),
  ];
  return [...Map.groupBy(uses, ({ origin }) => origin)].map(([origin, all]) => ({
    origin,
    by: [...new Set(all.map(({ by }) => by))],
    secrets: [...new Set(all.flatMap(({ secrets }) => secrets))],
  }));
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

function secretsOf(document: AgentDocument): readonly string[] {
  const { tools, agents, mcpServers, providers, dataSources } = document;
  const listed = [...tools, ...agents].flatMap(({ secrets }) => secrets ?? []);
  const single = [...mcpServers, ...providers, ...dataSources].flatMap(({ secret }) => secret ?? []);
  const used = tools.flatMap(({ config }) => {
    const template = readAs(HttpToolConfig, config);
    return template ? secretNames(template) : [];
  });
  return [...new Set([...[...listed, ...single].map(({ id }) => id), ...used])].toSorted();
}
