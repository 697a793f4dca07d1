/** What a call of a model costs by the prices in its provider's record. */

import { PinnaceError } from '../../base/errors.ts';
import { type Money } from '../../base/record-fields.ts';
import type { Provider } from '../../base/schema.ts';

/** The tokens of a call. */
export interface TokenCounts {
  /** All tokens of the prompt, with those below. */
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  /** All tokens of the answer, with its reasoning. */
  readonly output: number;
  readonly reasoning: number;
}

/** The prices of a model, complete. For a million tokens. */
export interface FullPrices {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly currency: string;
}

/** Returns the prices of a record that names both of them and their currency; tokens of a cache cost as others where it names no price. */
export function fullPrices(prices: Provider['prices']): FullPrices | undefined {
  const { input, output, currency, cachedInput = input, cacheWrite = input } = prices ?? {};
  if (input === undefined || cachedInput === undefined || cacheWrite === undefined) return undefined;
  return output === undefined || currency === undefined
    ? undefined
    : { input, output, cachedInput, cacheWrite, currency };
}

/** The price of a call, in the currency of the prices. */
export function priceOf({ input, cachedInput, cacheWrite, output }: TokenCounts, prices: FullPrices): number {
  const plain = Math.max(0, input - cachedInput - cacheWrite);
  const millions = plain * prices.input + cachedInput * prices.cachedInput + cacheWrite * prices.cacheWrite +
    output * prices.output;
  return millions / 1_000_000;
}

/**
 * Requires prices of this provider that a budget of money can be checked with. A budget without a currency accepts any.
 *
 * @throws PinnaceError `invalid_argument` with the reason `no_price`.
 */
export function requirePrice(
  { id, prices }: Provider,
  budget: { readonly currency?: Money['currency'] | undefined } | undefined,
): void {
  if (!budget) return;
  const { currency } = budget;
  const known = fullPrices(prices);
  if (known && (currency === undefined || known.currency === currency)) return;
  const what = currency === undefined ? '"input", "output" and "currency"' : `"input" and "output" in ${currency}`;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot keep the cost budget: provider "${id}" has no prices for ${what}; add "prices" to its record`,
    { details: { reason: 'no_price', provider: id } },
  );
}
