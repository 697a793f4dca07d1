import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRules, type RuleInput } from '../../../src/permission/rules.ts';
import { PinnaceError } from '../../../src/base/errors.ts';
import type { Authorization, CallContextFacts } from '../../../src/contracts/authenticator.ts';
import { createPrincipal, type Principal, type Scope } from '../../../src/base/principal.ts';
import { runs } from '../../fixtures/budget.ts';
import { randomNumbers } from '../../fixtures/chance/random.ts';

interface Question {
  readonly action?: string;
  readonly scopes?: readonly Scope[];
  readonly tenant?: string;
  readonly subject?: string;
  readonly agentId?: string;
  readonly tool?: string;
  readonly resourceTenant?: string;
  readonly input?: unknown;
}

const principalOf = ({ scopes = [], tenant = 'acme', subject = 'ada' }: Question): Principal =>
  createPrincipal({ via: 'in-process', tenant, subject, agents: '*', scopes });

async function ask(authorize: ReturnType<typeof createRules>, question: Question = {}): Promise<Authorization> {
  const { action = 'tool.call', agentId, tool = 'search', resourceTenant, input = {} } = question;
  const context = { input, ...(agentId !== undefined && { agentId }) };
  return await authorize(action, principalOf(question), {
    type: 'tool',
    id: tool,
    ...(resourceTenant !== undefined && { tenant: resourceTenant }),
  }, context);
}

async function decide(rules: readonly RuleInput[], question?: Question): Promise<string> {
  return (await ask(createRules(rules), question)).decision;
}

const all: RuleInput = { effect: 'allow', actions: ['*'] };

function refusalOf(rules: readonly unknown[]): PinnaceError {
  try {
    createRules(rules as RuleInput[]); // what a caller without types may give
  } catch (error) {
    if (error instanceof PinnaceError) return error;
  }
  throw new Error('The rules were taken');
}

