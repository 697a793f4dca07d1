/** What the calls of models may use and have used: tokens and money, reserved before a call and counted after it. */

import type { LanguageModelV4CallOptions, LanguageModelV4Message, LanguageModelV4Usage } from '@ai-sdk/provider';
import { PinnaceError } from '../base/errors.ts';
import type { Money } from '../base/record-fields.ts';
import type { Provider } from '../base/schema.ts';
import { messageTokens, promptTokens, valueTokens } from './estimate-prompt.ts';

/** What may be used. Absent: as much as is needed. */
interface BudgetTerms {
  readonly tokens?: number | undefined;
  /** Without a currency, in that of the models. */
  readonly cost?: { readonly amount: number; readonly currency?: string | undefined } | undefined;
}

/** What was used so far. */
export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** Of the input: tokens that the provider read from its cache, and wrote to it. */
  cachedInputTokens?: number;
  cacheWriteTokens?: number;
  /** Of the output. */
  reasoningTokens?: number;
  /** Whether some of it is an estimate: a provider did not report it. */
  estimated?: true;
  /** Absent where a provider has no price, and where providers have prices in several currencies. */
  cost?: Money;
}

/** What a model is sent. */
interface SentPrompt {
  readonly prompt: readonly LanguageModelV4Message[];
  readonly tools: LanguageModelV4CallOptions['tools'] | undefined;
}

/** A call that was made, whether it succeeded or not. */
interface SpentCall extends SentPrompt {
  readonly usage: LanguageModelV4Usage | undefined;
  /** What the model said, to estimate what it does not report. */
  readonly message?: LanguageModelV4Message | undefined;
  readonly prices: Provider['prices'];
}

/** What is left for an answer. */
interface Room {
  readonly tokens: number;
  /** The budget that leaves no more. */
  readonly limitedBy: 'tokens' | 'cost';
}

/** The budget of a run, or of one step of a plan. */
export interface ModelBudget {
  /**
   * Returns how long the answer to a prompt may be; `undefined` without a limit.
   *
   * @throws PinnaceError `budget_exceeded` with the reason `tokens` or `cost` when the prompt and one token of an answer do not fit.
   */
  requireRoom(sent: SentPrompt, prices: Provider['prices']): Room | undefined;
  /** Reserves a call at the budgets of the period, where there are some. Rejects as `Budgets.hold`. */
  readonly hold?: (sent: SentPrompt, most: Pick<CallNeed, 'output' | 'provider'>) => Promise<CallHold | undefined>;
  /** Counts a call: what the provider reports, else an estimate. `hold` is what was reserved for it. */
  add(call: SpentCall, hold?: CallHold): void;
  /** Settles calls that were left before their end. */
  close(): void;
  /** Counts the work of other agents. */
  addOther(used: { readonly tokens: number; readonly cost?: Money | undefined }): void;
  /** What is left; `Infinity` where there is no budget. */
  readonly left: { readonly tokens: number; readonly cost: number };
  readonly terms: BudgetTerms;
  /** The error for a budget that is used up. */
  exceeded(reason: Room['limitedBy']): PinnaceError;
}

/** Reserves a call of a spender at the budgets of the period. */
type HoldCall = (need: CallNeed) => Promise<CallHold | undefined>;

/** Creates a budget that adds what is used to `usage`, and pays by `holdCall` where calls are paid for. */
export function createModelBudget(terms: BudgetTerms, usage: ModelUsage, holdCall?: HoldCall): ModelBudget {
  return new Budget(terms, usage, holdCall);
}

/** Estimates may be wrong by this factor. */
const mostScale = 4;

class Budget implements ModelBudget {
  readonly terms: BudgetTerms;
  readonly #usage: ModelUsage;
  /** From an estimate to what the provider counts, by its last report. */
  #scale = 1;
  #spent = 0;
  /** Whether something was used that has no price, or one in another currency. */
  #isUnpriced = false;

  readonly hold?: NonNullable<ModelBudget['hold']>;
  /** What is reserved for calls under way, with the tokens of their prompts. */
  readonly #held = new Map<CallHold, { readonly input: number; readonly provider: Provider }>();
  #isClosed = false;

  constructor(terms: BudgetTerms, usage: ModelUsage, holdCall?: HoldCall) {
    this.terms = terms;
    this.#usage = usage;
    this.#spent = usage.cost?.amount ?? 0;
    if (holdCall) this.hold = async (sent, most) => await this.#holdCall(holdCall, sent, most);
  }

