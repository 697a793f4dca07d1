/** The console of an endpoint, in the worker that signs. */

import type { Client } from '../../../adapters/transport/client.ts';
import { toData } from '../../../src/base/errors.ts';
import { answer } from '../../control/answer.ts';
import { createActivityLog } from './activity.ts';
import type { ConsoleControl, Readiness } from '../../control/server-control.ts';
import { httpRegistry } from './http-registry.ts';

/** The shortest interval between two news. */
const spacingMs = 200;

/** Creates the console. Calls the endpoint only on request. */
export function createConsoleHost(client: Client): ConsoleControl {
  let watching = new AbortController();
  const leave = (): void => {
    watching.abort();
    watching = new AbortController();
  };
  return {
    ...httpRegistry(client),
    leave,
    watch(onActivity) {
      leave();
      void watch(client, { onActivity, signal: watching.signal });
    },
    readiness: () => answer(async () => await client.call('GET', '/v1/readyz') as Readiness), // the endpoint's schema says so
    cancelRun: (runId) => answer(() => client.cancel(runId)),
    plan: (planId) => answer(() => client.plans.view(planId)),
    steerPlan: (planId, how) => answer(() => client.plans[how](planId)),
    audit: (query) => answer(() => client.audit.list(query)),
    verify: () => answer(() => client.audit.verify()),
    budgets: () => answer(() => client.budgets()),
    metrics: () => answer(async () => String(await client.call('GET', '/v1/metrics'))),
  };
}

interface Watching {
  readonly onActivity: Parameters<ConsoleControl['watch']>[0];
  readonly signal: AbortSignal;
}

async function watch(client: Client, { onActivity, signal }: Watching): Promise<void> {
  const log = createActivityLog();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const emit = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!signal.aborted) onActivity({ ok: true, value: log.now() });
    }, spacingMs);
  };
  try {
    const stream = await client.events({ lastEventId: '0', signal });
    emit();
    for await (const news of stream) {
      if (news.type === 'gap') log.miss();
      if (news.type === 'gap' || (news.type === 'event' && log.take(news.event))) emit();
    }
  } catch (error) {
    if (!signal.aborted) onActivity({ ok: false, error: toData(error) });
  }
}
