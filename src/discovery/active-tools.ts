/** The active set of a run, and the loaded set behind it that outlives the run. */

import { PinnaceError } from '../base/errors.ts';
import type { IndexedTool } from './tool-fields.ts';
import { type LoadedToolsOptions, openLoadedTools } from './loaded-tools.ts';
import type { Lookup } from './lookup.ts';

/** Which tools are active, and how more become so. */
export interface ActiveTools {
  restore(): Promise<void>;
  has(name: string): boolean;
  /** What is active and allowed, in the order in which it became active. */
  names(): readonly string[];
  /** Activates all of these, or none if one is unknown, and returns them. Active tools stay active. */
  load(names: readonly string[]): Promise<readonly IndexedTool[]>;
  handle(): string | undefined;
}

interface ActiveToolsOptions extends LoadedToolsOptions {
  readonly active: Set<string>;
  readonly lookup: Lookup;
  readonly isAllowed: (name: string) => boolean;
  readonly mostActive: number;
}

/** Creates the active set of a run. */
export function createActiveTools(options: ActiveToolsOptions): ActiveTools {
  const { active, lookup, isAllowed, mostActive } = options;
  const loaded = openLoadedTools(options);
  const restore = onceDone(async () => {
    for (const name of await loaded.names()) {
      if (lookup.find(name) && active.size < mostActive) active.add(name);
    }
  });
  return {
    restore,
    has: (name) => active.has(name) && isAllowed(name),
    names: () => [...active].filter(isAllowed),
    handle: () => loaded.handle(),
    async load(names) {
      const tools = findAll([...new Set(names)], lookup);
      const added = tools.map(({ name }) => name).filter((name) => !active.has(name));
      if (active.size + added.length > mostActive) throw tooMany(added.length, { active, mostActive });
      if (added.length > 0) await loaded.add(added);
      for (const name of added) active.add(name);
      return tools;
    },
  };
}

/** Does the work once; when it fails, the next call tries again. */
function onceDone(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return async () => {
    done ??= work();
    try {
      await done;
    } catch (error) {
      done = undefined;
      throw error;
    }
  };
}

function findAll(names: readonly string[], lookup: Lookup): IndexedTool[] {
  return names.map((name) => {
    const tool = lookup.find(name);
    if (!tool) throw lookup.notFound(name, 'load');
    return tool;
  });
}

function tooMany(
  count: number,
  { active, mostActive }: { active: ReadonlySet<string>; mostActive: number },
): PinnaceError {
  const message = `Cannot load ${count} more tools: ${active.size} are active and ${mostActive} may be; load fewer`;
  return new PinnaceError('budget_exceeded', message, { details: { reason: 'too_many_active_tools', mostActive } });
}
