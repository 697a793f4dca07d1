/** What a tool's definition says of its app, and of who may call it (MCP Apps, 2026-01-26). */

import { asRecord } from '../../base/is-record.ts';

/** The `ui` of a tool's `_meta`. */
export interface ToolUi {
  /** Of the app that shows its results; `undefined` without one. */
  readonly uri: string | undefined;
  /** Whether models may call it. */
  readonly forModel: boolean;
  /** Whether apps of its server may call it. */
  readonly forApp: boolean;
}

/** Reads it. What is malformed counts as absent: both may call the tool. */
export function toolUi(definition: unknown): ToolUi {
  const meta = asRecord(asRecord(definition)['_meta']);
  const { resourceUri, visibility } = asRecord(meta['ui']);
  const uri = resourceUri ?? meta['ui/resourceUri']; // the second is the earlier form
  const isFor = (one: string): boolean => !Array.isArray(visibility) || visibility.includes(one);
  return { uri: isAppUri(uri) ? uri : undefined, forModel: isFor('model'), forApp: isFor('app') };
}

/** Whether it can be the address of an app. */
export function isAppUri(uri: unknown): uri is string {
  return typeof uri === 'string' && uri.length <= 2048 && /^ui:\/\/[^\s\p{C}\\]+$/u.test(uri);
}
