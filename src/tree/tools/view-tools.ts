/** The tools that change what an agent sees: expand, collapse, toggle, and the same for all below a node. */

import { viewOfNode } from './call/conflict-scope.ts';
import { cursorOf, slotOf } from '../nodes/structure.ts';
import { touchView, viewOf } from './session.ts';
import { OneNode, OneRoot } from './tool-input.ts';
import { sets, type ToolSpec, toolSpec } from './tool-spec.ts';
import type { CallContext } from './caller.ts';
import type { Output } from './output.ts';

const notes = 'Changes only your own view.';

const expandNode = oneNode('expand_node', `Expands a node: its children become visible. ${notes}`, () => true);
const collapseNode = oneNode('collapse_node', `Collapses a node: what is below it is hidden. ${notes}`, () => false);
const toggleNode = {
  ...oneNode(
    'toggle_node',
    `Expands a collapsed node and collapses an expanded one. Two calls cancel out: send an idempotencyKey. ${notes}`,
    (isExpanded) => !isExpanded,
  ),
  annotations: { ...sets, idempotentHint: false },
};
const expandAll = allBelow('expand_all', `Expands a node and everything below it. ${notes}`, true);
const collapseAll = allBelow('collapse_all', `Collapses a node and everything below it. ${notes}`, false);

/** The tools that change an agent's view. */
export const viewTools: readonly ToolSpec[] = [expandNode, collapseNode, toggleNode, expandAll, collapseAll];

function oneNode(name: string, description: string, wanted: (isExpanded: boolean) => boolean): ToolSpec {
  return toolSpec({
    name,
    description,
    annotations: sets,
    kind: 'view',
    input: OneNode,
    targets: ({ nodeId }) => [nodeId],
    dependsOn: ({ nodeId }) => [viewOfNode(nodeId)],
    run({ core, session }, { nodeId }) {
      const cursor = cursorOf(core, slotOf(core, nodeId));
      const before = viewOf(session).isExpanded(cursor);
      const isExpanded = wanted(before);
      if (isExpanded === before) return { nodeId, isExpanded, changed: false };
      for (const view of [session.collapsed, session.expanded]) view.setExpanded(cursor, isExpanded);
      touchView(session, nodeId);
      return { nodeId, isExpanded, changed: true };
    },
  });
}

function allBelow(name: string, description: string, isExpanded: boolean): ToolSpec {
  return toolSpec({
    name,
    description,
    annotations: sets,
    kind: 'view',
    input: OneRoot,
    targets: ({ rootNodeId }) => [rootNodeId],
    dependsOn: ({ rootNodeId }) => [viewOfNode(rootNodeId)],
    run: (context, { rootNodeId }) => setAll(context, { rootNodeId, isExpanded }),
  });
}

function setAll(
  { core, session }: CallContext,
  { rootNodeId, isExpanded }: { rootNodeId: string; isExpanded: boolean },
): Output {
  const cursor = cursorOf(core, slotOf(core, rootNodeId));
  const changes = [session.collapsed, session.expanded].map((view) => view.setAll(cursor, isExpanded));
  const changed = changes.includes(true);
  if (changed) touchView(session, rootNodeId);
  return { rootNodeId, isExpanded, changed };
}