  async #holdCall(
    holdCall: HoldCall,
    sent: SentPrompt,
    { output, provider }: Pick<CallNeed, 'output' | 'provider'>,
  ): Promise<CallHold | undefined> {
    const input = this.#estimate(sent);
    const hold = await holdCall({ input, output, provider });
    if (!hold) return undefined;
    this.#held.set(hold, { input, provider });
    if (this.#isClosed) this.close();
    return hold;
  }

  close(): void {
    this.#isClosed = true;
    for (const [hold, { input, provider }] of this.#held) {
      const said = Math.ceil(hold.said);
      const counts = { input, output: said, cachedInput: 0, cacheWrite: 0, reasoning: 0 };
      const prices = fullPrices(provider.prices);
      hold.settle({ tokens: input + said, cost: prices ? priceOf(counts, prices) : 0 });
    }
    this.#held.clear();
  }

  get left(): ModelBudget['left'] {
    const { tokens = Infinity, cost } = this.terms;
    return { tokens: tokens - this.#usage.totalTokens, cost: (cost?.amount ?? Infinity) - this.#spent };
  }

  requireRoom(sent: SentPrompt, prices: Provider['prices']): Room | undefined {
    if (this.terms.tokens === undefined && this.terms.cost === undefined) return undefined;
    const { left } = this;
    const input = this.#estimate(sent);
    const forTokens = Math.floor(left.tokens - input);
    if (forTokens < 1) throw this.exceeded('tokens');
    const forCost = left.cost === Infinity ? Infinity : affordable(left.cost, input, fullPrices(prices));
    if (forCost < 1) throw this.exceeded('cost');
    const tokens = Math.min(forTokens, forCost);
    return tokens === Infinity ? undefined : { tokens, limitedBy: forTokens <= forCost ? 'tokens' : 'cost' };
  }

  add(call: SpentCall, hold?: CallHold): void {
    const { counts, isEstimated } = this.#countsOf(call);
    const usage = this.#usage;
    usage.inputTokens += counts.input;
    usage.outputTokens += counts.output;
    usage.totalTokens += counts.input + counts.output;
    if (counts.cachedInput > 0) usage.cachedInputTokens = (usage.cachedInputTokens ?? 0) + counts.cachedInput;
    if (counts.cacheWrite > 0) usage.cacheWriteTokens = (usage.cacheWriteTokens ?? 0) + counts.cacheWrite;
    if (counts.reasoning > 0) usage.reasoningTokens = (usage.reasoningTokens ?? 0) + counts.reasoning;
    if (isEstimated) usage.estimated = true;
    const full = fullPrices(call.prices);
    const amount = full && priceOf(counts, full);
    this.#addCost(full && amount !== undefined ? { amount, currency: full.currency } : undefined);
    if (!hold) return;
    this.#held.delete(hold);
    hold.settle({ tokens: counts.input + counts.output, cost: amount ?? 0 });
  }

  addOther({ tokens, cost }: Parameters<ModelBudget['addOther']>[0]): void {
    this.#usage.totalTokens += tokens;
    if (tokens > 0 || cost) this.#addCost(cost);
  }

  exceeded(reason: Room['limitedBy']): PinnaceError {
    const what = reason === 'tokens' ? 'tokens' : 'money';
    return new PinnaceError(
      'budget_exceeded',
      `The budget of ${what} is used up: what is left of it is too little for the next answer`,
      {
        details: { reason },
      },
    );
  }

  #addCost(cost: Money | undefined): void {
    const usage = this.#usage;
    this.#spent = addAmounts(this.#spent, cost?.amount ?? 0);
    const isOther = usage.cost !== undefined && usage.cost.currency !== cost?.currency;
    if (!cost || isOther) this.#isUnpriced = true;
    if (!cost || this.#isUnpriced) delete usage.cost;
    else usage.cost = { ...cost, amount: addAmounts(usage.cost?.amount ?? 0, cost.amount) };
  }

  #countsOf(call: SpentCall): { readonly counts: TokenCounts; readonly isEstimated: boolean } {
    const { inputTokens, outputTokens } = call.usage ?? {};
    const reported = { input: inputOf(inputTokens), output: outputOf(outputTokens) };
    const input = reported.input ?? this.#estimate(call);
    const output = reported.output ?? (call.message ? messageTokens(call.message) : 0);
    if (reported.input !== undefined && this.#isLimited) this.#learn(call, reported.input);
    return {
      counts: {
        input,
        output,
        cachedInput: count(inputTokens?.cacheRead) ?? 0,
        cacheWrite: count(inputTokens?.cacheWrite) ?? 0,
        reasoning: count(outputTokens?.reasoning) ?? 0,
      },
      isEstimated: reported.input === undefined || reported.output === undefined,
    };
  }

  get #isLimited(): boolean {
    return this.terms.tokens !== undefined || this.terms.cost !== undefined || this.hold !== undefined;
  }

  #learn(sent: SentPrompt, tokens: number): void {
    const guessed = promptTokens(sent.prompt) + toolsTokens(sent.tools);
    if (guessed > 0) this.#scale = Math.min(mostScale, Math.max(1 / mostScale, tokens / guessed));
  }

  #estimate({ prompt, tools }: SentPrompt): number {
    return Math.ceil((promptTokens(prompt) + toolsTokens(tools)) * this.#scale);
  }
}

