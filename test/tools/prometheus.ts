/** Reads the text format of Prometheus (version 0.0.4), as strictly as its own checker: what is out of order is an error. */

import { canonicalJson } from '../../src/base/json.ts';

/** One line with a number. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What is said of one metric. */
export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

/** Returns the metrics by name. @throws Error for the first line that is wrong, or for a metric that is. */
export function readPrometheus(text: string): ReadonlyMap<string, Family> {
  if (!text.endsWith('\n')) throw new Error('The text ends within a line');
  const families = new Map<string, Family & { readonly samples: Sample[] }>();
  let current: [name: string, family: { type: string; help: string; samples: Sample[] }] | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`A metric stands in two places: ${line}`);
      current = [name, { type: '', help: rest, samples: [] }];
      families.set(...current);
    } else if (kind === 'TYPE') {
      if (current?.[0] !== name || current[1].type !== '') throw new Error(`A type out of place: ${line}`);
      if (!['counter', 'gauge', 'histogram'].includes(rest)) throw new Error(`No type: ${line}`);
      current[1].type = rest;
    } else {
      const sample = readSample(line);
      if (!current || familyOf(sample.name, current[1].type) !== current[0]) throw new Error(`Out of place: ${line}`);
      current[1].samples.push(sample);
    }
  }
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

function readSample(line: string): Sample {
  const [, name, given = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined) throw new Error(`No sample: ${line}`);
  const found = [...given.matchAll(label)];
  if (found.reduce((length, [pair]) => length + pair.length, 0) !== given.length) throw new Error(`Labels: ${line}`);
  const labels = Object.fromEntries(found.map(([, key, text = '']) => [key, unescape(text)]));
  const number = value === '+Inf' ? Infinity : Number(value);
  if (Number.isNaN(number)) throw new Error(`No number: ${line}`);
  return { name, labels, value: number };
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, character: string) => character === 'n' ? '\n' : character);
}

function familyOf(name: string, type: string): string {
  return type === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
}

function checkFamily(name: string, { type, samples }: Family): void {
  const series = samples.map(({ name: own, labels }) => own + canonicalJson(labels));
  if (new Set(series).size !== series.length) throw new Error(`A series stands twice: ${name}`);
  if (type === 'counter' && samples.some(({ value }) => value < 0)) throw new Error(`A counter below zero: ${name}`);
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`A counter without "_total": ${name}`);
  if (type === 'histogram') checkHistogram(name, samples);
}

/** Buckets go up, and the last has everything. */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  for (const total of samples.filter((sample) => sample.name.endsWith('_count'))) {
    const buckets = samples.filter((sample) => {
      const { le, ...rest } = sample.labels;
      return le !== undefined && JSON.stringify(rest) === JSON.stringify(total.labels);
    });
    const limits = buckets.map(({ labels: { le } }) => le === '+Inf' ? Infinity : Number(le));
    const isRising = buckets.every(({ value }, i) => i === 0 || value >= (buckets[i - 1]?.value ?? 0));
    const isOrdered = limits.every((limit, i) => i === 0 || limit > (limits[i - 1] ?? -Infinity));
    if (!isRising || !isOrdered) throw new Error(`Buckets that do not go up: ${name}`);
    if (limits.at(-1) !== Infinity || buckets.at(-1)?.value !== total.value) throw new Error(`No last bucket: ${name}`);
  }
}
