/** What an agent names or asks for without effect: data sources that there are not, and limits above those of the runtime. */

import { BoundedMap } from '../base/bounded-map.ts';
import { suggest } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Agent } from '../base/schema.ts';
import type { Report } from '../events/report.ts';
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

/** What an agent's record names or asks for without effect, for operators. */
export interface AgentProblem {
  readonly agentId: string;
  /** Absent for a record that all tenants share. */
  readonly tenant?: string;
  /** `unknown_tool`, `unknown_handler`, `unknown_data_source`, `no_items_of_tenant` or `limit_above_runtime`. */
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
  note(agent: Pick<Agent, 'id' | 'tenant'>, errors: readonly PinnaceError[]): void {
    const before = this.of(agent);
    if (errors.length === 0 && before.length === 0) return;
    for (const error of errors) {
      if (!before.some(({ message }) => message === error.message)) {
        this.#report?.(error, { kind: 'catalog', id: agent.id });
      }
    }
    this.#byAgent.set(keyOf(agent), errors.map((error) => problemOf(agent, error)));
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
