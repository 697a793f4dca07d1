/** What checks say, and where. */

import type { McpFinding } from '../../base/schema.ts';

/** A finding before it is known whose it is. */
export type Remark = Omit<McpFinding, 'tool'>;

/** Something that blocks. */
export function error(rule: string, message: string, path = ''): Remark {
  return remark('error', { rule, message, path });
}

/** Something that a person should look at. */
export function warning(rule: string, message: string, path = ''): Remark {
  return remark('warning', { rule, message, path });
}

function remark(
  severity: Remark['severity'],
  { rule, message, path }: { rule: string; message: string; path: string },
): Remark {
  return { severity, rule, message, ...(path !== '' && { path }) };
}

/** One step further in a JSON Pointer. What the server names is repeated only as far as it is harmless. */
export function below(path: string, key: string | number): string {
  const name = typeof key === 'number' ? String(key) : key.replaceAll('~', '~0').replaceAll('/', '~1');
  return `${path}/${name.replace(/[^\w.$~@:-]/g, '?').slice(0, 64)}`.slice(0, 300);
}
