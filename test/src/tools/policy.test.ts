import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool, type Egress, type Sandbox, type Tool } from '../../../src/index.ts';
import { implement } from '../../../src/tools/implement.ts';
import { ToolDefinition } from '../../../src/base/schema.ts';
import { callTool } from '../../fixtures/tools/tool-call.ts';

let done = 0;
const egress: Egress = { fetch: async () => (done++, Response.json({})) };
const sandbox: Sandbox = { run: async () => done++ };
const handlers = { work: () => done++ };
const base = { id: 't', name: 't', description: 'Works', paramsSchema: { type: 'object' } };
const implemented = (definition: object): Tool =>
  implement(v.parse(ToolDefinition, { ...base, ...definition }), { egress, sandbox, handlers })!;
const http = (method: string, extra: object = {}) =>
  implemented({ type: 'http', config: { method, origin: 'https://api.example.com', path: '/x', ...extra } });
const local = (approval?: 'never' | 'mutating' | 'always', readOnlyHint?: boolean) =>
  defineTool({
    id: 't',
    description: 'Works',
    input: v.object({}),
    ...(approval && { approval }),
    ...(readOnlyHint !== undefined && { annotations: { readOnlyHint } }),
    execute: () => done++,
  });

/** Whether a call goes through: without an approval, with one; under a hook that allows, asks and denies. */
const table: readonly [string, Tool, 'free' | 'asks'][] = [
  ['a function tool', local(), 'free'],
  ['a function tool, approval never', local('never'), 'free'],
  ['a function tool, approval mutating', local('mutating'), 'asks'],
  ['a function tool, approval mutating, that says it only reads', local('mutating', true), 'free'],
  ['a function tool, approval always, that says it only reads', local('always', true), 'asks'],
  ...['GET', 'HEAD', 'OPTIONS'].map((
    method,
  ): [string, Tool, 'free'] => [`an HTTP tool, ${method}`, http(method), 'free']),
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map((
    method,
  ): [string, Tool, 'asks'] => [`an HTTP tool, ${method}`, http(method), 'asks']),
  ['an HTTP tool, POST, auto-approved', http('POST', { autoApprove: true }), 'free'],
  [
    'an HTTP tool, POST, whose definition claims to need none',
    implemented({
      type: 'http',
      approval: 'never',
      annotations: { readOnlyHint: true },
      config: { method: 'POST', origin: 'https://api.example.com', path: '/x' },
    }),
    'asks',
  ],
  ['a code tool', implemented({ type: 'code', config: { code: 'return 1' } }), 'free'],
  [
    'a code tool, approval always',
    implemented({ type: 'code', approval: 'always', config: { code: 'return 1' } }),
    'asks',
  ],
  ['a handled tool', implemented({ type: 'extension', config: { handler: 'work' } }), 'free'],
  [
    'a handled tool, approval mutating',
    implemented({ type: 'function', approval: 'mutating', config: { handler: 'work' } }),
    'asks',
  ],
];

const hooks = {
  allows: () => ({ decision: 'allow' as const }),
  asks: () => ({ decision: 'ask' as const, reason: 'Asked' }),
  denies: () => ({ decision: 'deny' as const, reason: 'Denied' }),
  fails: () => {
    throw new Error('hook');
  },
};

function expected(policy: 'free' | 'asks', hook: keyof typeof hooks, approved: boolean): string {
  if (hook === 'denies' || hook === 'fails') return 'forbidden'; // nobody is asked about a call that is forbidden
  return (policy === 'asks' || hook === 'asks') && !approved ? 'approval_required' : 'ok';
}

describe('the policy of tool calls', () => {
  const cases = table.flatMap(([name, tool, policy]) =>
    (Object.keys(hooks) as (keyof typeof hooks)[]).flatMap((hook) =>
      [false, true].map((approved) => ({
        name,
        tool,
        policy,
        hook,
        approved,
        outcome: expected(policy, hook, approved),
      }))
    )
  );

  it.each(cases)(
    '$name, $hook by the hook, approved: $approved -> $outcome',
    async ({ tool, hook, approved, outcome }) => {
      const before = done;
      const result = await callTool(tool, {}, { authorize: hooks[hook], approved });
      expect(result.ok ? 'ok' : result.error.code).toBe(outcome);
      expect(done - before).toBe(outcome === 'ok' ? 1 : 0);
    },
  );
});
