/** How fast secrets are taken out of a stream: 20 secrets, text as models write it, chunks as they come. */

import { createRedactor } from '../../../src/permission/redaction/redactor.ts';
import { median, type Row } from '../measure.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=';
const secrets = Array.from({ length: 20 }, (_, i) => ({
  id: `s${i}`,
  value: `sk-live-${[...Array(24).keys()].map((j) => alphabet[(i * 37 + j * j * 11) % alphabet.length]).join('')}`,
}));
const text =
  'The quick brown fox jumps over the lazy dog. {"key":"value","n":12345} https://example.com/?a=%20b&c=deadbeef '
    .repeat(20);

/** Measures throughput per size of chunk, and the time to build. */
export function redactorRows({ rounds = 9, units = 4_000_000 } = {}): Row[] {
  const built = times(rounds, () => createRedactor(secrets));
  const rows = [5, 50, 1000].map((size): Row => {
    const rate = units / median(times(rounds, () => redact(size, units))) / 1000;
    return {
      figure: `redactor: ${size} characters a chunk, 20 secrets`,
      value: `${rate.toFixed(1)} M characters/s`,
      bar: '>= 4 M characters/s',
      met: rate >= 4,
    };
  });
  return [{ figure: 'redactor: build for 20 secrets', value: `${median(built).toFixed(1)} ms` }, ...rows];
}

function redact(size: number, units: number): void {
  const { push, end } = createRedactor(secrets).begin();
  const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, i) => text.slice(i * size, (i + 1) * size));
  for (let given = 0; given < units;) {
    for (const chunk of chunks) given += push(chunk).length;
  }
  end();
}

function times(rounds: number, work: () => unknown): number[] {
  work();
  return Array.from({ length: rounds }, () => {
    const before = performance.now();
    work();
    return performance.now() - before;
  });
}
