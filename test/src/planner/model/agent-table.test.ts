import { describe, expect, it } from 'vitest';
import { createAgentTable } from '../../../../src/planner/model/agent-table.ts';

interface Agent {
  readonly id: string;
  readonly children: number[];
}

function agent(id: string, ...children: number[]): Agent {
  return { id, children };
}

function table() {
  const agents = createAgentTable<Agent>();
  for (const one of [agent('1', 1, 2), agent('1-1', 3), agent('1-2'), agent('1-1-1')]) agents.add(one);
  return agents;
}

describe('createAgentTable', () => {
  it('finds agents by their addresses', () => {
    const agents = table();
    expect(['1', '1-1', '1-2', '1-1-1'].map((id) => agents.get(id)?.id)).toEqual(['1', '1-1', '1-2', '1-1-1']);
  });

  it('finds nothing at what is no address, or that of no agent', () => {
    const agents = table();
    const wrong = [
      '',
      '-',
      '0',
      '2',
      '01',
      '1-',
      '-1',
      '1-0',
      '1-01',
      '1-3',
      '1--1',
      '1-1-2',
      '1-1x',
      '1-1 ',
      '11',
      'a',
    ];
    expect(wrong.filter((id) => agents.get(id))).toEqual([]);
    expect(createAgentTable<Agent>().get('1')).toBeUndefined();
  });

  it('makes an agent that was added without one when it is read, once', () => {
    const made: number[] = [];
    const agents = createAgentTable<Agent>((order) => {
      made.push(order);
      return agent(`1-${order}`);
    });
    agents.add(agent('1', 1, 2));
    agents.add(undefined);
    agents.add(undefined);
    expect(agents.made()).toHaveLength(1);
    expect(agents.get('1-2')).toBe(agents.at(2));
    expect(made).toEqual([2]);
    expect(agents.values().map(({ id }) => id)).toEqual(['1', '1-1', '1-2']);
    expect(made).toEqual([2, 1]);
  });
});
