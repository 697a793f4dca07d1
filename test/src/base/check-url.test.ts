import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkUrl } from '../../../src/base/check-url.ts';
import cases from '../../fixtures/vectors/ssrf-cases.json' with { type: 'json' };
import { runs } from '../../fixtures/budget.ts';

const both = { schemes: ['http', 'https'] };
const reasonOf = (url: string, policy?: Parameters<typeof checkUrl>[1]): string => {
  const check = checkUrl(url, policy);
  return check.ok ? 'ok' : check.reason;
};

describe('checkUrl', () => {
  it.each(cases.refuse)('refuses $id: $why', ({ url }) => {
    expect(checkUrl(url, both).ok).toBe(false);
    expect(checkUrl(url).ok).toBe(false);
  });

  it.each(cases.allow)('allows $id: $why', ({ url }) => {
    expect(checkUrl(url, both)).toEqual({ ok: true, url: new URL(url) });
  });

  it.each([
    [`https://example.com/${'a'.repeat(2048)}`, 'too_long'],
    ['https://example.com/a\u200Bb', 'forbidden_character'],
    ['https://example.com/\uD800', 'forbidden_character'],
    ['http://example.com/', 'scheme_not_allowed'],
    ['https:///example.com/', 'scheme_not_allowed'],
    ['ftp://example.com/', 'scheme_not_allowed'],
    ['https://u:p@example.com/', 'credentials_or_escapes_in_authority'],
    ['https://[fe80::1%25eth0]/', 'credentials_or_escapes_in_authority'],
    ['https://[::1/', 'not_a_url'],
    ['https://example.com:8443/', 'port_not_allowed'],
    ['https://2130706433/', 'address_not_canonical'],
    ['https://127.0.0.1/', 'address_not_public'],
    ['https://[::1]/', 'address_not_public'],
    ['https://example_1.com/', 'host_not_public'],
    ['https://x.metadata.goog/', 'host_not_public'],
  ])('names the rule that refuses %j', (url, reason) => {
    expect(reasonOf(url)).toBe(reason);
  });

  it('lets only listed origins through, one of them with a port of its own', () => {
    const origins = ['https://api.example.com', 'https://api.example.com:8443'];
    expect(reasonOf('https://api.example.com/v1', { origins })).toBe('ok');
    expect(reasonOf('https://API.example.com:443/v1', { origins })).toBe('ok');
    expect(reasonOf('https://api.example.com:8443/v1', { origins })).toBe('ok');
    expect(reasonOf('https://api.example.com:9443/v1', { origins })).toBe('origin_not_listed');
    expect(reasonOf('https://example.com/v1', { origins })).toBe('origin_not_listed');
    expect(reasonOf('https://api.example.com.evil.net/', { origins })).toBe('origin_not_listed');
    expect(reasonOf('https://example.com/', { origins: [] })).toBe('origin_not_listed');
  });

  it('takes no host for public because it is listed, and no scheme for allowed', () => {
    expect(reasonOf('https://localhost:8443/', { origins: ['https://localhost:8443'] })).toBe('host_not_public');
    expect(reasonOf('https://10.0.0.1/', { origins: ['https://10.0.0.1'] })).toBe('address_not_public');
    expect(reasonOf('http://example.com/', { origins: ['http://example.com'] })).toBe('scheme_not_allowed');
  });

  it('never lets another scheme through than http and https', () => {
    expect(reasonOf('file:///etc/passwd', { schemes: ['file'] })).toBe('scheme_not_allowed');
  });

  it('never throws, whatever the text, and what it allows it allows again', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.tuple(fc.constantFrom('http://', 'https://', 'HTTPS:'), fc.string({ unit: 'binary' })).map((two) =>
        two.join('')
      ),
    );
    fc.assert(
      fc.property(text, (url) => {
        const check = checkUrl(url, both);
        const again = check.ok ? checkUrl(check.url, both) : check;
        expect(again.ok).toBe(check.ok);
      }),
      { numRuns: runs(500) },
    );
  });

  it('refuses a private address in every way of writing it', () => {
    const spellings = [spell(10), spell(8, '0'), spell(16, '0x'), asOne(10), asOne(8, '0'), asOne(16, '0x')];
    const address = fc.tuple(fc.constantFrom(10, 127), fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(address, fc.constantFrom(...spellings), (octets, write) => {
        expect(checkUrl(`http://${write(octets)}/`, both).ok).toBe(false);
        expect(checkUrl(`http://[::ffff:${octets.join('.')}]/`, both).ok).toBe(false);
      }),
      { numRuns: runs(1000) },
    );
  });
});

type Write = (octets: readonly number[]) => string;

function spell(radix: number, prefix = ''): Write {
  return (octets) => octets.map((octet) => prefix + octet.toString(radix)).join('.');
}

function asOne(radix: number, prefix = ''): Write {
  return (octets) => prefix + octets.reduce((sum, octet) => sum * 256 + octet, 0).toString(radix);
}
