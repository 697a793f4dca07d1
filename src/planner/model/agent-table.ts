/**
 * The agents of a plan in the order of creation, found by their addresses without an index: an address is the path of numbers from
 * the first agent. Agents that a snapshot has ended are made when they are read.
 */

/** What the table needs of an agent. */
interface Placed {
  /** The places of its children in the order of creation. */
  readonly children: readonly number[];
}

/** The agents of one plan. */
export interface AgentTable<Agent extends Placed> {
  readonly size: number;
  /** Adds the next one. `undefined`: it has ended, and is made when it is read. */
  add(agent: Agent | undefined): void;
  /** The agent at this address. */
  get(address: string): Agent | undefined;
  /** The agent at this place in the order of creation. */
  at(order: number): Agent;
  childrenOf(agent: Agent): readonly Agent[];
  /** All agents; makes each. */
  values(): readonly Agent[];
  /** Those that are made; every other has ended. */
  made(): readonly Agent[];
}

/** Creates a table without agents. `make` makes an agent that was added without one, and does not keep it. */
export function createAgentTable<Agent extends Placed>(make?: (order: number) => Agent): AgentTable<Agent> {
  const agents: (Agent | undefined)[] = [];
  const at = (order: number): Agent => agents[order] ??= (make as NonNullable<typeof make>)(order); // one was added without an agent
  const above = { children: [] as number[] }; // the first agent is its child
  let last: Agent | undefined;
  let lastAddress = '';
  const get = (address: string): Agent | undefined => {
    if (address === lastAddress) return last; // several readers of an event need the same
    let found: Placed = above;
    for (let from = 0; from <= address.length;) {
      const dash = address.indexOf('-', from);
      const end = dash < 0 ? address.length : dash;
      const order = found.children[numberIn(address, from, end) - 1];
      if (order === undefined) return undefined;
      found = at(order);
      from = end + 1;
    }
    lastAddress = address;
    return last = found as Agent; // an address has a number
  };
  return {
    get size() {
      return agents.length;
    },
    add(agent) {
      above.children[0] = 0;
      agents.push(agent);
    },
    get,
    at,
    childrenOf: ({ children }) => children.map(at),
    values: () => agents.map((_, order) => at(order)),
    made: () => agents.filter((agent) => agent !== undefined),
  };
}

/** The number between these places of an address; 0 when it is no number, or has a zero in front. */
export function numberIn(address: string, from: number, end: number): number {
  let number = 0;
  for (let i = from; i < end; i++) {
    const digit = address.charCodeAt(i) - 48;
    if (digit < (number === 0 ? 1 : 0) || digit > 9) return 0;
    number = number * 10 + digit;
  }
  return number;
}
