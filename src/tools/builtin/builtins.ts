/** The tools that every runtime has. An agent gets those that its allowlist names, and the code of each is loaded with the first. */

import type { Tool } from '../tool.ts';

/** A tool that comes with the runtime. */
export interface Builtin {
  readonly id: string;
  /** The same tool each time. */
  readonly load: () => Promise<Tool>;
}

/** Returns the built-in tools: `current_time`, `calculator`, and where there are programs `code_run`. */
export function createBuiltins(
  { now, hasPrograms = false }: { readonly now: () => number; readonly hasPrograms?: boolean },
): readonly Builtin[] {
  return [
    ...(hasPrograms ? [builtin('code_run', async () => (await import('./code-run.ts')).codeRunTool())] : []),
    builtin('current_time', async () => (await import('./current-time.ts')).currentTimeTool({ now })),
    builtin('calculator', async () => (await import('./calculator.ts')).calculatorTool()),
  ];
}

function builtin(id: string, make: () => Promise<Tool>): Builtin {
  let tool: Promise<Tool> | undefined;
  return { id, load: () => tool ??= make() };
}
