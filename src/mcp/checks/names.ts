/** Rules for names: what MCP allows, what models can say, and what only looks like another name. */

import { exposedNames } from '../pinned-tools.ts';
import { error, type Remark, warning } from './finding.ts';

/** Names that are ours: a tool that is called so, or nearly so, would be taken for one of them. */
export const reservedNames: readonly string[] = [
  'tool_find',
  'tool_describe',
  'tool_load',
  'tool_active',
  'tool_call',
  'http_request',
  'fetch_url',
  'current_time',
  'calculator',
  'ask_human',
];

/** What a name looks like at a glance: names with the same skeleton are mistaken for each other. */
export function skeletonOf(name: string): string {
  return name.normalize('NFKC').toLowerCase()
    .replaceAll(/[-_./\s]/g, '')
    .replaceAll('0', 'o')
    .replaceAll(/[1il|]/g, 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

const reservedSkeletons = new Set(reservedNames.map(skeletonOf));

/** What is wrong with the name of a tool. */
export function checkName(name: string, alias: string): readonly Remark[] {
  if (!isToolName(name)) {
    return [error('name', 'must be 1 to 128 letters, digits, "_", "-", "." or "/"', '/name')];
  }
  const exposed = exposedNames(alias, [name]).get(name);
  const isOther = exposed !== undefined && exposed !== `${alias}__${name}`;
  return [
    ...(reservedSkeletons.has(skeletonOf(name))
      ? [warning('reserved_name', 'looks like a tool of ours', '/name')]
      : []),
    ...(isOther ? [warning('name_spelled', 'is spelled otherwise for models, which cannot say it', '/name')] : []),
  ];
}

/** Whether a tool can be called by this name. */
export function isToolName(name: string): boolean {
  return /^[A-Za-z0-9_./-]{1,128}$/.test(name);
}
