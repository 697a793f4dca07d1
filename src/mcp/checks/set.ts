/** Rules for all tools of a server together. */

import { error, type Remark, warning } from './finding.ts';
import { skeletonOf } from './names.ts';

const maxTools = 128;
const maxBytes = 1_048_576;

/** What is wrong with the tools as a whole; without a tool it is about the server. */
export function checkSet(
  tools: readonly { readonly label: string; readonly name: string; readonly length: number }[],
  others: ReadonlySet<string>,
): readonly (Remark & { readonly tool?: string })[] {
  const total = tools.reduce((sum, { length }) => sum + length, 0);
  const skeletons = Map.groupBy(tools, ({ name }) => skeletonOf(name));
  const twins = [...skeletons.values()].filter(({ length }) => length > 1).flat();
  return [
    ...(tools.length > maxTools ? [error('too_many_tools', `The server offers more than ${maxTools} tools`)] : []),
    ...(total > maxBytes ? [error('too_large', `The definitions are longer than ${maxBytes} characters`)] : []),
    ...twins.map(({ label }) => ({
      ...error('twin_name', 'looks like another tool of the server', '/name'),
      tool: label,
    })),
    ...tools.filter(({ name }) => others.has(name)).map(({ label }) => ({
      ...warning('same_name_elsewhere', 'has the name of a tool from elsewhere', '/name'),
      tool: label,
    })),
  ];
}
