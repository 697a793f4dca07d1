import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isIpv4, isPublicAddress } from '../../../../src/base/network.ts';
import { runs } from '../../../fixtures/budget.ts';

const number = (ip: string): number => ip.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
const dotted = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

describe('isPublicAddress', () => {
  it.each([
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['168.63.129.16', '168.63.129.16'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
  ])('refuses %s to %s and takes their neighbours', (first, last) => {
    expect([first, last].map(isPublicAddress)).toEqual([false, false]);
    expect(isPublicAddress(dotted(number(last) + 1))).toBe(true);
    expect(isPublicAddress(dotted(number(first) - 1))).toBe(first !== '0.0.0.0');
  });

  it.each([
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:8.8.8.8',
    '::8.8.8.8',
    '64:ff9b::808:808',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '100::1',
    '2001::1',
    '2001:1ff:ffff::1',
    '2001:db8:1::1',
    '2002:808:808::1',
    '3fff:fff::1',
    '4000::1',
    '1fff:ffff::1',
  ])('refuses %s', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it.each(['8.8.8.8', '2000::1', '2001:200::1', '2606:4700:4700::1111', '2A00:1450::8.8.8.8', '3fff:1000::1'])(
    'takes %s',
    (ip) => {
      expect(isPublicAddress(ip)).toBe(true);
    },
  );

  it.each([
    '',
    'example.com',
    '8.8.8',
    '8.8.8.08',
    '8.8.8.256',
    '8.8.8.8.8',
    '8.8.8.8 ',
    '2001:200:::1',
    '2001:200::1::',
    '2001:200:1',
    '2001:200:1:2:3:4:5:6:7',
    '2001:200:1:2:3:4:5:6::',
    '2001:20000::1',
    '[2001:200::1]',
    '2001:200::8.8.8',
  ])('takes %j for no address', (ip) => {
    expect(isPublicAddress(ip)).toBe(false);
  });

  it('takes nothing outside 2000::/3, however it is written', () => {
    const outside = fc.ipV6().filter((ip) => !/^[23][0-9a-f]{3}:/i.test(ip));
    fc.assert(
      fc.property(outside, (ip) => {
        expect(isPublicAddress(ip)).toBe(false);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('answers for a group of zeros left out as for one written', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 }), (groups) => {
        const written = groups.map((group) => group.toString(16)).join(':');
        const url = new URL(`http://[${written}]/`).hostname.slice(1, -1);
        expect(isPublicAddress(url)).toBe(isPublicAddress(written));
      }),
      { numRuns: runs(1000) },
    );
  });
});

describe('isIpv4', () => {
  it('takes only the canonical form', () => {
    expect(['1.2.3.4', '01.2.3.4', '1.2.3', '0x1.2.3.4', '::1'].map(isIpv4)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
