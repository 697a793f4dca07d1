import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { defaultQuotas, defaultStartObjectiveMs } from '../../../adapters/transport/http/admission.ts';
import { defaultBodyLimits, largeBodyBytes, usualBodyBytes } from '../../../adapters/transport/signed/body.ts';
import { problemCodes } from '../../../src/base/errors.ts';
import { observerLimits } from '../../../adapters/transport/http/routes/audit.ts';
import type { RefusalCode } from '../../../adapters/transport/signed/profile.ts';
import { defaultLimit, maxLimit } from '../../../src/base/page.ts';
import {
  defaultLimits,
  type ErrorCode,
  errorCodes,
  PinnaceError,
  type Problem,
  type ProblemCode,
} from '../../../src/index.ts';
import { defaultPlanLimits } from '../../../src/planner/index.ts';
import { maxFiles } from '../../../src/runtime/open-files.ts';
import { maxMessageLength, maxWaiting } from '../../../src/runtime/steering.ts';
import { defaultTreeLimits } from '../../../src/tree/tool-spec.ts';
import { defaultContextTokens } from '../../../src/runtime/estimate-prompt.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

/** The rows of the tables of a section, as cells. */
function rowsOf(page: string, heading: string): string[][] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return section.split('\n').filter((line) => line.startsWith('|')).map((line) =>
    line.split('|').slice(1, -1).map((cell) => cell.trim())
  );
}

/** The codes in the rows, each with the cells beside it. */
function codesOf(rows: readonly string[][]): Map<string, readonly string[]> {
  return new Map(
    rows.flatMap(([codes = '', ...facts]) =>
      [...codes.matchAll(/`([a-z_]+)`/g)].map(([, code = '']) => [code, facts] as const)
    ),
  );
}

describe('the codes of errors', async () => {
  const page = await read('docs/errors.md');
  const ofRuns = codesOf(rowsOf(page, 'Error codes'));
  const ofEndpoints = codesOf(rowsOf(page, 'Codes of endpoints'));

  it('are union types', () => {
    expectTypeOf<PinnaceError['code']>().toEqualTypeOf<ProblemCode>();
    expectTypeOf<Problem['code']>().toEqualTypeOf<ProblemCode>();
    expectTypeOf<ErrorCode>().toExtend<ProblemCode>();
    expectTypeOf<RefusalCode>().toExtend<ProblemCode>();
    expectTypeOf<string>().not.toExtend<ProblemCode>();
  });

  it('stand in the guide, and no others', () => {
    expect([...ofRuns.keys()].toSorted()).toEqual([...errorCodes].toSorted());
    const own = problemCodes.filter((code) => !new Set<string>(errorCodes).has(code));
    expect([...ofEndpoints.keys()].toSorted()).toEqual(own.toSorted());
  });

  it.each(problemCodes)('have the status and the retry that the guide says: %s', (code) => {
    const { status, retryable } = new PinnaceError(code, 'No');
    const row = ofRuns.get(code) ?? ofEndpoints.get(code);
    expect(row?.slice(0, 2)).toEqual([String(status), retryable ? 'yes' : 'no']);
  });
});

describe('the limits', async () => {
  const page = `${await read('docs/limits.md')}\n${await read('docs/endpoint-limits.md')}`;
  /** The defaults in a section: a name, and the cell beside it without the explanation in parentheses. */
  const defaultsOf = (heading: string): Map<string, string> =>
    new Map(
      rowsOf(page, heading).flatMap((cells) => {
        const pairs = heading === 'Trees' ? [cells.slice(0, 2), cells.slice(2, 4)] : [cells];
        return pairs.map(([name = '', value = '']) =>
          [name.replaceAll('`', ''), value.replace(/ \(.*\)$/, '')] as const
        );
      }),
    );
  const numbers = (limits: object): (readonly [string, string])[] =>
    Object.entries(limits).flatMap(([name, value]) =>
      typeof value === 'number' ? [[name, value.toLocaleString('en-US')]] : []
    );

  it.each<[string, object]>([
    ['Runs', defaultLimits],
    ['Plans', defaultPlanLimits],
    ['Trees', defaultTreeLimits],
    ['Endpoints', {
      ...Object.fromEntries(Object.entries(defaultBodyLimits).map(([name, value]) => [`bodies.${name}`, value])),
      ...Object.fromEntries(Object.entries(defaultQuotas).map(([name, value]) => [`quotas.${name}`, value])),
      startObjectiveMs: defaultStartObjectiveMs,
      maxBodyBytes: usualBodyBytes,
      'observers of a tenant': observerLimits.runsPerTenant,
      observers: observerLimits.runs,
    }],
    ['Chats, files and messages', {
      'context window, in tokens': defaultContextTokens,
      'files of a message': maxFiles,
      'waiting messages of a run': maxWaiting,
      'length of such a message': maxMessageLength,
      'items of a page of a list': defaultLimit,
      'the most items of a page': maxLimit,
    }],
  ])('stand in the guide with their defaults: %s', (heading, limits) => {
    const defaults = defaultsOf(heading);
    expect(numbers(limits).length).toBeGreaterThan(5);
    for (const [name, value] of numbers(limits)) expect(defaults.get(name), name).toBe(value);
  });

  it('without a number stand in the guide too', () => {
    expect(defaultsOf('Runs').get('callsPerMinute')).toBe('none');
    expect(defaultsOf('Runs').get('outputTokens')).toBe('none');
    const { tokens, cost } = defaultPlanLimits.reserve;
    expect(defaultsOf('Plans').get('reserve')).toBe(`${tokens.toLocaleString('en-US')} tokens, cost ${cost}`);
    expect(defaultsOf('Plans').get('providers')).toBe(
      Object.keys(defaultPlanLimits.providers).length === 0 ? 'none' : '',
    );
    expect(page).toContain(largeBodyBytes.toLocaleString('en-US'));
  });
});
