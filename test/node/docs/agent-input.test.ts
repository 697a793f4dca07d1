import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Fallback as FallbackInput, McpSelection as McpInput, Prices } from '../../../src/base/agent-input.ts';
import { ModelSettings, OutputSpec } from '../../../src/base/model-settings.ts';
import {
  Agent,
  type AgentInput,
  Fallback,
  LimitOverrides,
  McpSelection,
  Provider,
  type ProviderInput,
  SecretRef,
} from '../../../src/base/schema.ts';
import type { AgentOptions, RunRequestInput } from '../../../src/runtime/index.ts';
import type { RunRequest } from '../../../src/runtime/run-request.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

/** The fields of an interface and of those that it extends, each with the comment before it. */
function fieldsIn(source: string, name: string): ReadonlyMap<string, string> {
  const [, parent, body = ''] = new RegExp(`^export interface ${name}(?: extends (\\w+))? \\{\\n([\\s\\S]*?)^\\}`, 'm')
    .exec(source) ?? [];
  const own = [...body.matchAll(/(?: {2}\/\*\* (.*) \*\/\n)? {2}(\w+)\??: /g)]
    .map(([, doc = '', field = '']) => [field, doc] as const);
  return new Map([...(parent ? fieldsIn(source, parent) : []), ...own]);
}

const inputs = 'src/base/agent-input.ts';
const documented = [
  ['AgentInput', inputs, Agent],
  ['SecretRef', inputs, SecretRef],
  ['LimitOverrides', inputs, LimitOverrides],
  ['McpSelection', inputs, McpSelection],
  ['Fallback', inputs, Fallback],
  ['ModelSettings', 'src/base/model-settings.ts', ModelSettings],
  ['OutputSpec', 'src/base/model-settings.ts', OutputSpec],
  ['ProviderInput', 'src/base/agent-input.ts', Provider],
  ['Prices', 'src/base/agent-input.ts', Provider.entries.prices.wrapped],
] as const;

describe('the input types', () => {
  it('equal what their schemas take', () => {
    expectTypeOf<Omit<AgentInput, 'tools'>>().toEqualTypeOf<Omit<v.InferInput<typeof Agent>, 'tools'>>(); // an alias
    expectTypeOf<ProviderInput>().toEqualTypeOf<v.InferInput<typeof Provider>>();
    expectTypeOf<SecretRef>().toEqualTypeOf<v.InferOutput<typeof SecretRef>>();
    expectTypeOf<LimitOverrides>().toEqualTypeOf<v.InferOutput<typeof LimitOverrides>>();
    expectTypeOf<McpInput>().toEqualTypeOf<v.InferOutput<typeof McpSelection>>();
    expectTypeOf<FallbackInput>().toEqualTypeOf<v.InferOutput<typeof Fallback>>();
    expectTypeOf<ModelSettings>().toEqualTypeOf<v.InferOutput<typeof ModelSettings>>();
    expectTypeOf<OutputSpec>().toEqualTypeOf<v.InferOutput<typeof OutputSpec>>();
    expectTypeOf<Prices>().toEqualTypeOf<NonNullable<v.InferOutput<typeof Provider>['prices']>>();
    type WithoutChat<T> = Omit<T, 'chat'>;
    expectTypeOf<WithoutChat<RunRequestInput>>().toExtend<WithoutChat<v.InferInput<typeof RunRequest>>>();
    expectTypeOf<WithoutChat<v.InferInput<typeof RunRequest>>>().toExtend<WithoutChat<RunRequestInput>>();
    expectTypeOf<keyof RunRequestInput>().toEqualTypeOf<keyof v.InferInput<typeof RunRequest>>();
    expectTypeOf<AgentOptions['modelSettings']>().toEqualTypeOf<AgentInput['modelSettings']>();
  });

  it.each(documented)('have a comment for each field of the schema: %s', async (name, path, schema) => {
    const fields = fieldsIn(await read(path), name);
    const names = [...fields.keys()].filter((field) => field !== 'tools'); // an alias
    expect(names.toSorted()).toEqual(Object.keys(schema.entries).toSorted());
    expect([...fields].filter(([, doc]) => doc.length < 10)).toEqual([]);
  });
});

describe('the page of the agent record', () => {
  it.each([
    ['The agent record', Agent],
    ['Limits', LimitOverrides],
    ['Model settings', ModelSettings],
    ['Values of fields', {
      entries: { ...SecretRef.entries, ...McpSelection.entries, ...Fallback.entries, ...OutputSpec.entries },
    }],
    ['The provider record', Provider],
    ['Prices', Provider.entries.prices.wrapped],
  ])('has a row for each field: %s', async (heading, { entries }) => {
    const section = (await read('docs/agent-record.md')).split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`));
    const cells = [...(section ?? '').matchAll(/^\| (`[^|]+?) +\|/gm)].map(([, cell = '']) => cell).join();
    const listed = [...cells.matchAll(/`(\w+)`/g)].map(([, field = '']) => field);
    expect(new Set(listed)).toEqual(new Set(Object.keys(entries)));
  });
});
