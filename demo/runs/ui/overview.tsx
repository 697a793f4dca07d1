import { useSignal } from '@preact/signals';
import type { JSX, TargetedPointerEvent } from 'preact';
import { useMemo } from 'preact/hooks';
import type { OpenedRun } from '../state/opened-run.ts';
import type { RunSpans } from '../state/run-spans.ts';
import { rowsOf } from '../state/span-rows.ts';
import { placeIn, ticksIn } from '../state/time-window.ts';
import { formatMoment } from './moment.ts';

/** The whole run in small, where a part of its time can be chosen by drawing over it, and the times that the rows show. */
export function Overview({ run }: { run: OpenedRun }): JSX.Element {
  const spans = run.spans.value;
  const endMs = Math.max(1, spans.endMs);
  const window = run.window.value;
  const drawn = useSignal<readonly [from: number, to: number] | undefined>(undefined);
  const lines = useMemo(() => linesOf(spans), [spans]);
  const timeAt = ({ currentTarget, clientX }: TargetedPointerEvent<HTMLElement>): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(1, (clientX - left) / Math.max(1, width))) * endMs;
  };
  const [start, end] = drawn.value ?? [window.from, window.to];
  const [from, to] = [Math.min(start, end), Math.max(start, end)];
  return (
    <div class='overview'>
      <div
        class='overview-map'
        data-testid='overview'
        aria-hidden='true'
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          drawn.value = [timeAt(event), timeAt(event)];
        }}
        onPointerMove={(event) => drawn.value && (drawn.value = [drawn.value[0], timeAt(event)])}
        onPointerCancel={() => (drawn.value = undefined)}
        onPointerUp={(event) => {
          const { width } = event.currentTarget.getBoundingClientRect();
          drawn.value = undefined;
          if ((to - from) / endMs * width < 4) run.showAll(); // a press, not a drawing
          else run.showTime({ from, to });
        }}
      >
        <svg viewBox='0 0 1000 100' preserveAspectRatio='none'>
          {lines.map(([kind, path]) => <path key={kind} data-kind={kind} d={path} />)}
        </svg>
        <i class='overview-window' style={{ left: percent(from / endMs), width: percent((to - from) / endMs) }} />
      </div>
      <div class='overview-axis' aria-hidden='true'>
        {ticksIn(window, 5).filter((ms) => placeIn(window, ms) <= lastTick).map((ms) => (
          <span key={ms} style={{ left: percent(placeIn(window, ms)) }}>{formatMoment(ms)}</span>
        ))}
      </div>
    </div>
  );
}

/** Further right there is no room for a time, in parts of the window. */
const lastTick = 0.9;

/** The most rows in the picture; deeper spans share the last. */
const maxLanes = 8;

/** A row for each depth, and one path for each kind: thousands of spans are as cheap as one. */
function linesOf({ roots, endMs }: RunSpans): readonly (readonly [kind: string, path: string])[] {
  const rows = rowsOf(roots, new Set());
  const lanes = Math.min(maxLanes, rows.reduce((most, { depth }) => Math.max(most, depth + 1), 1));
  const height = 100 / lanes;
  const scale = 1000 / Math.max(1, endMs);
  const paths = new Map<string, string>();
  for (const { span: { kind, status, startMs, endMs: end }, depth } of rows) {
    const look = status === 'error' || status === 'denied' ? 'error' : kind;
    const y = Math.min(depth, lanes - 1) * height + height * 0.15;
    const width = Math.max(1.5, (end - startMs) * scale).toFixed(1);
    const bar = `M${(startMs * scale).toFixed(1)} ${y.toFixed(1)}h${width}v${(height * 0.7).toFixed(1)}h-${width}z`;
    paths.set(look, (paths.get(look) ?? '') + bar);
  }
  return [...paths];
}

function percent(part: number): string {
  return `${(part * 100).toFixed(3)}%`;
}
