/** A registry so simple that it is plainly right: what agents and tools there are, and what each agent names. */

/** What one write asks for. */
export type Op =
  | { readonly type: 'register-agent' | 'set-tools'; readonly agent: string; readonly tools: readonly string[] }
  | { readonly type: 'register-tool' | 'set-agents'; readonly tool: string; readonly agents: readonly string[] }
  | { readonly type: 'disable' | 'enable' | 'remove'; readonly kind: 'agent' | 'tool'; readonly id: string };

interface OracleRecord {
  revision: number;
  state: 'active' | 'disabled';
  /** Of an agent: the tools that it names. */
  tools: string[];
}

/** The oracle's state. */
export interface Oracle {
  /** Does it, and gives `ok` or the code of the error. */
  apply(op: Op): string;
  revision(kind: 'agent' | 'tool', id: string): number;
  agents(): Readonly<Record<string, Pick<OracleRecord, 'revision' | 'state' | 'tools'>>>;
  tools(): Readonly<
    Record<string, { readonly revision: number; readonly state: string; readonly agents: readonly string[] }>
  >;
}

/** Gives an oracle that knows nothing yet. */
export function createOracle(): Oracle {
  const records = { agent: new Map<string, OracleRecord>(), tool: new Map<string, OracleRecord>() };
  const ends = new Map<string, number>();
  const add = (kind: 'agent' | 'tool', id: string, tools: readonly string[]): void => {
    const revision = (ends.get(`${kind} ${id}`) ?? 0) + 1;
    records[kind].set(id, { revision, state: 'active', tools: [...tools] });
  };
  const name = (agent: string, tools: string[]): void => {
    const record = records.agent.get(agent);
    if (!record || JSON.stringify(record.tools) === JSON.stringify(tools)) return;
    record.tools = tools;
    record.revision += 1;
  };
  const setAgents = (tool: string, agents: readonly string[]): void => {
    for (const [id, { tools }] of records.agent) {
      if (agents.includes(id) && !tools.includes(tool)) name(id, [...tools, tool]);
      if (!agents.includes(id) && tools.includes(tool)) name(id, tools.filter((one) => one !== tool));
    }
  };
  const isBound = (kind: 'agent' | 'tool', id: string): boolean =>
    kind === 'agent'
      ? (records.agent.get(id)?.tools.length ?? 0) > 0
      : [...records.agent.values()].some(({ tools }) => tools.includes(id));
  return {
    apply(op) {
      switch (op.type) {
        case 'register-agent':
          if (records.agent.has(op.agent)) return 'conflict';
          if (op.tools.some((tool) => !records.tool.has(tool))) return 'invalid_argument';
          add('agent', op.agent, op.tools);
          return 'ok';
        case 'set-tools':
          if (!records.agent.has(op.agent)) return 'not_found';
          if (op.tools.some((tool) => !records.tool.has(tool))) return 'invalid_argument';
          name(op.agent, [...op.tools]);
          return 'ok';
        case 'register-tool':
        case 'set-agents':
          if (op.type === 'register-tool' && records.tool.has(op.tool)) return 'conflict';
          if (op.type === 'set-agents' && !records.tool.has(op.tool)) return 'not_found';
          if (op.agents.some((agent) => !records.agent.has(agent))) return 'invalid_argument';
          if (op.type === 'register-tool') add('tool', op.tool, []);
          setAgents(op.tool, op.agents);
          return 'ok';
        case 'disable':
        case 'enable': {
          const record = records[op.kind].get(op.id);
          if (!record) return 'not_found';
          const state = op.type === 'disable' ? 'disabled' : 'active';
          if (record.state !== state) record.revision += 1;
          record.state = state;
          return 'ok';
        }
        case 'remove': {
          const record = records[op.kind].get(op.id);
          if (!record) return 'not_found';
          if (isBound(op.kind, op.id)) return 'conflict';
          ends.set(`${op.kind} ${op.id}`, record.revision + 1);
          records[op.kind].delete(op.id);
          return 'ok';
        }
        default:
          return op satisfies never;
      }
    },
    revision: (kind, id) => records[kind].get(id)?.revision ?? 0,
    agents: () => Object.fromEntries([...records.agent].toSorted(byId)),
    tools: () =>
      Object.fromEntries(
        [...records.tool].toSorted(byId).map(([id, { revision, state }]) => {
          const agents = [...records.agent].filter(([, { tools }]) => tools.includes(id)).map(([agent]) => agent);
          return [id, { revision, state, agents: agents.toSorted() }];
        }),
      ),
  };
}

function byId([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
