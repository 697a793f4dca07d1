/** Rules for all tools of a server together. */

import { error, type Remark, warning } from './finding.ts';
import { skeletonOf } from './names.ts';

const manyTools = 128;
const maxLength = 4_194_304;

/** What is wrong with the tools as a whole; without a tool it is about the server. */
export function checkSet(
  tools: readonly { readonly label: string; readonly name: string; readonly length: number }[],
  others: ReadonlySet<string>,
): readonly (Remark & { readonly tool?: string })[] {
  const total = tools.reduce((sum, { length }) => sum + length, 0);
  const skeletons = Map.groupBy(tools, ({ name }) => skeletonOf(name));
  const alike = [...skeletons.values()].filter(({ length }) => length > 1).flat();
  const same = Map.groupBy(tools, ({ name }) => name);
  return [
    ...(tools.length > manyTools
      ? [warning('many_tools', `The server offers more than ${manyTools} tools: agents should find them by a search`)]
      : []),
    ...(total > maxLength ? [error('too_large', `The definitions are longer than ${maxLength} characters`)] : []),
    ...alike.map(({ label, name }) => ({
      ...(same.get(name)?.length === 1
        ? warning('twin_name', 'looks like another tool of the server', '/name')
        : error('twin_name', 'is the name of two tools of the server', '/name')),
      tool: label,
    })),
    ...tools.filter(({ name }) => others.has(name)).map(({ label }) => ({
      ...warning('same_name_elsewhere', 'has the name of a tool from elsewhere', '/name'),
      tool: label,
    })),
  ];
}
