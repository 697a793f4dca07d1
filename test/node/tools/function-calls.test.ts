import { join } from 'node:path';
import process from 'node:process';
import { parseSync } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../../src/index.ts';
import { declarationOf } from '../../../src/tools/declaration.ts';
import { type FunctionCase, readCases, readFunctions, schemaOf } from '../../fixtures/function-calls/published.ts';
import { outputOf, programRuntime, take } from '../../fixtures/programs.ts';

/** Names the folder with the published data, `bfcl_eval/data` of ShishirPatil/gorilla; without it only our own cases run. */
const variable = 'PINNACE_FUNCTION_CALLS';
const published = process.env[variable];
const own = join(import.meta.dirname, '../../fixtures/function-calls/sample');

/** The names of tools have no dots. */
const idOf = (name: string): string => `f_${name.replaceAll(/[^\w-]/g, '_')}`.slice(0, 64);

/** Makes the calls of a case in a program, and returns what the tools received. */
async function callsOf({ functions, calls }: FunctionCase): Promise<unknown[]> {
  const received: unknown[] = [];
  const tools = functions.map(({ name, description, parameters }) =>
    defineTool({
      id: idOf(name),
      description: description.slice(0, 1_000) || name,
      input: schemaOf(parameters),
      annotations: { readOnlyHint: true },
      execute: (input) => {
        received.push({ name, input });
        return null;
      },
    })
  );
  const texts = calls.map(({ name, input }) => `tools[${JSON.stringify(idOf(name))}](${JSON.stringify(input)})`);
  const code = `const all = await Promise.allSettled([${texts.join(', ')}]);
    return all.map(({ status, reason }) => reason ? reason.message : status);`;
  const { message } = await take(programRuntime(code, { tools, limits: { toolCalls: 100 } }).runtime);
  const output = outputOf(message);
  if (received.length < calls.length) received.push(output);
  return received;
}

/** Functions and cases, and how many there are at least. */
interface FunctionSet {
  readonly name: string;
  readonly folder: string;
  readonly functions: number;
  readonly cases: number;
  readonly refused: readonly string[];
}

const sets: readonly FunctionSet[] = [
  {
    name: published ? 'functions of our own' : `functions of our own; ${variable} names no published ones`,
    folder: own,
    functions: 7,
    cases: 6,
    refused: [],
  },
  ...(published
    ? [{
      name: 'the published functions',
      folder: published,
      functions: 5_400,
      cases: 440,
      // These answers contradict the schemas: a text for a list, texts for integers, a value that is not in the enum.
      refused: ['parallel_multiple_21', 'parallel_multiple_94', 'live_parallel_multiple_2-2-0'],
    }]
    : []),
];

describe.each(sets)('$name', ({ folder, ...expected }) => {
  const functions = readFunctions(folder);
  const distinct = [...new Map(functions.map((one) => [JSON.stringify(one), one])).values()];

  it('is declared in TypeScript, each function as one method of its name', () => {
    for (const { name: method, description, parameters } of distinct) {
      const text = declarationOf({ name: method, description, paramsSchema: schemaOf(parameters) });
      const { errors, program: { body } } = parseSync('tools.ts', `interface Tools {\n${text}\n}`);
      expect(errors, text).toEqual([]);
      const [first] = body;
      const members = first?.type === 'TSInterfaceDeclaration' ? first.body.body : [];
      expect(members.map((one) => one.type === 'TSMethodSignature' && nameOf(one.key)), text).toEqual([method]);
    }
    expect(functions.length).toBeGreaterThanOrEqual(expected.functions);
  });

  it('is called by programs with the very arguments of the answers', async () => {
    const cases = readCases(folder);
    const failed: unknown[] = [];
    const refused: string[] = [];
    for (const one of cases) {
      const received = await callsOf(one);
      if (JSON.stringify(received).includes('Cannot read the input of tool')) refused.push(one.id);
      else if (JSON.stringify(received) !== JSON.stringify(one.calls)) failed.push([one.id, received, one.calls]);
    }
    expect(failed).toEqual([]);
    expect(refused).toEqual(expected.refused);
    expect(cases.length).toBeGreaterThanOrEqual(expected.cases);
  }, 120_000);
});

function nameOf(key: { readonly type: string; readonly name?: unknown; readonly value?: unknown }): unknown {
  return key.type === 'Identifier' ? key.name : key.value;
}
