import { describe, expect, it } from 'vitest';
import { checkEgressList, isEgressEntry, isWithinEgress, narrowEgress } from '../../../src/base/origins.ts';

describe('isEgressEntry', () => {
  it.each([
    'https://api.example.com',
    'https://api.example.com:8443',
    'http://127.0.0.1:3001',
    'http://localhost:11434',
    'https://xn--bcher-kva.example.org',
    'https://*.example.com',
    'https://*.eu.example.co.uk',
  ])('takes %s', (entry) => expect(isEgressEntry(entry)).toBe(true));

  it.each([
    '*',
    'any',
    '',
    'https://*',
    'https://*.',
    'https://*.com',
    'https://*.co.uk',
    'https://*.github.io',
    'https://*.workers.dev',
    'https://*.1.2.3.4',
    'https://*.localhost',
    'https://*.example.com:8443',
    'https://*.example.com/path',
    'https://*.*.example.com',
    'https://a.*.example.com',
    'https://*example.com',
    'http://*.example.com',
    '*.example.com',
    'api.example.com',
    'https://api.example.com/',
    'https://api.example.com/v1',
    'https://api.example.com?x',
    'https://API.example.com',
    'https://api.example.com.',
    'https://user@api.example.com',
    'https://bücher.example.org',
    'https://api.example.com:443',
    'ftp://example.com',
    'data:text/plain,x',
    'https:// example.com',
  ])('refuses %j', (entry) => expect(isEgressEntry(entry)).toBe(false));
});

describe('isWithinEgress', () => {
  const list = ['https://api.example.com', 'https://*.docs.example.com'];

  it.each([
    ['https://api.example.com/a?b=c', true],
    ['https://en.docs.example.com/', true],
    ['https://a.b.docs.example.com/', true],
    ['https://docs.example.com/', false],
    ['https://api.example.com:8443/', false],
    ['http://api.example.com/', false],
    ['https://api.example.com.evil.net/', false],
    ['https://evildocs.example.com/', false],
    ['https://en.docs.example.com./', false],
    ['https://en.docs.example.com:8443/', false],
    ['http://en.docs.example.com/', false],
    ['https://api.example.com@evil.net/', false],
  ])('judges %s: %s', (url, expected) => expect(isWithinEgress(new URL(url), list)).toBe(expected));

  it('allows everything without a list, and nothing with an empty one', () => {
    expect(isWithinEgress(new URL('https://a.example.com'), undefined)).toBe(true);
    expect(isWithinEgress(new URL('https://a.example.com'), [])).toBe(false);
  });
});

describe('narrowEgress', () => {
  it('returns what both lists allow, in any order of the two', () => {
    const wide = ['https://*.example.com', 'https://one.net', 'https://two.net'];
    const narrow = ['https://a.example.com', 'https://*.b.example.com', 'https://two.net', 'https://three.net'];
    const both = ['https://*.b.example.com', 'https://a.example.com', 'https://two.net'];
    expect([...narrowEgress(wide, narrow)!].toSorted()).toEqual(both);
    expect([...narrowEgress(narrow, wide)!].toSorted()).toEqual(both);
    expect(narrowEgress(['https://a.net'], ['https://b.net'])).toEqual([]);
    expect(narrowEgress(undefined, narrow)).toBe(narrow);
    expect(narrowEgress(narrow, undefined)).toBe(narrow);
    expect(narrowEgress(undefined, undefined)).toBeUndefined();
  });

  it('allows a URL exactly where both lists do', () => {
    const entries = [
      'https://*.example.com',
      'https://*.a.example.com',
      'https://a.example.com',
      'https://x.a.example.com',
    ];
    const urls = ['https://a.example.com', 'https://b.example.com', 'https://x.a.example.com', 'https://example.com']
      .map((url) => new URL(url));
    for (let one = 0; one < 16; one++) {
      for (let other = 0; other < 16; other++) {
        const [a, b] = [one, other].map((bits) => entries.filter((_, at) => bits & (1 << at)));
        for (const url of urls) {
          expect(isWithinEgress(url, narrowEgress(a, b))).toBe(isWithinEgress(url, a) && isWithinEgress(url, b));
        }
      }
    }
  });
});

describe('checkEgressList', () => {
  it.each([['any'], [[1]], [[undefined]], [['https://a.example.com', '*']], [{}], [null]])('refuses %j', (list) => {
    expect(() => checkEgressList(list, 'the list')).toThrow(
      expect.objectContaining({ code: 'invalid_argument', details: { reason: 'invalid_egress' } }),
    );
  });
});
