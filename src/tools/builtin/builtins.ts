/** The tools that every runtime has. An agent gets those that its allowlist names, and the code of each is loaded with the first. */

import type { Tool } from '../tool.ts';

/** A tool that comes with the runtime. */
export interface Builtin {
  readonly id: string;
  /** The same tool each time. */
  readonly load: () => Promise<Tool>;
}

/** Returns the built-in tools that need nothing else: `current_time` and `calculator`. */
export function createBuiltins({ now }: { readonly now: () => number }): readonly Builtin[] {
  return [
    builtin('current_time', async () => (await import('./current-time.ts')).currentTimeTool({ now })),
    builtin('calculator', async () => (await import('./calculator.ts')).calculatorTool()),
  ];
}

function builtin(id: string, make: () => Promise<Tool>): Builtin {
  let tool: Promise<Tool> | undefined;
  return { id, load: () => tool ??= make() };
}
