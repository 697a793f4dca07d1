/** Data sources as resources of an MCP server: their facts, and queries. */

import type { Grounding } from '../../../../src/grounding/create-grounding.ts';
import { listedPart } from './page.ts';
import type { McpReader } from './reader.ts';
import type { McpResource, McpResources } from './resource.ts';
import { compileTemplate } from './template.ts';

/** The template of queries. */
const query = 'pinnace://source/{source}?q={query}';
const source = 'pinnace://source/{source}';
const topK = 10;

/**
 * Returns the data sources that the caller may query: `pinnace://source/<id>` has the facts of one, and
 * `pinnace://source/<id>?q=<query>` the 10 best hits of a query. Rights, tenants and events are those of `grounding.retrieve`.
 *
 * @example
 * createHandler(runtime, { authenticator, mcp: { tools, storage, resources: [groundingResources(grounding)] } });
 */
export function groundingResources(grounding: Grounding): McpResources {
  const [matchQuery, matchSource] = [compileTemplate(query), compileTemplate(source)];
  const readable = ({ principal, signal, span }: McpReader) => grounding.readable({ principal, signal, span });
  const find = async (id: string, reader: McpReader) => (await readable(reader)).find((one) => one.id === id);
  const description = 'The best hits of a query to a data source';
  return {
    templates: [{ uriTemplate: query, name: 'Query of a data source', description, mimeType: 'text/plain' }],
    async list(reader, page) {
      const all = (await readable(reader)).map(({ id }) => toResource(id, grounding.descriptions[id]));
      return await listedPart(all)(page);
    },
    async read(uri, reader) {
      const { principal, signal, span } = reader;
      const asked = matchQuery(uri);
      if (asked) {
        const { source: id = '', query: text = '' } = asked;
        if (!await find(id, reader)) return undefined;
        const request = { dataSourceId: id, query: text, topK };
        const { hits } = await grounding.retrieve(request, { principal, signal, span });
        const none = { mimeType: 'text/plain', text: 'No hits' };
        const contents = hits.map(({ content, title, source: { uri: origin } }) => {
          return {
            uri: origin,
            mimeType: 'text/plain',
            text: title === undefined ? content : `${title}\n\n${content}`,
          };
        });
        return contents.length === 0 ? [none] : contents;
      }
      const found = await find(matchSource(uri)?.['source'] ?? '', reader);
      if (!found) return undefined;
      const { items, version } = await found.stats(principal.tenant, signal);
      const facts = { id: found.id, kind: found.kind, description: grounding.descriptions[found.id], items, version };
      return [{ mimeType: 'application/json', text: JSON.stringify(facts) }];
    },
    async complete(_, { argument, value }, reader) {
      if (argument !== 'source') return [];
      return (await readable(reader)).map(({ id }) => id).filter((id) => id.startsWith(value));
    },
  };
}

function toResource(id: string, description: string | undefined): McpResource {
  const uri = `pinnace://source/${encodeURIComponent(id)}`;
  return { uri, name: id, mimeType: 'application/json', ...(description !== undefined && { description }) };
}
