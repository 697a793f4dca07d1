/** Metrics in the text format of Prometheus, read into families: a name, what it is, and a series for each set of labels. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric with its series. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'untyped';
  /** Of a histogram, one for each set of labels: how often; the others are beside it. */
  readonly samples: readonly Sample[];
  /** Of a histogram, in the order of `samples`. */
  readonly spread?: readonly Spread[];
}

/** The statistics of one histogram series, in its unit. */
export interface Spread {
  readonly mean: number;
  /** The upper limit of the bucket in which nineteen of twenty lie. */
  readonly p95: number;
}

interface Line extends Sample {
  readonly name: string;
}

/** Reads the text; lines that are none of this format are passed over. */
export function readPrometheus(text: string): readonly Family[] {
  const facts = new Map<string, { help: string; type: string }>();
  const lines: Line[] = [];
  for (const line of text.split('\n')) {
    const [, what, name = '', said = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    const known = facts.get(name) ?? { help: '', type: 'untyped' };
    if (what === 'HELP') facts.set(name, { ...known, help: said });
    else if (what === 'TYPE') facts.set(name, { ...known, type: said });
    else if (!line.startsWith('#')) lines.push(...readLine(line));
  }
  return [...facts].map(([name, { help, type }]) => familyOf({ name, help, type }, lines))
    .filter(({ samples }) => samples.length > 0);
}

function readLine(line: string): readonly Line[] {
  const [, name, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
  if (name === undefined || value === undefined) return [];
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return [{
    name,
    labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, unescaped(text)])),
    value: value === '+Inf' ? Infinity : Number(value),
  }];
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, letter: string) => letter === 'n' ? '\n' : letter);
}

function familyOf(
  { name, help, type }: { readonly name: string; readonly help: string; readonly type: string },
  lines: readonly Line[],
): Family {
  if (type === 'histogram') return histogramOf({ name, help }, lines);
  const samples = lines.filter((line) => line.name === name).map(({ labels, value }) => ({ labels, value }));
  return { name, help, type: type === 'counter' || type === 'gauge' ? type : 'untyped', samples };
}

function histogramOf({ name, help }: { readonly name: string; readonly help: string }, lines: readonly Line[]): Family {
  const counts = lines.filter((line) => line.name === `${name}_count`);
  const spread = counts.map(({ labels, value: count }) => {
    const sum = lines.find((line) => line.name === `${name}_sum` && isSame(line.labels, labels))?.value ?? 0;
    const buckets = lines.filter((line) => line.name === `${name}_bucket` && isSame(line.labels, labels));
    const bucket = buckets.find(({ value }) => value >= count * 0.95);
    return { mean: count === 0 ? 0 : sum / count, p95: limitOf(bucket?.labels['le']) };
  });
  return { name, help, type: 'histogram', samples: counts.map(({ labels, value }) => ({ labels, value })), spread };
}

function limitOf(le = '+Inf'): number {
  return le === '+Inf' ? Infinity : Number(le);
}

/** Whether the labels are the same, but for the bucket's limit. */
function isSame(a: Sample['labels'], b: Sample['labels']): boolean {
  return seriesKey({ ...a, le: '' }) === seriesKey({ ...b, le: '' });
}

/** Names a series by its labels. */
export function seriesKey(labels: Sample['labels']): string {
  return JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => a < b ? -1 : 1));
}
