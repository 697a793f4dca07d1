/** What an agent names or asks for without effect: data sources that there are not, and limits above those of the runtime. */

import { suggest } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Agent } from '../base/schema.ts';
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
