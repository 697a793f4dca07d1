/** Numbers and times in words. */

import { visible } from '../../src/base/text.ts';

/** `850 ms`, `4.2 s`, `3 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `1 step`, `2 steps`. */
export function formatCount(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** `cost 0.0123`: the unit is the provider's. */
export function formatCost(cost: number): string {
  return `cost ${cost.toLocaleString('en', { maximumSignificantDigits: 3 })}`;
}

/** `0.123`, `12.3`, `1,234`: three digits below 100. */
export function formatAmount(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value < 100 ? 3 : 12 });
}

/** `0.0123 USD`; the amount alone where the currency is empty. */
export function formatMoney({ amount, currency }: { readonly amount: number; readonly currency: string }): string {
  return `${amount.toLocaleString('en', { maximumSignificantDigits: 3 })} ${currency}`.trim();
}

/** `850 tokens`, `3.1K tokens`: where there is little room. */
export function formatTokens(count: number): string {
  return `${count.toLocaleString('en', { notation: 'compact' })} token${count === 1 ? '' : 's'}`;
}

/** The heading of a chat's group in the list. */
export function dayOf(time: number, now: number): 'Today' | 'Yesterday' | 'Last seven days' | 'Earlier' {
  const days = Math.round((startOfDay(now) - startOfDay(time)) / 86_400_000);
  if (days <= 0) return 'Today';
  if (days === 1) return 'Yesterday';
  return days < 7 ? 'Last seven days' : 'Earlier';
}

/** One line about a tool's input, without characters that reorder or hide text. */
export function summarize(input: unknown): string {
  if (input === undefined || input === null) return '';
  if (typeof input !== 'object') return shorten(plain(input));
  const entries = Object.entries(input);
  return shorten(entries.map(([key, value]) => `${shorten(key, 60)}: ${shorten(plain(value), 60)}`).join(', '));
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value) ?? '';
}

function shorten(text: string, length = 120): string {
  const line = visible(text.slice(0, length * 4).replaceAll(/\s+/g, ' ').trim());
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

function startOfDay(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

/** `900 bytes`, `1.4 kB`, `23 MB`, `5.4 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return formatCount(bytes, 'byte');
  let size = bytes / 1_000;
  let unit = 0;
  for (; size >= 999.5; unit++) size /= 1_000;
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${'kMGT'[unit]}B`;
}

/** `line 7`, `lines 7–9`. */
export function formatLines([from, to]: readonly [from: number, to: number]): string {
  return from === to ? `line ${from}` : `lines ${from}–${to}`;
}

/** `Nov 21, 2026, 4:12 AM`. */
export function formatTime(at: string): string {
  return new Date(at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });
}
