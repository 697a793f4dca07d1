/** What a person changes by hand, in the words of the tree's tools. */

import type { TreePanel } from '../state/tree-panel.ts';
import type { PanelRow } from '../../control/tree-control.ts';

export function rename(panel: TreePanel, { nodeId }: PanelRow): void {
  panel.write(nodeId);
}

export async function setName(panel: TreePanel, { nodeId, name }: PanelRow, written: string): Promise<void> {
  const versionToken = panel.writing.value?.versionToken;
  panel.write(undefined);
  const newValue = written.trim();
  if (newValue === '' || newValue === name) return;
  await panel.change('update_payload_property', { nodeId, propertyName: 'name', newValue, versionToken });
}

/** Adds a node below this one, of its children's kind, and edits its name. */
export async function add(panel: TreePanel, row: PanelRow): Promise<void> {
  const payloadType = childTypeOf(panel, row);
  const payloadProps = { name: `New ${payloadType}` };
  const nodeId = await panel.change('add_child', { parentNodeId: row.nodeId, payloadType, payloadProps });
  if (nodeId !== undefined) panel.write(nodeId);
}

const usualChild: Readonly<Record<string, string>> = { area: 'task', job: 'area' };

function childTypeOf(panel: TreePanel, { nodeId, payloadType }: PanelRow): string {
  const child = panel.window.value.rows.find(({ parentId }) => parentId === nodeId);
  return child?.payloadType ?? usualChild[payloadType] ?? 'task';
}

/** Says that a task is done, or is not. */
export async function toggleDone(panel: TreePanel, { nodeId, payloadType, state }: PanelRow): Promise<void> {
  if (payloadType !== 'task') return;
  await panel.change('update_payload_property', { nodeId, propertyName: 'done', newValue: state !== 'done' });
}

export async function moveBy(panel: TreePanel, { nodeId, parentId, position, siblings }: PanelRow, by: 1 | -1) {
  const index = position + by;
  if (parentId === null || index < 0 || index >= siblings) return;
  await panel.change('move_node', { nodeId, newParentId: parentId, index });
}

/** Puts what was cut below this node. */
export async function paste(panel: TreePanel, { nodeId: newParentId }: PanelRow): Promise<void> {
  const cut = panel.cut.value;
  if (!cut) return;
  panel.cut.value = undefined;
  await panel.change('move_node', { nodeId: cut.nodeId, newParentId });
}

/** Where something is dropped: before or after a row, or into it. */
export type DropPlace = 'before' | 'into' | 'after';

/** Puts a node where it was dropped. */
export async function drop(panel: TreePanel, nodeId: string, { row, place }: { row: PanelRow; place: DropPlace }) {
  if (nodeId === row.nodeId) return;
  const target = place === 'into' || row.parentId === null
    ? { newParentId: row.nodeId }
    : { newParentId: row.parentId, [place]: row.nodeId };
  await panel.change('move_node', { nodeId, ...target });
}