describe('createRules', () => {
  it('denies an action that no rule matches, unless the options say otherwise', async () => {
    expect(await ask(createRules([]))).toEqual({ decision: 'deny', reason: 'no rule allows it' });
    expect(await ask(createRules([], { otherwise: 'allow' }))).toEqual({ decision: 'allow' });
  });

  it('prefers deny over ask and ask over allow, in any order', async () => {
    const rules: RuleInput[] = [all, { effect: 'ask', actions: ['tool.*'] }, {
      effect: 'deny',
      actions: ['tool.call'],
    }];
    for (const order of [rules, rules.toReversed()]) {
      expect(await decide(order)).toBe('deny');
      expect(await decide(order, { action: 'tool.look' })).toBe('ask');
      expect(await decide(order, { action: 'registry.update' })).toBe('allow');
    }
  });

  it('names the rule that decided, by its id or its place', async () => {
    const authorize = createRules([
      { ...all, actions: ['registry.*'] },
      { id: 'no-export', effect: 'deny', actions: ['tool.call'], reason: 'data stays here' },
    ]);
    expect(await ask(authorize)).toEqual({ decision: 'deny', reason: 'rule "no-export": data stays here' });
    expect(await ask(authorize, { action: 'registry.update' })).toEqual({ decision: 'allow', reason: 'rule "0"' });
  });

  it.each<[name: string, rule: Partial<RuleInput>, matching: Question, other: Question]>([
    ['actions', { actions: ['tool.call'] }, {}, { action: 'tool.calls' }],
    ['beginnings of actions', { actions: ['registry.*'] }, { action: 'registry.update' }, { action: 'registry' }],
    ['tenants', { tenants: ['acme'] }, {}, { tenant: 'other' }],
    ['subjects', { subjects: ['ada'] }, {}, { subject: 'bob' }],
    ['scopes', { scopes: ['admin', 'run:read'] }, { scopes: ['run:read'] }, { scopes: ['run:create'] }],
    ['agents', { agents: ['support*'] }, { agentId: 'support-2' }, { agentId: 'sales' }],
    ['agents, where there is none', { agents: ['support*'] }, { agentId: 'support' }, {}],
    ['tenants of resources', { resourceTenants: ['acme'] }, { resourceTenant: 'acme' }, { resourceTenant: 'acme-2' }],
    ['tenants of resources, where it is shared', { resourceTenants: ['*'] }, { resourceTenant: 'acme' }, {}],
    ['resources', { resources: ['tool:crm_*'] }, { tool: 'crm_find' }, { tool: 'crm' }],
  ])('asks for %s', async (_, rule, matching, other) => {
    expect(await decide([{ ...all, ...rule }], matching)).toBe('allow');
    expect(await decide([{ ...all, ...rule }], other)).toBe('deny');
  });

  it('asks for roles, which the host knows', async () => {
    const rolesOf = ({ subject }: Principal): string[] => subject === 'ada' ? ['clerk'] : [];
    const authorize = createRules([{ ...all, roles: ['clerk'] }], { rolesOf });
    expect((await ask(authorize)).decision).toBe('allow');
    expect((await ask(authorize, { subject: 'bob' })).decision).toBe('deny');
    expect(await decide([{ ...all, roles: ['clerk'] }])).toBe('deny');
  });

  it.each<[condition: NonNullable<RuleInput['when']>[number], holds: unknown, fails: unknown]>([
    [{ at: '/to', equals: 'ada' }, { to: 'ada' }, { to: 'bob' }],
    [{ at: '/to', in: ['ada', 'eve'] }, { to: 'eve' }, { to: 'bob' }],
    [{ at: '/to', prefix: 'a' }, { to: 'ada' }, { to: 'bob' }],
    [{ at: '/to', matches: '[a-z]+@example\\.com|root' }, { to: 'ada@example.com' }, { to: 'a@example.com.evil' }],
    [{ at: '/to', matches: 'a|b' }, { to: 'b' }, { to: 'ab' }],
    [{ at: '/n', lt: 5 }, { n: 4 }, { n: 5 }],
    [{ at: '/n', lte: 5 }, { n: 5 }, { n: 6 }],
    [{ at: '/n', gt: 5 }, { n: 6 }, { n: 5 }],
    [{ at: '/n', gte: 5 }, { n: 5 }, { n: 4 }],
    [{ at: '/list/1/a~1b~0', equals: true }, { list: [0, { 'a/b~': true }] }, { list: [0, { 'a/b~': false }] }],
    [{ at: '', equals: 'whole' }, 'whole', 'other'],
    [{ at: '/n', gt: 5, optional: true }, { n: 6 }, {}],
  ])('judges the input by %j', async (condition, holds, fails) => {
    const allow: RuleInput = { ...all, when: [condition] };
    const deny: RuleInput = { ...all, effect: 'deny', when: [condition] };
    expect(await decide([allow], { input: holds })).toBe('allow');
    expect(await decide([allow], { input: fails })).toBe('deny');
    expect(await decide([all, deny], { input: holds })).toBe('deny');
    expect(await decide([all, deny], { input: fails })).toBe('allow');
  });

  it.each<[condition: NonNullable<RuleInput['when']>[number], input: unknown]>([
    [{ at: '/n', gt: 5 }, { n: '6' }],
    [{ at: '/n', gt: 5 }, { n: Number.NaN }],
    [{ at: '/n', gt: 5 }, { n: null }],
    [{ at: '/n', gt: 5 }, { n: [6] }],
    [{ at: '/n', gt: 5 }, {}],
    [{ at: '/n', gt: 5 }, undefined],
    [{ at: '/to', equals: 'prod' }, { to: ['prod'] }],
    [{ at: '/to', in: ['prod'] }, { to: { 0: 'prod' } }],
    [{ at: '/to', prefix: 'p' }, { to: 1 }],
    [{ at: '/to', matches: 'p.*' }, { to: true }],
    [{ at: '/length', gt: 0 }, ['a']],
    [{ at: '/constructor', equals: 'a' }, {}],
    [{ at: '/01', gt: 0 }, [1, 2]],
  ])('denies what %j cannot judge: %j', async (condition, input) => {
    const deny: RuleInput = { id: 'check', effect: 'deny', actions: ['*'], when: [condition] };
    expect(await ask(createRules([all, deny]), { input })).toEqual({
      decision: 'deny',
      reason: 'rule "check" cannot judge this input',
    });
    expect(await decide([all, { ...deny, effect: 'allow' }], { input })).toBe('deny');
  });

  it('takes time in proportion to a text, whatever the pattern', async () => {
    const rule: RuleInput = { ...all, when: [{ at: '', matches: '(a*)*b' }] };
    expect(await decide([rule], { input: 'a'.repeat(20_000) })).toBe('deny'); // for ever, if it went back
  });

  it.each<[what: string, rule: unknown, message: string]>([
    ['no effect', { actions: ['*'] }, 'Cannot read rule 1: "effect" is missing'],
    ['no actions', { effect: 'deny', actions: [] }, 'Cannot read rule 1: "actions" must be at least 1 long'],
    ['an unknown field', { ...all, tool: 'x' }, 'Cannot read rule 1: "tool" is not known here'],
    ['a star within', { ...all, actions: ['a*b'] }, 'Cannot read rule 1: "actions.0" must have "*" at its end alone'],
    [
      'two operators',
      { ...all, when: [{ at: '/n', gt: 1, lt: 3 }] },
      'Cannot read rule 1: "when.0" must have one of equals, in, prefix, matches, lt, lte, gt, gte',
    ],
    [
      'no pointer',
      { ...all, when: [{ at: 'n', gt: 1 }] },
      'Cannot read rule 1: "when.0.at" must be a JSON Pointer, as "/amount"',
    ],
    [
      'a pattern that is two in parentheses',
      { ...all, when: [{ at: '', matches: 'a)|(b' }] },
      'Cannot read rule 1: "when.0.matches" must be a pattern of characters, classes, groups, "|", "*", "+", "?" and "{m,n}"',
    ],
    [
      'a pattern that looks back',
      { ...all, when: [{ at: '', matches: '(a)\\1' }] },
      'Cannot read rule 1: "when.0.matches" must be a pattern of characters, classes, groups, "|", "*", "+", "?" and "{m,n}"',
    ],
  ])('refuses a rule with %s, and names it', (_, rule, message) => {
    const refusal = refusalOf([all, rule]);
    expect(refusal.message).toBe(message);
    expect(refusal).toMatchObject({ code: 'invalid_argument', details: { rule: 1 } });
  });

  it('refuses two rules with one id', () => {
    expect(refusalOf([{ ...all, id: 'a' }, { ...all, id: 'a' }]).message).toBe(
      'Cannot use rule 1: another has the id "a"',
    );
  });

  it('never allows what no rule allows, and never what one denies', async () => {
    const word = fc.constantFrom('a', 'b', 'ab');
    const names = fc.array(fc.oneof(word, word.map((text) => `${text}*`), fc.constant('*')), { minLength: 1 });
    const condition = fc.oneof(
      fc.record({ at: fc.constantFrom('/n', '/s'), gt: fc.integer({ min: -2, max: 2 }) }),
      fc.record({ at: fc.constantFrom('/n', '/s'), equals: fc.constantFrom('x', 1) }),
    );
    const rule = fc.record({
      effect: fc.constantFrom('allow', 'deny', 'ask'),
      actions: names,
      resources: names.map((given) => given.map((name) => `tool:${name}`)),
      when: fc.array(condition, { maxLength: 2 }),
    });
    const input = fc.record({ n: fc.oneof(fc.integer({ min: -2, max: 2 }), word), s: fc.constantFrom('x', 'y') });
    const question = fc.record({ action: word, tool: word, input });
    await fc.assert(
      fc.asyncProperty(fc.array(rule, { maxLength: 6 }), question, async (rules, asked) => {
        const decision = await decide(rules, asked);
        const about = rules.filter(({ actions, resources }) =>
          isNamed(asked.action, actions) && isNamed(`tool:${asked.tool}`, resources)
        );
        const held = about.filter(({ when }) => when.every((one) => isMet(one, asked.input)));
        const isJudged = about.every(({ when }) => when.every((one) => fits(one, asked.input)));
        const effects = new Set(held.map(({ effect }) => effect));
        const wanted = ['deny', 'ask', 'allow'].find((effect) => effects.has(effect as RuleInput['effect'])) ?? 'deny'; // safe: as generated
        expect(decision).toBe(isJudged ? wanted : 'deny');
      }),
      { numRuns: runs(500) },
    );
  });
});

