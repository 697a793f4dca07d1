import { describe, expect, it } from 'vitest';
import { createHttpTool, type HttpToolDefinition } from '../../../../src/tools/implement.ts';
import { needsApproval } from '../../../../src/tools/http-config.ts';
import { home, scriptedEgress } from '../../../fixtures/egress.ts';
import { definition, empty } from '../../../fixtures/tools/http-tool.ts';

describe('createHttpTool, defined', () => {
  const { egress } = scriptedEgress([empty]);
  const make = (config: object, rest: Partial<HttpToolDefinition> = {}) => () =>
    createHttpTool(definition(config, rest), { egress });

  it.each<[origin: string, config: object]>([
    ['https://localhost', { origin: 'https://localhost' }],
    ['https://10.0.0.1', { origin: 'https://10.0.0.1' }],
    ['http://127.0.0.1:8080', { origin: 'http://127.0.0.1:8080' }],
    ['https://stock.internal', { redirectOrigins: ['https://stock.internal'] }],
  ])('takes %s only where the composition lists it', (origin, config) => {
    expect(make(config)).toThrow(`pass privateOrigins: ["${origin}"]`);
    const listing = { ...egress, privateOrigins: [origin] };
    expect(createHttpTool(definition(config), { egress: listing }).definition.type).toBe('http');
    const others = { ...egress, privateOrigins: [`${origin}:1`, 'https://other.internal'] };
    expect(() => createHttpTool(definition(config), { egress: others })).toThrow('privateOrigins');
  });

  it.each([
    { origin: 'https://api.example.com/' },
    { origin: 'https://api.example.com/path' },
    { origin: 'https://{host}.example.com' },
    { origin: 'https://u:p@api.example.com' },
    { origin: 'ftp://api.example.com' },
    { method: 'TRACE' },
    { method: 'get' },
    { path: 'items' },
    { path: '/a?b=c' },
    { path: '/{{secret:canary}}' },
    { query: { key: '{{secret:canary}}' } },
    { headers: { 'x y': '1' } },
    { body: { fields: { 'a\nb': '1' } } },
    { retries: 99 },
    { unknown: 1 },
  ])('refuses the template %j', (config) => {
    expect(make(config)).toThrow('Cannot read the template of tool "call"');
  });

  it('refuses a secret that its definition does not list, and a schema that is none', () => {
    expect(make({ headers: { a: '{{secret:other}}' } })).toThrow(
      'Cannot define tool "call": its template uses the secret "other", which its "secrets" must list',
    );
    expect(make({}, { paramsSchema: { type: 'thing' } })).toThrow('Cannot use the JSON Schema');
  });

  it('is of type http', () => {
    expect(make({})().definition).toMatchObject({ id: 'call', name: 'call', type: 'http', config: { origin: home } });
  });
});

describe('needsApproval', () => {
  it.each(['GET', 'HEAD', 'OPTIONS'] as const)('lets a %s go', (method) => {
    expect(needsApproval({ method, autoApprove: false })).toBe(false);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'asks for a %s, unless the template says otherwise',
    (method) => {
      expect(needsApproval({ method, autoApprove: false })).toBe(true);
      expect(needsApproval({ method, autoApprove: true })).toBe(false);
    },
  );
});
