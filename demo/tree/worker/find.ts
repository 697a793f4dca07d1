/** Finds nodes for the panel: by a text anywhere in the tree, or by the first letters among the visible rows. */

import type { TreeTools } from '../../../src/index.ts';
import type { TreeView } from '../../../src/tree/index.ts';
import { nextTask } from '../../kit/next-task.ts';
import type { FoundNode, FoundPage } from '../../control/tree-control.ts';

/** Searches one text after the other. */
export interface Finder {
  search(text: string, limit: number): Promise<FoundPage>;
}

interface Hits {
  readonly hits: readonly {
    readonly nodeId: string;
    readonly label: string;
    readonly breadcrumb: readonly { readonly label: string }[];
  }[];
  readonly scanned: number;
  readonly pageToken?: string;
}

/** Creates a finder. It pauses between pages, so that rows can be read meanwhile. */
export function createFinder(tools: TreeTools, rootNodeId: string): Finder {
  let latest = 0;
  return {
    async search(text, limit) {
      const turn = ++latest;
      const filters = [{ path: 'name', op: 'contains', value: text }];
      const found: FoundNode[] = [];
      let [scanned, tookMs] = [0, 0];
      let pageToken: string | undefined;
      do {
        const from = performance.now();
        const input = {
          rootNodeId,
          filters,
          limit: limit - found.length,
          ...(pageToken !== undefined && { pageToken }),
        };
        const outcome = await tools.call('search', input);
        tookMs += performance.now() - from;
        if (!outcome.ok) break;
        const page = outcome.output as unknown as Hits; // safe: the output of `search`
        found.push(...page.hits.map(toFound));
        scanned += page.scanned;
        pageToken = page.pageToken;
        await nextTask(); // answers messages that arrived meanwhile
      } while (pageToken !== undefined && found.length < limit && turn === latest);
      return { found: turn === latest ? found : [], scanned, tookMs, hasMore: pageToken !== undefined };
    },
  };
}

function toFound({ nodeId, label, breadcrumb }: Hits['hits'][number]): FoundNode {
  return { nodeId, name: label, path: breadcrumb.map((crumb) => crumb.label) };
}

/** Rows read at once. */
const chunk = 500;
/** The most rows that typing ahead reads; a search finds the rest. */
const maxSearched = 20_000;

/** The rank of the next row after `rank` whose name has this prefix, wrapping at the end; -1: none. */
export function rankByPrefix(view: TreeView, prefix: string, rank: number): number {
  const wanted = prefix.toLowerCase();
  const count = view.rowCount();
  const most = Math.min(count, maxSearched);
  for (let searched = 0; searched < most; searched += chunk) {
    const offset = (rank + 1 + searched) % count;
    const limit = Math.min(chunk, count - offset, most - searched);
    const at = view.rows({ offset, limit }).findIndex(({ payload }) =>
      String(payload['name']).toLowerCase().startsWith(wanted)
    );
    if (at >= 0) return offset + at;
    searched -= chunk - limit;
  }
  return -1;
}
