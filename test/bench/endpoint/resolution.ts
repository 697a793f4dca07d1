/** How long it takes to resolve an agent: its definition, its provider, its secret and the tools that there are. */

import { staticCatalog } from '../../../adapters/catalog/static.ts';
import { memorySecrets } from '../../../adapters/secrets/memory.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createMetrics } from '../../../src/base/metrics.ts';
import { createResolver } from '../../../src/runtime/resolver.ts';
import { scriptedModel } from '../../fixtures/model.ts';
import { quantile, type Row } from '../measure.ts';

/** Measures with warm caches, and directly after an invalidation. */
export async function measureResolution(): Promise<Row[]> {
  const resolver = createResolver({
    onAgentsChanged: () => undefined,
    catalog: { ...staticCatalog({ agents: [agent], providers: [provider] }), source: 'bench' },
    models: { model: () => scriptedModel().model },
    secrets: memorySecrets({ k: 'value' }, { unboundSecrets: 'allow' }),
    storage: memoryStorage(),
    metrics: createMetrics(),
    emit: () => undefined,
    now: Date.now,
  });
  const resolve = async (): Promise<number> => {
    const startedAt = performance.now();
    await resolver.refresh();
    await resolver.resolve('helper', { tenant: 't', via: 'http' });
    await resolver.tools(undefined);
    return (performance.now() - startedAt) * 1000;
  };
  const warm: number[] = [];
  for (let i = 0; i < 20_000; i++) warm.push(await resolve());
  const cold: number[] = [];
  for (let i = 0; i < 2_000; i++) {
    await resolver.invalidate(['*']);
    cold.push(await resolve());
  }
  resolver.close();
  const p50 = quantile(warm.slice(2_000), 0.5);
  return [
    { figure: 'Resolution, warm', value: shown(warm.slice(2_000)), bar: 'p50 <= 50 us', met: p50 <= 50 },
    { figure: 'Resolution, after an invalidation', value: shown(cold.slice(200)) },
  ];
}

const agent = { id: 'helper', name: 'Helper', providerId: 'p' };
const provider = { id: 'p', kind: 'custom' as const, secret: { id: 'k' } };

function shown(times: readonly number[]): string {
  return `p50 ${quantile(times, 0.5).toFixed(0)} us, p99 ${quantile(times, 0.99).toFixed(0)} us`;
}
