import { describe, expect, it } from 'vitest';
import { layoutPlan, type PlacedTask, type PlanGraph } from '../../../../demo/plan/state/plan-graph.ts';
import { planTask } from '../../../fixtures/page/plan-view.ts';

const placeOf = (graph: PlanGraph, address: string): PlacedTask => {
  const found = graph.tasks.find(({ node }) => node.task.address === address);
  if (!found) throw new Error(`There is no ${address}`);
  return found;
};

const ways = (graph: PlanGraph): string[] => graph.edges.map(({ kind, from, to }) => `${kind} ${from} ${to}`);

const names = ['1', '1-1', '1-2', '1-2-1', '1-2-2', '1-3', '1-10'];
const tasks = names.map((name) => planTask(name, name === '1-3' ? { after: ['1-1', '1-2-2'] } : {}));

describe('layoutPlan', () => {
  it('puts the same tasks in the same places, in whatever order they come', () => {
    expect(layoutPlan(tasks.toReversed())).toEqual(layoutPlan(tasks));
  });

  it('packs many that lead nowhere into one box with one way to it, and leaves the others outside', () => {
    const flat = Array.from({ length: 199 }, (_, i) => planTask(`1-${i + 1}`, i === 198 ? { after: ['1-1'] } : {}));
    const graph = layoutPlan([planTask('1'), ...flat]);
    expect(graph.tasks.length).toBe(200);
    expect(graph.packs).toMatchObject([{ parent: '1', tasks: { length: 197 } }]);
    expect(placeOf(graph, '1-1').isTile).toBe(false);
    expect(placeOf(graph, '1-199').isTile).toBe(false);
    expect(graph.edges.length).toBe(4);
    expect(graph.height).toBeLessThan(100);
  });

  it('accepts tasks with hidden parents, unknown dependencies, and cycles', () => {
    const odd = [
      planTask('1-7-3'),
      planTask('1-8', { after: ['1-9', '1-8'] }),
      planTask('1-9', { after: ['1-8', '5'] }),
    ];
    const graph = layoutPlan(odd);
    expect(graph.tasks.length).toBe(3);
    expect(ways(graph)).toEqual(['after 1-9 1-8', 'after 1-8 1-9']);
    expect(layoutPlan([])).toMatchObject({ tasks: [], packs: [], edges: [] });
  });
});
