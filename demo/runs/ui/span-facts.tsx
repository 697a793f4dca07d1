import type { JSX } from 'preact';
import type { RunSpan } from '../state/run-spans.ts';
import { formatCount } from '../../kit/format.ts';
import { nameOfModel } from '../../kit/model-name.ts';
import { Fact } from '../../chat/ui/fact.tsx';
import { formatLength, formatMoment } from './moment.ts';
import { wordOf } from './status.tsx';

/** What is known of a span, with names and units. */
export function SpanFacts({ span }: { span: RunSpan }): JSX.Element {
  const { target, actor, status, error, startMs, facts } = span;
  return (
    <dl class='facts'>
      <Fact name='Target' value={`${target.type} ${targetOf(span)}`} />
      <Fact name='Actor' value={`${actor.type} ${actor.id}`} />
      <Fact name='Status' value={status === 'pending' ? 'started, no end recorded' : wordOf(status)} />
      {error && <Fact name='Error' value={`${error.code}: ${error.message}`} />}
      {error && <Fact name='Retryable' value={error.retryable ? 'yes' : 'no'} />}
      <Fact name='Start' value={formatMoment(startMs)} />
      <Fact name='Duration' value={formatLength(span)} />
      {Object.entries(facts).map(([name, value]) => (
        <Fact key={name} name={labelOf(name)} value={inUnits(name, value)} />
      ))}
    </dl>
  );
}

export function targetOf({ name, target }: Pick<RunSpan, 'name' | 'target'>): string {
  return name === 'model.call' ? nameOfModel(target.id) : target.id;
}

const labels: Readonly<Record<string, string>> = {
  input: 'Input size',
  output: 'Output size',
  digest: 'Input digest',
  keys: 'Input fields',
  firstChunkMs: 'Time to first token',
};

/** `finishReason` -> `Finish reason`. */
function labelOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return labels[name] ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

function inUnits(name: string, value: string | number): string {
  if (typeof value !== 'number') return value;
  if (name === 'input' || name === 'output') return formatCount(value, 'character');
  if (name === 'firstChunkMs') return formatMoment(value);
  return value.toLocaleString('en');
}
