/** Looks tools up by name, as far as they are allowed today, and says of a name that is none which one was meant. */

import { PinnaceError } from '../base/errors.ts';
import type { IndexedTool } from './tool-fields.ts';
import type { ToolIndex } from './tool-index.ts';

/** Returns a tool by name. What is not allowed is as if it did not exist. */
export interface Lookup {
  find(name: string): IndexedTool | undefined;
  /** The error for a name that `find` does not know: the new name of a renamed tool, or the nearest names. */
  notFound(name: string, action: 'find' | 'describe' | 'load' | 'call'): PinnaceError;
}

const mostSuggestions = 3;

/** The names of the discovery tools, which are active in every run that has them. */
export const discoveryToolNames = ['tool_find', 'tool_describe', 'tool_load', 'tool_active'] as const;

const own: ReadonlySet<string> = new Set(discoveryToolNames);

/** Looks tools up in an index. */
export function createLookup(index: ToolIndex, isAllowed: (name: string) => boolean): Lookup {
  return {
    find: (name) => isAllowed(name) ? index.get(name) : undefined,
    notFound(name, action) {
      const what = `Cannot ${action} tool "${printable(name)}"`;
      if (own.has(name)) return error(`${what}: it is always active; call it directly`, 'always_active', [name]);
      const renamed = index.renamed(name).filter(isAllowed);
      if (renamed.length > 0) {
        return error(
          `${what}: there is no tool of this name; it is now named ${list(renamed)}`,
          'tool_renamed',
          renamed,
        );
      }
      const hits = index.search(name, mostSuggestions, { accept: (tool) => isAllowed(tool.name) });
      const nearest = hits.map((hit) => hit.name);
      const meant = nearest.length > 0 ? `, or take one of the nearest: ${list(nearest)}` : '';
      return error(
        `${what}: there is no tool of this name; look for one with tool_find${meant}`,
        'unknown_tool',
        nearest,
      );
    },
  };
}

function error(message: string, reason: string, suggestions: readonly string[]): PinnaceError {
  return new PinnaceError('not_found', message, { details: { reason, suggestions } });
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${printable(name)}"`).join(', ');
}

/** A name comes from a model or a server: it may hold anything, of any length. */
function printable(name: string): string {
  return name.replace(/[\p{C}"]/gu, '?').slice(0, 100);
}
