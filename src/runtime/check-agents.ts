/** What an agent names or asks for without effect: data sources that there are not, and limits above those of the runtime. */

import { BoundedMap } from '../base/bounded-map.ts';
import { suggest } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Agent } from '../base/schema.ts';
import type { Report } from '../events/report.ts';
import { type Readers, trusted } from '../permission/label.ts';
import { outputLabel, readersOfInput } from '../permission/run-facts.ts';
import type { Tool } from '../tools/tool.ts';
import type { Limits } from './limits.ts';

/** What the composition has. */
export interface AgentTerms {
  /** The ids of the data sources; absent without a grounding. */
  readonly sources: readonly string[] | undefined;
  readonly limits: Limits;
}

/** Returns what has no effect, as the errors that say so; an empty list for a sound agent. */
export function problemsOfAgent(
  { id, dataSources, limits = {} }: Pick<Agent, 'id' | 'dataSources' | 'limits'>,
  terms: AgentTerms,
  action: string,
): readonly PinnaceError[] {
  const known = terms.sources ?? [];
  const missing = dataSources.filter((source) => !known.includes(source)).map((source) => {
    const suggestions = suggest(source, known);
    const [nearest] = suggestions;
    const others = nearest === undefined ? `there are ${known.slice(0, 20).join(', ') || 'none'}` : `use "${nearest}"`;
    const advice = terms.sources === undefined ? 'pass createRuntime({ grounding })' : others;
    const what = `agent "${id}" names the data source "${source}" in "dataSources", which does not exist`;
    return new PinnaceError('invalid_argument', `Cannot ${action}: ${what}; ${advice}`, {
      details: { reason: 'unknown_data_source', field: 'dataSources', suggestions },
    });
  });
  const above = Object.entries(limits).flatMap(([name, value]) => {
    const most = terms.limits[name as keyof Limits]; // limits of agents have names of limits
    if (value === undefined || most === undefined || value <= most) return [];
    const what = `agent "${id}" has "limits.${name}" ${value}, and the runtime allows ${most}`;
    const message = `Cannot ${action}: ${what}; lower it, or pass createRuntime({ limits: { ${name}: ${value} } })`;
    return [new PinnaceError('invalid_argument', message, { details: { reason: 'limit_above_runtime', field: name } })];
  });
  return [...missing, ...above];
}

/** What a tool of an agent reads, whether it may act, and who can see what is put in. */
export interface ToolFlow {
  readonly id: string;
  readonly acts: boolean;
  /** `trusted`: the operator's words, or what was put in. */
  readonly reads: 'trusted' | 'untrusted' | 'private';
  readonly sends: Readers;
}

/** Returns the flows of an agent's tools. */
export function flowsOf(agent: Pick<Agent, 'trust' | 'dataSources'>, tools: readonly Tool[]): readonly ToolFlow[] {
  return tools.map(({ definition }) => {
    const { id, annotations } = definition;
    const { from, readers } = outputLabel(definition, trusted, agent.trust ?? 'open');
    const isStranger = from.length > 0 || (id === 'retrieve' && agent.dataSources.length > 0);
    const reads = readers === 'principal' ? 'private' : isStranger ? 'untrusted' : 'trusted';
    return { id, acts: annotations?.readOnlyHint !== true, reads, sends: readersOfInput(definition) };
  });
}

/** Recommends a level for an open agent that reads strangers, has what is not public, and can act or send; `undefined` for others. */
export function trustAdvice(
  { id: agentId, trust = 'open' }: Pick<Agent, 'id' | 'trust'>,
  flows: readonly ToolFlow[],
  tools: readonly Tool[],
): PinnaceError | undefined {
  if (trust !== 'open') return undefined;
  const idsOf = (test: (flow: ToolFlow) => boolean): string =>
    flows.filter(test).map(({ id }) => id).slice(0, 5).join(', ');
  const strangers = idsOf(({ reads }) => reads !== 'trusted');
  const isOpen = (id: string): boolean => {
    const definition = tools.find((tool) => tool.definition.id === id)?.definition;
    return definition !== undefined && outputLabel(definition, trusted, trust).readers === 'public';
  };
  const closed = idsOf(({ id, reads }) => reads === 'private' || (reads === 'untrusted' && !isOpen(id)));
  const out = idsOf(({ sends, acts }) => acts && sends === 'public');
  if (strangers === '' || closed === '' || out === '') return undefined;
  const what =
    `agent "${agentId}" reads what strangers write (${strangers}), has what is not public (${closed}) and a way out (${out})`;
  return new PinnaceError('invalid_argument', `Consider "trust": "watched" or "guarded": ${what}`, {
    details: { reason: 'trust_recommended', field: 'trust' },
  });
}

/** What an agent's record names or asks for without effect, for operators. */
export interface AgentProblem {
  readonly agentId: string;
  /** Absent for a record that all tenants share. */
  readonly tenant?: string;
  /** `unknown_tool`, `unknown_handler`, `unknown_data_source`, `no_items_of_tenant`, `limit_above_runtime` or `trust_recommended`. */
  readonly reason: string;
  readonly message: string;
}

/** The most agents whose problems are remembered. */
const mostAgents = 1000;

/** The problems of the agents that were used last. Each is reported once; those of a record that was corrected are forgotten. */
export class AgentProblems {
  readonly #byAgent = new BoundedMap<string, readonly AgentProblem[]>(mostAgents);
  readonly #report: Report | undefined;

  constructor(report: Report | undefined) {
    this.#report = report;
  }

  /** Replaces the problems of an agent. */
  note(agent: Pick<Agent, 'id' | 'tenant'>, errors: readonly PinnaceError[], advice?: PinnaceError): void {
    const before = this.of(agent);
    if (errors.length === 0 && before.length === 0 && !advice) return;
    for (const error of errors) {
      if (!before.some(({ message }) => message === error.message)) {
        this.#report?.(error, { kind: 'catalog', id: agent.id });
      }
    }
    const all = advice ? [...errors, advice] : errors; // advice is no failure to report
    this.#byAgent.set(keyOf(agent), all.map((error) => problemOf(agent, error)));
  }

  of(agent: Pick<Agent, 'id' | 'tenant'>): readonly AgentProblem[] {
    return this.#byAgent.get(keyOf(agent)) ?? [];
  }

  /** Those that a tenant's operators may see; of all tenants for the deployment. */
  list(tenant: string | undefined): readonly AgentProblem[] {
    const all = [...this.#byAgent.values()].flat();
    return all.filter((one) => tenant === undefined || one.tenant === undefined || one.tenant === tenant);
  }
}

/** Returns an error as the problem of this agent. */
export function problemOf({ id, tenant }: Pick<Agent, 'id' | 'tenant'>, error: PinnaceError): AgentProblem {
  const reason = error.details?.['reason'];
  const what = { reason: typeof reason === 'string' ? reason : error.code, message: error.message };
  return { agentId: id, ...(tenant !== undefined && { tenant }), ...what };
}

function keyOf({ id, tenant = '' }: Pick<Agent, 'id' | 'tenant'>): string {
  return JSON.stringify([tenant, id]);
}