/** How many tokens of an answer this amount pays for. Without prices none: what a call costs must be known before it. */
function affordable(amount: number, input: number, prices: FullPrices | undefined): number {
  if (!prices) return 0;
  const rest = amount * 1_000_000 - input * Math.max(prices.input, prices.cacheWrite); // a provider may write all of it to its cache
  if (prices.output === 0) return rest < 0 ? 0 : Infinity;
  return Math.floor(rest / prices.output);
}

function inputOf(tokens: LanguageModelV4Usage['inputTokens'] | undefined): number | undefined {
  const plain = count(tokens?.noCache);
  const sum = plain === undefined
    ? undefined
    : plain + (count(tokens?.cacheRead) ?? 0) + (count(tokens?.cacheWrite) ?? 0);
  return count(tokens?.total) ?? sum;
}

function outputOf(tokens: LanguageModelV4Usage['outputTokens'] | undefined): number | undefined {
  const text = count(tokens?.text);
  return count(tokens?.total) ?? (text === undefined ? undefined : text + (count(tokens?.reasoning) ?? 0));
}

/** What is no number of tokens was not reported. */
function count(tokens: number | undefined): number | undefined {
  return tokens !== undefined && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;
}

/** Adds amounts without the noise of binary fractions. */
function addAmounts(a: number, b: number): number {
  return Number((a + b).toPrecision(12));
}

const measured = new WeakMap<object, number>();

/** Estimates the tokens of the tools that go with a prompt. */
function toolsTokens(tools: SentPrompt['tools'] = []): number {
  let sum = 0;
  for (const tool of tools) {
    const key = tool.type === 'function' ? tool.inputSchema : tool.args; // the same object in every step
    const tokens = measured.get(key) ?? valueTokens(tool);
    measured.set(key, tokens);
    sum += tokens;
  }
  return sum;
}

/** The tokens of a call. */
interface TokenCounts {
  /** All tokens of the prompt, with those below. */
  readonly input: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  /** All tokens of the answer, with its reasoning. */
  readonly output: number;
  readonly reasoning: number;
}

/** The prices of a model, complete. For a million tokens. */
interface FullPrices {
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
function priceOf({ input, cachedInput, cacheWrite, output }: TokenCounts, prices: FullPrices): number {
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

/** What a run has used so far. */
export interface Usage extends ModelUsage {
  steps: number;
  /** About how much of the input the definitions of tools were, over all steps. */
  toolTokens: number;
  /** How much more it would have been without discovery. */
  toolTokensSaved: number;
}

/** What a model call needs, in tokens. */
export interface CallNeed {
  readonly input: number;
  /** The longest answer. */
  readonly output: number;
  readonly provider: Provider;
}

/** What was reserved for a model call. */
export interface CallHold {
  /** How long the answer may be. */
  readonly outputTokens: number;
  /** The error of an answer that was cut there; `undefined` where the budgets allow as much as was asked for. */
  readonly cut: PinnaceError | undefined;
  /** What was received of the answer so far, in tokens as they are estimated: for a call that is left. */
  said: number;
  /** Counts what the call has used. Later calls do nothing. */
  settle(used: { readonly tokens: number; readonly cost: number }): void;
}
