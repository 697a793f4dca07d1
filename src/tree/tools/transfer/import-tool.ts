/** `import_view`: brings a view back, or its content. */

import { loadOnce } from '../../../base/load-once.ts';
import { ImportView } from '../tool-input.ts';
import { type DeferredSpec, destroys } from '../tool-spec.ts';

/** The tool that imports. */
export const importTool: DeferredSpec = {
  name: 'import_view',
  description:
    'Reads what export_view gave. "byNodeId" (default) restores which nodes are expanded and the property filters of your view, ' +
    'and changes no content. "replaceSubtree" makes the root\'s payload and everything below it what the document holds. ' +
    '"dryRun": true only reports.',
  annotations: destroys,
  kind: 'tree',
  input: ImportView,
  targets: () => [],
  isLong: true,
  load: /* @__PURE__ */ loadOnce(async () => (await import('./import-view.ts')).importView),
};
