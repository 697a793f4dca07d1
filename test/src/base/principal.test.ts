import { describe, expect, it } from 'vitest';
import { createPrincipal, type Principal } from '../../../src/base/principal.ts';

const facts: Principal = { via: 'http', tenant: 'acme', subject: 'ada', agents: '*', scopes: ['run:create'] };

const noNames = [
  '',
  'undefined',
  'null',
  'NaN',
  '[object Object]',
  'a\u0000',
  'a\nb',
  '\u007f',
  '\u0085',
  '\ud800',
  'x'.repeat(257),
];
const noTexts: readonly unknown[] = [undefined, null, 7, {}, ['ada']];

describe('createPrincipal', () => {
  it.each(['tenant', 'subject', 'actor', 'roles'] as const)('refuses what is no name as %s', (field) => {
    for (const wrong of [...noNames, ...noTexts]) {
      if (field === 'actor' && wrong === undefined) continue;
      const given = { ...facts, [field]: field === 'roles' ? ['finance', wrong] : wrong } as Principal; // wrong on purpose
      expect(() => createPrincipal(given), JSON.stringify(wrong)).toThrow(
        expect.objectContaining({
          code: 'unauthenticated',
          status: 401,
          details: { reason: 'invalid_principal', field },
        }),
      );
    }
  });

  it.each<[field: 'agents' | 'scopes', wrong: unknown]>([
    ['agents', 'helper-admin'],
    ['agents', undefined],
    ['scopes', 'openid sysadmin'],
    ['scopes', undefined],
  ])('refuses %s that are no list, such as %j: a text has a part of many names', (field, wrong) => {
    expect(() => createPrincipal({ ...facts, [field]: wrong })).toThrow(
      expect.objectContaining({ status: 401, details: { reason: 'invalid_principal', field } }),
    );
  });

  it.each(['a', 'x'.repeat(256), 'group:42', 'Ünï@example.com', 'Undefined', '__proto__', 'a b', '0'])(
    'accepts %j',
    (name) => {
      const given = { ...facts, tenant: name, subject: name, actor: name, roles: [name] };
      expect(createPrincipal(given)).toEqual(given);
    },
  );

  it('cannot be changed by a list of roles that its caller keeps', () => {
    const roles = ['reader'];
    const principal = createPrincipal({ ...facts, roles });
    roles.push('finance');
    expect(principal.roles).toEqual(['reader']);
    expect(() => (principal.roles as string[]).push('finance')).toThrow(TypeError);
  });
});
