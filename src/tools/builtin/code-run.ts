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

const Input = v.strictObject({
  code: v.pipe(v.string(), v.minLength(1)), // the description of the tool says what it is
});

const guide =
  'Write the body of an async JavaScript function. Call tools as `await tools.name(input)`; use `Promise.all` for ' +
  'independent calls. Filter and aggregate in code; return only what you need, as JSON. A failed call throws an error with ' +
  '`code`. No imports, network or types.';
const findGuide = ' `tools.tool_find({ query })` returns signatures of more tools; call them by name.';

/** Creates the tool. */
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
  const described = new WeakMap<readonly Tool[], { readonly request: string; readonly tool: Tool }>();
  return {
    ...tool,
    beside(others, request) {
      const known = described.get(others);
      if (known?.request === request) return known.tool;
      const made = { ...tool, definition: { ...tool.definition, description: describe(others, request) } };
      described.set(others, { request, tool: made });
      return made;
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
const ofDiscovery = new Set(['tool_find', 'tool_describe', 'tool_load', 'tool_active']);

/** The declarations of the first tools, as many as there is room for. */
function declared(tools: readonly Tool[]): readonly string[] {
  const declarations: string[] = [];
  let left = declarationsLength;
  for (const { definition } of tools) {
    const text = declarationOf(definition);
    if ((left -= text.length + 1) < 0) break;
    declarations.push(text);
  }
  return declarations;
}

/** The guide and the declarations of the tools, as many as there is room for: those that match the request best. */
function describe(others: readonly Tool[], request: string): string {
  const callable = others.filter((tool) => isCallable(tool) && !ofDiscovery.has(tool.definition.name));
  const all = declared(callable);
  const declarations = all.length === callable.length ? all : declared(bestFirst(callable, request));
  const more = callable.length - declarations.length;
  const hasFind = others.some(({ definition: { name } }) => name === 'tool_find');
  return [
    guide + (hasFind ? findGuide : ''),
    '',
    ...declarations,
    ...(more > 0 ? [`// and ${more} more ${more === 1 ? 'tool' : 'tools'}`] : []),
  ].join('\n');
}
