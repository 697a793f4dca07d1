/** OpenTelemetry for a composition whose platform may trace: its package is loaded only then, and need not be installed otherwise. */

import { loadOnce } from '../../src/base/load-once.ts';
import type { MetricsObserver } from '../../src/base/metrics.ts';
import type { ObservedEvent } from '../../src/contracts/event-sink.ts';
import { packageError } from '../base/optional-package.ts';
import { scope } from './otel-names.ts';

export interface LazyOtel {
  /** Rejects with `unavailable`, reason `package_missing`, without the package. */
  readonly sink: (event: ObservedEvent) => Promise<void>;
  readonly metrics: MetricsObserver;
}

const load = /* @__PURE__ */ loadOnce(async () => {
  const [{ createOtelSink }, { createOtelMetrics }] = await Promise.all([
    import('./otel-sink.ts'),
    import('./otel-figures.ts'),
  ]);
  try {
    const { metrics, ROOT_CONTEXT, trace } = await import('@opentelemetry/api');
    const { sink } = createOtelSink({ metrics, ROOT_CONTEXT, trace });
    return { sink, metrics: createOtelMetrics(metrics.getMeter(scope)) };
  } catch (cause) {
    throw packageError('@opentelemetry/api', cause);
  }
});

/** Starts to load the package. Until it is there, events and counts wait in order. */
export function lazyOtel(): LazyOtel {
  const loading = load();
  return { sink: async (event) => (await loading).sink(event), metrics: waitingMetrics(loading) };
}

function waitingMetrics(loading: ReturnType<typeof load>): MetricsObserver {
  let use = (work: (metrics: MetricsObserver) => void): void => void waiting.push(work);
  const waiting: ((metrics: MetricsObserver) => void)[] = [];
  const open = async (): Promise<void> => {
    const { metrics } = await loading;
    use = (work) => work(metrics);
    for (const work of waiting.splice(0)) work(metrics);
  };
  open().catch(() => {
    use = () => {}; // the sink reports the missing package
    waiting.length = 0;
  });
  return {
    count: (...given) => use((metrics) => metrics.count(...given)),
    time: (...given) => use((metrics) => metrics.time(...given)),
    gauge: (...given) => use((metrics) => metrics.gauge(...given)),
  };
}