type Simple = { readonly at: string } & ({ readonly gt: number } | { readonly equals: string | number });

/** The rules once more, as plainly as they can be said. */
function isNamed(text: string, names: readonly string[]): boolean {
  return names.some((name) => new RegExp(`^${name.replace('*', '.*')}$`).test(text));
}

function valueOf({ at }: Simple, input: { readonly n: unknown; readonly s: unknown }): unknown {
  return at === '/n' ? input.n : input.s;
}

function fits(condition: Simple, input: { readonly n: unknown; readonly s: unknown }): boolean {
  return typeof valueOf(condition, input) === ('gt' in condition ? 'number' : typeof condition.equals);
}

function isMet(condition: Simple, input: { readonly n: unknown; readonly s: unknown }): boolean {
  const value = valueOf(condition, input);
  return 'gt' in condition ? typeof value === 'number' && value > condition.gt : value === condition.equals;
}

describe('rules that ask together', () => {
  const when = [{ at: '/amount', gt: 100 }] as const;
  const asks = (rule: Partial<RuleInput>): RuleInput => ({ effect: 'ask', actions: ['tool.call'], ...rule });

  it('set the shortest time, and forbid edits where one of them does', async () => {
    const rules = [all, asks({ withinMs: 5000 }), asks({ withinMs: 3000 }), asks({ edit: false })];
    for (const order of [rules, rules.toReversed()]) {
      expect(await ask(createRules(order))).toMatchObject({ decision: 'ask', withinMs: 3000, edit: false });
    }
  });

  it('count only where they hold, and add nothing that none of them names', async () => {
    const strict = asks({ when: [...when], withinMs: 1000, edit: false, fourEyes: true, approvers: ['role:b'] });
    const authorize = createRules([asks({ approvers: ['role:a', 'role:b'] }), strict]);
    expect(await ask(authorize, { input: { amount: 1 } })).toEqual({
      decision: 'ask',
      reason: 'rule "0"',
      approvers: ['role:a', 'role:b'],
    });
    expect(await ask(authorize, { input: { amount: 101 } })).toMatchObject({
      approvers: ['role:b'],
      fourEyes: true,
      withinMs: 1000,
      edit: false,
    });
  });

  it('deny what one condition cannot judge, also where another one fails', async () => {
    const rule = { ...all, when: [...when, { at: '/to', equals: 'ada' }] };
    const decisionOn = (input: unknown): Promise<string> => decide([rule, all], { input });
    expect(await decisionOn({ amount: 1, to: 'bob' })).toBe('allow');
    expect(await decisionOn({ amount: '101', to: 'bob' })).toBe('deny');
    expect(await decisionOn({ amount: 1, to: 7 })).toBe('deny');
  });
});

