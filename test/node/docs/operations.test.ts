/** `docs/operations.md` is made from the OpenAPI document on record: `npx vitest run -u` with this file writes it. */

import { expect, it } from 'vitest';
import text from '../../fixtures/openapi.txt?raw';

interface Operation {
  readonly summary: string;
  readonly security: readonly { readonly gcSession: readonly string[] }[];
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean }[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

/** The sections of the page: what their paths begin with, after `/v1/`. The first that fits. */
const sections: readonly (readonly [heading: string, guides: string, paths: RegExp])[] = [
  ['Runs', '[Runs](runs.md), [Approvals](approvals.md), [Steering](steering.md), [Forks](forks.md)', /^runs\b/],
  [
    'Agents as other clients call them',
    '[React](react.md#use-defaultchattransport), [AG-UI](ag-ui.md)',
    /^agents\/\{id\}\/(?:chat|agui)/,
  ],
  [
    'Chats, files and people',
    '[Chats](chats.md), [Attachments](attachments.md), [Memory](memory.md)',
    /^(?:chats|blobs|subjects)\b/,
  ],
  ['Plans', '[Plans](planner.md)', /^plans\b/],
  ['Grounding', '[Grounding](grounding.md)', /^grounding\b|\/ingest$/],
  [
    'MCP servers',
    '[MCP](mcp.md), [Sign-in](mcp-sign-in.md), [Resources and prompts](mcp-content.md), [Apps](mcp-apps.md)',
    /^mcp-sign-ins|^mcp-servers\/\{id\}\/(?:sign-in|grant|validate)|\/(?:prompts|resources|apps)\b/,
  ],
  ['Records', '[Registry](registry.md)', /^(?:agents|tools|mcp-servers|providers|data-sources|export|import)\b/],
  ['Operation', '[Endpoint](endpoint.md), [Observability](watching.md), [Budgets](budgets.md)', /./],
];
/** Five collections with the same operations: one row for all. */
const collection =
  /^\/v1\/(?:agents|tools|mcp-servers|providers|data-sources)(?=$|\/\{id\}(?:$|\/(?:disable|enable|history)$))/;

function rowOf(path: string, method: string, { summary, security, parameters = [], responses }: Operation) {
  const streams = Object.values(responses).some(({ content = {} }) => 'text/event-stream' in content);
  const headers = parameters.flatMap(({ name, required }) =>
    required === true && /^[A-Z]/.test(name) ? [`\`${name}\``] : []
  );
  const isOfRecords = collection.test(path);
  return {
    name: path.replace(/^\/v1\//, ''),
    cells: [
      `\`${method.toUpperCase()} ${path.replace(collection, '/v1/<records>').replaceAll(/\{(\w+)\}/g, ':$1')}\``,
      security.length === 0 ? 'everyone' : `\`${security[0]?.gcSession[0]}\``,
      [
        isOfRecords ? summary.replace(/: [^:]+$/, '') : summary.replaceAll(/(\w+:)?<\w+>|\*|@<\w+>/g, '`$&`'),
        ...headers.map((name) => `requires ${name}`),
        ...(streams ? ['event stream'] : []),
      ].join('; '),
    ],
  };
}

it('docs/operations.md has a row for every operation of the OpenAPI document', async () => {
  const { paths } = JSON.parse(text) as { // safe: the document of the test that records it
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => rowOf(path, method, operation))
  );
  const page = sections.map(([heading, guides, own], at) => {
    const mine = rows.filter(({ name }) => sections.findIndex(([, , other]) => other.test(name)) === at);
    expect(mine.length, `${heading} ${own}`).toBeGreaterThan(0);
    const lines = new Set(mine.map(({ cells }) => `| ${cells.join(' | ')} |`));
    return `## ${heading}\n\n${guides}\n\n| operation | scope | what it does |\n| --- | --- | --- |\n${
      [...lines].join('\n')
    }\n`;
  });
  const intro = `# Operations

All operations of an [endpoint](endpoint.md), as \`GET /v1/openapi.json\` describes them with schemas and problems. Names
with a colon are parts of the path. \`<records>\` is \`agents\`, \`tools\`, \`mcp-servers\`, \`providers\` or \`data-sources\`. MCP
clients use \`/mcp\` ([MCP server](mcp-server.md)).
`;
  await expect(formatted([intro, ...page].join('\n'))).toMatchFileSnapshot('../../../docs/operations.md');
});

/** Cells of a column have one width, as the formatter of the project wants it; lines of text are cut at 120 characters. */
function formatted(markdown: string): string {
  return markdown.replaceAll(/(?:^\|.*\|\n)+/gm, (table) => {
    const rows = table.trimEnd().split('\n').map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
    const widths = [0, 1, 2].map((column) =>
      Math.max(...rows.map((row) => /^-+$/.test(row[column] ?? '') ? 3 : row[column]?.length ?? 0))
    );
    return rows.map((row) =>
      `| ${
        row.map((cell, column) =>
          /^-+$/.test(cell) ? '-'.repeat(widths[column] ?? 3) : cell.padEnd(widths[column] ?? 0)
        ).join(' | ')
      } |\n`
    ).join('');
  });
}
