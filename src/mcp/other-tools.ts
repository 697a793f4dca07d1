/** The names of the tools of other servers, which a new tool must not imitate. */

import type { McpServer } from '../base/schema.ts';
import type { Catalog } from '../contracts/catalog.ts';
import { catalogOf } from './records.ts';

/** The tools of other servers that agents may use together with this one, where the catalog can list them. */
export async function namesElsewhere(
  server: McpServer,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const own = server.tenant === undefined ? undefined : catalogOf(catalog, server.tenant);
  const catalogs = own ? [catalog, own] : [catalog];
  const names = await Promise.all(catalogs.map((from) => namesIn(from, server, signal)));
  return names.flat();
}

async function namesIn(catalog: Catalog, { id }: McpServer, signal: AbortSignal): Promise<readonly string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const query = { limit: pageSize, ...(after !== undefined && { after }) };
    const page: readonly McpServer[] = await catalog.listMcpServers?.(query, signal) ?? [];
    names.push(...page.filter((server) => server.id !== id).flatMap(pinnedNames));
    after = page.length === pageSize ? page.at(-1)?.id : undefined;
  } while (after !== undefined);
  return names;
}

/** Records are large. */
const pageSize = 50;

function pinnedNames({ alias, pinned }: McpServer): readonly string[] {
  return (pinned?.tools ?? []).flatMap(({ definition: { name } }) => [name, `${alias}__${name}`]);
}
