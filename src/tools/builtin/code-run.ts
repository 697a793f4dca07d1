/** The tool `code_run`: runs a program that a model wrote, whose calls are calls of its run. */

import * as v from 'valibot';
import { PinnaceError } from '../../base/errors.ts';
import { bestFirst, declarationOf } from '../declaration.ts';
import { codeRunId, programHostKey } from '../run-scope.ts';
import type { ProgramHost, Tool } from '../tool.ts';
import { defineValibotTool } from '../make-tool.ts';

/** UTF-16 code units of a program. */
export const maxProgramLength = 65_536;
/** UTF-16 code units of a program's output, as JSON. */
export const maxProgramOutput = 16_384;
/** The most text of declarations: about 1,500 tokens. */
const declarationsLength = 6_000;
/** The same of those that fit a request, in the context of its turn. */
const noteLength = 3_000;

const Input = v.strictObject({
  code: v.pipe(v.string(), v.minLength(1)), // the description of the tool says what it is
});

const guide =
  'Write the body of an async JavaScript function. Call tools as `await tools.name(input)`; use `Promise.all` for ' +
  'independent calls. Filter and aggregate in code; return only what you need, as JSON. A failed call throws an error with ' +
  '`code`. No imports, network or types.';
const findGuide = ' `tools.tool_find({ query })` returns signatures of more tools; call them by name.';

export function codeRunTool(): Tool {
  const tool = defineValibotTool({
    id: codeRunId,
    title: 'Run a program',
    type: 'builtin',
    description: guide,
    category: 'programs',
    annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false }, // its calls are checked one by one
    limits: { outputLength: maxProgramOutput },
    input: Input,
    execute: async ({ code }, context) => await hostOf(context.scope).run(code, context),
  });
  const described = new WeakMap<readonly Tool[], Tool>();
  return {
    ...tool,
    beside(others) {
      const known = described.get(others);
      if (known) return known;
      const made = { ...tool, definition: { ...tool.definition, description: describe(others) } };
      described.set(others, made);
      return made;
    },
    noteFor(request, others) {
      const callable = declarable(others);
      const first = declared(callable);
      if (first.length === callable.length || hasFind(others)) return undefined; // all are described, or can be found
      const known = new Set(first);
      const fitting = declared(bestFirst(callable, request), noteLength).filter((text) => !known.has(text));
      return fitting.length === 0 ? undefined : `More tools for programs:\n${fitting.join('\n')}`;
    },
  };
}

function hostOf(scope: Parameters<Tool['execute']>[1]['scope']): ProgramHost {
  return scope?.keep(programHostKey, () => noHost) ?? noHost;
}

const noHost: ProgramHost = {
  run() {
    throw new PinnaceError('forbidden', 'Cannot run the program: only the model of a run may', {
      details: { reason: 'program_outside_run' },
    });
  },
  close: () => Promise.resolve(),
};

/** Whether programs may call a tool. */
export function isCallable({ definition: { id, type, callers } }: Tool): boolean {
  return id !== codeRunId && type !== 'agent' && (callers === undefined || callers.includes('program'));
}

/** The tools by which a model finds and loads others: in programs, `tool_find` is enough. */
const ofDiscovery = new Set(['tool_find', 'tool_describe', 'tool_load', 'tool_active', 'tool_call']);

/** The tools that a description may declare, by name: no order of a catalog reaches a prompt. */
function declarable(others: readonly Tool[]): readonly Tool[] {
  return others.filter((tool) => isCallable(tool) && !ofDiscovery.has(tool.definition.name)).toSorted((a, b) =>
    a.definition.name < b.definition.name ? -1 : 1
  );
}

function hasFind(others: readonly Tool[]): boolean {
  return others.some(({ definition: { name } }) => name === 'tool_find');
}

/** The declarations of the first tools, as many as there is room for. */
function declared(tools: readonly Tool[], most = declarationsLength): readonly string[] {
  const declarations: string[] = [];
  let left = most;
  for (const { definition } of tools) {
    const text = declarationOf(definition);
    if ((left -= text.length + 1) < 0) break;
    declarations.push(text);
  }
  return declarations;
}

/** The guide and the declarations of the tools, as many as there is room for. */
function describe(others: readonly Tool[]): string {
  const callable = declarable(others);
  const declarations = declared(callable);
  const more = callable.length - declarations.length;
  return [
    guide + (hasFind(others) ? findGuide : ''),
    '',
    ...declarations,
    ...(more > 0 ? [`// and ${more} more ${more === 1 ? 'tool' : 'tools'}`] : []),
  ].join('\n');
}
