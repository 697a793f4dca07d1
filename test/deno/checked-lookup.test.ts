import { describe, expect, it } from 'vitest';
import { checkedLookup, type Lookup } from '../../adapters/egress/checked-lookup.ts';
import { isPublicAddress } from '../../src/base/network.ts';
import cases from '../fixtures/vectors/ssrf-cases.json' with { type: 'json' };

/** What a socket would be given: addresses, or the reason why it is not opened. */
function ask(lookup: Lookup, all: boolean): Promise<unknown> {
  return new Promise((resolve) => {
    lookup('public.example.net', { all }, (error, address) => {
      resolve(error === null ? address : (error as { details?: { reason?: unknown } }).details?.reason);
    });
  });
}

describe('checkedLookup', () => {
  it.each(cases.dns)('checks every address: $why', async ({ answers, expect: expected }) => {
    let asked = 0;
    const lookup = checkedLookup(() => Promise.resolve(answers[asked++] ?? []), isPublicAddress);
    const first = await ask(lookup, true);
    expect(asked).toBe(1); // what was checked is what the socket gets
    const given = (answers[0] ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    expect(first).toEqual(expected === 'refuse' ? 'address_not_public' : given);
    const second = answers[1] === undefined ? 'none' : await ask(lookup, true);
    expect(second).toBe(answers[1] === undefined ? 'none' : 'address_not_public');
  });

  it('gives one address where one is asked for', async () => {
    const lookup = checkedLookup(() => Promise.resolve(['93.184.216.34', '8.8.8.8']), isPublicAddress);
    expect(await ask(lookup, false)).toBe('93.184.216.34');
  });
});
