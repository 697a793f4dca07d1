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
  has(address: string): boolean;
  /** The agent at this place in the order of creation. @throws RangeError when there is none. */
  at(order: number): Agent;
  childrenOf(agent: Agent): readonly Agent[];
  /** All agents; makes each. */
  values(): Iterable<Agent>;
  /** Those that are made; every other has ended. */
  made(): readonly Agent[];
}

/** Creates a table without agents. `make` makes an agent that was added without one, and does not keep it. */
export function createAgentTable<Agent extends Placed>(make?: (order: number) => Agent): AgentTable<Agent> {
  const agents: (Agent | undefined)[] = [];
  const at = (order: number): Agent => {
    const known = agents[order];
    if (known) return known;
    if (!make || !(order < agents.length)) throw new RangeError(`There is no agent ${order}`);
    return agents[order] = make(order);
  };
  const get = (address: string): Agent | undefined => {
    let agent: Agent | undefined;
    let number = 0;
    for (let i = 0; i <= address.length; i++) {
      const digit = i === address.length ? end : address.charCodeAt(i) - 48;
      if (digit >= 0 && digit <= 9 && (digit > 0 || number > 0)) {
        number = number * 10 + digit;
        continue;
      }
      if (digit !== end || number === 0) return undefined;
      const order = agent ? agent.children[number - 1] : number - 1;
      if (order === undefined || (!agent && number > 1) || agents.length === 0) return undefined;
      agent = at(order);
      number = 0;
    }
    return agent;
  };
  return {
    get size() {
      return agents.length;
    },
    add: (agent) => void agents.push(agent),
    get,
    has: (address) => get(address) !== undefined,
    at,
    childrenOf: ({ children }) => children.map(at),
    *values() {
      for (let order = 0; order < agents.length; order++) yield at(order);
    },
    made: () => agents.filter((agent) => agent !== undefined),
  };
}

/** What a dash is beside the digit 0; the end of an address ends a number as well. */
const end = '-'.charCodeAt(0) - 48;
