/** A plan as a graph: positions and dependencies. The same tasks always have the same positions. */

import type { PlanTask } from './plan-data.ts';
import { type TaskNode, treeOf } from './plan-data.ts';

export interface PlacedTask extends Box {
  readonly node: TaskNode;
  /** Whether it is one of many in a pack, and small. */
  readonly isTile: boolean;
}

/** Many tasks that one has given out side by side, put into one box. */
export interface Pack extends Box {
  /** The address of the task that has given them out. */
  readonly parent: string;
  readonly tasks: readonly TaskNode[];
}

/** What leads from one task to another: it has given it out, or it comes before it. */
export interface GraphEdge {
  readonly kind: 'parent' | 'after';
  readonly from: string;
  /** The address of a task; where it leads to a pack, of the pack's first. */
  readonly to: string;
  /** The way, as an SVG path in rem. */
  readonly path: string;
}

export interface PlanGraph {
  /** By their addresses. */
  readonly tasks: readonly PlacedTask[];
  readonly packs: readonly Pack[];
  readonly edges: readonly GraphEdge[];
  readonly width: number;
  readonly height: number;
}

/** In rem, as the sizes in `plan-graph.css`. */
const size = { width: 12.5, height: 4.25, gapX: 2.25, gapY: 0.625, margin: 0.75 };
const tile = { width: 4.25, height: 1.75, gap: 0.375, columns: 6 };
/** So many side by side are still read one by one. */
const mostSingle = 12;

/**
 * Lays the tasks out: each to the right of its parent and of the tasks that it waits for, and below earlier siblings. Each task
 * has its own row, which only its first subtask shares, so no edge to a subtask crosses another task. An added task moves only
 * those below it.
 */
export function layoutPlan(tasks: readonly PlanTask[]): PlanGraph {
  const sorted = tasks.toSorted((a, b) => byNumbers.compare(a.address, b.address));
  const { placed, packs } = place(sorted);
  const boxes: readonly Box[] = [...placed.values(), ...packs];
  return {
    tasks: sorted.flatMap(({ address }) => placed.get(address) ?? []),
    packs,
    edges: [...waysToPacks(packs, placed), ...sorted.flatMap((task) => waysTo(task, placed))],
    width: Math.max(0, ...boxes.map(({ x, width }) => x + width)) + size.margin,
    height: Math.max(0, ...boxes.map(({ y, height }) => y + height)) + size.margin,
  };
}

/** Returns the address of the parent task; empty for the first task. */
export function parentOf(address: string): string {
  return address.slice(0, Math.max(0, address.lastIndexOf('-')));
}

/** `1-2` before `1-10`, and each before its parts. */
const byNumbers = new Intl.Collator('en', { numeric: true });

type Placed = ReadonlyMap<string, PlacedTask>;

function place(tasks: readonly PlanTask[]): { readonly placed: Placed; readonly packs: readonly Pack[] } {
  const layerOf = layersOf(tasks);
  const awaited = new Set(tasks.flatMap(({ after }) => after));
  const placed = new Map<string, PlacedTask>();
  const packs: Pack[] = [];
  let y = size.margin;
  const put = (node: TaskNode): void => {
    const { task: { address }, children } = node;
    const box = { x: xOf(layerOf(address)), y, width: size.width, height: size.height };
    placed.set(address, { node, isTile: false, ...box });
    const many = loose(children, awaited);
    for (const child of children) if (!many.includes(child)) put(child);
    if (many.length > 0) {
      const pack = packOf(address, many, { x: xOf(layerOf(address) + 1), y });
      packs.push(pack);
      for (const placedTile of tilesOf(pack)) placed.set(placedTile.node.task.address, placedTile);
      y += pack.height + size.gapY;
    } else if (children.length === 0) y += size.height + size.gapY;
  };
  for (const node of treeOf(tasks)) put(node);
  return { placed, packs };
}

/** The column of a task: one more than its dependencies. Cycles are cut where they are met. */
function layersOf(tasks: readonly PlanTask[]): (address: string) => number {
  const byId = new Map(tasks.map((task) => [task.address, task]));
  const known = new Map<string, number>();
  const layerOf = (address: string): number => {
    const task = byId.get(address);
    if (!task) return -1;
    const layer = known.get(address);
    if (layer !== undefined) return layer;
    known.set(address, 0);
    const found = 1 + Math.max(layerOf(parentOf(address)), ...task.after.map(layerOf));
    known.set(address, found);
    return found;
  };
  return layerOf;
}

function xOf(layer: number): number {
  return size.margin + layer * (size.width + size.gapX);
}

/** Those that lead nowhere and wait for nothing, where they are many. */
function loose(children: readonly TaskNode[], awaited: ReadonlySet<string>): readonly TaskNode[] {
  const found = children.filter(({ task: { address, after }, children: parts }) =>
    parts.length === 0 && after.length === 0 && !awaited.has(address)
  );
  return found.length > mostSingle ? found : [];
}

function packOf(parent: string, tasks: readonly TaskNode[], { x, y }: Pick<Box, 'x' | 'y'>): Pack {
  const rows = Math.ceil(tasks.length / tile.columns);
  const width = tile.columns * (tile.width + tile.gap) + tile.gap;
  return { parent, tasks, x, y, width, height: rows * (tile.height + tile.gap) + tile.gap };
}

function tilesOf({ tasks, x, y }: Pack): readonly PlacedTask[] {
  return tasks.map((node, i) => ({
    node,
    isTile: true,
    x: x + tile.gap + (i % tile.columns) * (tile.width + tile.gap),
    y: y + tile.gap + Math.floor(i / tile.columns) * (tile.height + tile.gap),
    width: tile.width,
    height: tile.height,
  }));
}

function waysToPacks(packs: readonly Pack[], placed: Placed): readonly GraphEdge[] {
  return packs.flatMap(({ parent: from, tasks: [first], ...box }) => {
    const start = placed.get(from);
    return start && first ? [{ kind: 'parent', from, to: first.task.address, path: elbow(start, box, size) }] : [];
  });
}

function waysTo({ address, after }: PlanTask, placed: Placed): readonly GraphEdge[] {
  const end = placed.get(address);
  if (!end) return [];
  const parent = parentOf(address);
  const from = end.isTile ? undefined : placed.get(parent);
  return [
    ...(from ? [{ kind: 'parent' as const, from: parent, to: address, path: elbow(from, end, size) }] : []),
    ...after.flatMap((before): GraphEdge[] => {
      const start = placed.get(before);
      return start && start !== end ? [{ kind: 'after', from: before, to: address, path: curve(start, end) }] : [];
    }),
  ];
}

/** A position in rem from the upper left. */
interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Right, down between the columns, and right again. */
function elbow(
  from: Box,
  to: Box,
  { height, gapX }: { readonly height: number; readonly gapX: number },
): string {
  const [x, y] = [from.x + from.width, from.y + height / 2];
  const end = to.y + height / 2;
  if (y === end) return `M${x} ${y}H${to.x}`;
  const middle = x + gapX / 3;
  const round = 0.5;
  return `M${x} ${y}H${middle - round}Q${middle} ${y} ${middle} ${y + round}` +
    `V${end - round}Q${middle} ${end} ${middle + round} ${end}H${to.x}`;
}

/** From the middle of one to the middle of the other. */
function curve(from: Box, to: Box): string {
  const [x, y] = [from.x + from.width, from.y + from.height / 2];
  const end = to.y + to.height / 2;
  const bend = Math.max(1, (to.x - x) / 2);
  return `M${x} ${y}C${x + bend} ${y} ${to.x - bend} ${end} ${to.x} ${end}`;
}