describe('rules on facts', () => {
  const sources = ['mcp:mail', 'tool:web', 'file:a1', 'data-source:docs', '*'];
  const order = { allow: 0, ask: 1, deny: 2 } as const;

  /** A random rule for `ask` or `deny`, or one that allows. */
  function randomRule(random: () => number): RuleInput {
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const maybe = <T extends object>(field: T): T | object => random() < 0.4 ? field : {};
    const effect = pick(['allow', 'ask', 'deny'] as const);
    const names = [pick(['untrusted', 'private', 'mcp:*', 'tool:web'])];
    const at = pick(['destinations', '*', '/to']);
    return {
      effect,
      actions: ['tool.call'],
      ...maybe({ acts: random() < 0.5 }),
      ...maybe({ called: [pick(['search', 'web_*'])] }),
      ...maybe(effect === 'allow' ? { leaks: false } : { leaks: true }),
      ...(effect !== 'allow' && {
        ...maybe({ read: names }),
        ...maybe({ from: [{ at, sources: [pick(['*', 'mcp:*', 'file:a1'])], narrow: random() < 0.3 }] }),
      }),
    };
  }

  function factsOf(from: readonly string[], more: Partial<CallContextFacts> = {}): CallContextFacts {
    const label = { from, readers: 'tenant' } as const;
    return {
      ...label,
      read: from,
      calls: {},
      args: from.length > 0 ? { '/to': label } : {},
      acts: true,
      leaks: false,
      destinations: ['/to'],
      planned: false,
      ...more,
    };
  }

  it('never ask less because a source was added, or because more leaks', async () => {
    for (let seed = 0; seed < 1000; seed++) {
      const random = randomNumbers(seed);
      const rules = Array.from({ length: 4 }, () => randomRule(random));
      const otherwise = random() < 0.5 ? 'allow' : 'deny';
      const authorize = createRules(rules, { otherwise });
      const some = sources.slice(0, 4).filter(() => random() < 0.5);
      const more = sources.filter((source) => some.includes(source) || random() < 0.5);
      const leaks = random() < 0.5;
      const ruling = async (facts: CallContextFacts) =>
        order[
          (await authorize('tool.call', principalOf({}), { type: 'tool', id: 'send' }, { input: { to: 'x' }, facts }))
            .decision
        ];
      const acts = random() < 0.5;
      const before = await ruling(factsOf(some, { leaks, acts }));
      const after = await ruling(factsOf(more, { leaks: leaks || random() < 0.5, acts }));
      // What no rule allows may become a question, and nothing becomes allowed.
      expect(after, `seed ${seed}`).toBeGreaterThanOrEqual(
        otherwise === 'allow' ? before : Math.min(before, order.ask),
      );
    }
  });

  it.each([
    [{ effect: 'allow', actions: ['tool.call'], read: ['mcp:*'] }, '"read" and "from" are for "ask" and "deny"'],
    [{ effect: 'allow', actions: ['tool.call'], from: [{ at: '*', sources: ['*'] }] }, '"read" and "from" are for'],
    [{ effect: 'allow', actions: ['tool.call'], leaks: true }, '"leaks" must be false for "allow"'],
    [{ effect: 'deny', actions: ['tool.call'], leaks: false }, '"leaks" must be true for "ask" and "deny"'],
    [
      { effect: 'deny', actions: ['tool.call'], from: [{ at: 'to', sources: ['*'] }] },
      'must be "destinations", "*" or a JSON Pointer',
    ],
  ])('refuse %j', (rule, message) => expect(refusalOf([rule]).message).toContain(message));

  it('deny a call whose facts are not known, and are silent on other actions', async () => {
    const rule: RuleInput = { effect: 'ask', actions: ['*'], read: ['untrusted'] };
    expect(await ask(createRules([rule, all]))).toMatchObject({ decision: 'deny' });
    expect(await decide([rule, all], { action: 'registry.update' })).toBe('allow');
  });

  it('let a narrow value pass where they say so', async () => {
    const label = { from: ['mcp:mail'], readers: 'tenant', narrow: true } as const;
    const facts = factsOf(['mcp:mail'], { args: { '/to': label } });
    for (const [narrow, expected] of [[false, 'ask'], [true, 'allow']] as const) {
      const from = [{ at: 'destinations', sources: ['*'], narrow }];
      const authorize = createRules([{ effect: 'ask', actions: ['tool.call'], from }, all]);
      const { decision } = await authorize('tool.call', principalOf({}), { type: 'tool', id: 'send' }, {
        input: {},
        facts,
      });
      expect(decision).toBe(expected);
    }
  });

  describe('look at', () => {
    const label = (...from: string[]) => ({ from, readers: 'tenant' }) as const;
    const decisionOn = async (rule: Partial<RuleInput>, input: unknown, facts: CallContextFacts): Promise<string> => {
      const authorize = createRules([{ effect: 'ask', actions: ['tool.call'], ...rule }, all]);
      return (await authorize('tool.call', principalOf({}), { type: 'tool', id: 'send' }, { input, facts })).decision;
    };

    it.each<[string, Partial<RuleInput>, Partial<CallContextFacts>, Partial<CallContextFacts>]>([
      ['private data', { read: ['private'] }, { readers: 'principal' }, { readers: 'tenant' }],
      ['any stranger', { read: ['untrusted'] }, { read: ['tool:web'] }, { read: [] }],
      ['one source', { read: ['mcp:mail'] }, { read: ['tool:web', 'mcp:mail'] }, { read: ['tool:web'] }],
      ['who has spoken, where that may be anybody', { read: ['mcp:mail'] }, { read: ['*'] }, { read: [] }],
      ['calls', { called: ['web_*'] }, { calls: { web_get: 1 } }, { calls: { search: 1 } }],
      ['what acts', { acts: true }, { acts: true }, { acts: false }],
      ['what leaks', { leaks: true }, { leaks: true }, { leaks: false }],
    ])('%s', async (_, rule, holds, fails) => {
      expect(await decisionOn(rule, {}, factsOf([], holds))).toBe('ask');
      expect(await decisionOn(rule, {}, factsOf([], fails))).toBe('allow');
    });

    it('all arguments, the destinations, or the one that they name', async () => {
      const input = { to: 'x', cc: ['y'], body: 'z' };
      const inBody = factsOf([], { args: { '/body': label('mcp:mail') }, destinations: ['/to', '/cc'] });
      const inCopy = factsOf([], {
        args: { '/cc/0': label('mcp:mail'), '/body': label('tool:web') },
        destinations: ['/to', '/cc'],
      });
      const from = (at: string, source = 'mcp:mail') => ({ from: [{ at, sources: [source] }] });
      expect(await decisionOn(from('*'), input, inBody)).toBe('ask');
      expect(await decisionOn(from('*', 'tool:web'), input, inBody)).toBe('allow');
      expect(await decisionOn(from('destinations'), input, inBody)).toBe('allow');
      expect(await decisionOn(from('destinations'), input, inCopy)).toBe('ask');
      expect(await decisionOn(from('destinations', 'tool:web'), input, inCopy)).toBe('allow');
      expect(await decisionOn(from('/body'), input, inBody)).toBe('ask');
      expect(await decisionOn(from('/cc'), input, inCopy)).toBe('ask'); // a part of it
      expect(await decisionOn(from('/to'), input, inCopy)).toBe('allow');
    });

    it('an argument that is there: one that is not cannot be judged', async () => {
      const rule = { from: [{ at: '/to', sources: ['mcp:mail'] }, { at: '/cc', sources: ['mcp:mail'] }] };
      expect(await decisionOn(rule, { to: 'x', cc: 'y' }, factsOf([]))).toBe('allow');
      expect(await decisionOn(rule, { to: 'x' }, factsOf([]))).toBe('deny');
    });
  });
});
