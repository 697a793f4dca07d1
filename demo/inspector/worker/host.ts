/** The inspector in the page's worker: observes the runtime and serves the page. */

import { toData } from '../../../src/base/errors.ts';
import type { EventSink } from '../../../src/contracts/event-sink.ts';
import type { ModelSource } from '../../../src/contracts/model-source.ts';
import type { SecretSource } from '../../../src/contracts/secret-source.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { localPrincipal } from '../../../src/base/principal.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import type { Found, InspectorControl } from './control.ts';
import { createPrompts } from './prompts.ts';
import { createRecorder } from './recorder.ts';
import { createRunStore, type StoreBounds } from './run-store.ts';

/** The inspector, for the runtime and for the page. */
export interface InspectorHost {
  readonly sink: EventSink;
  readonly models: (source: ModelSource) => ModelSource;
  readonly secrets: (source: SecretSource) => SecretSource;
  readonly control: InspectorControl;
}

interface InspectorHostOptions {
  /** For the runs alone. */
  readonly storage: Storage;
  /** Called lazily. */
  readonly runtime: () => Pick<Runtime, 'manifest'>;
  readonly bounds?: Partial<StoreBounds>;
}

/** Creates the host; it reads and writes nothing before something happens. */
export function createInspectorHost({ storage, runtime, bounds }: InspectorHostOptions): InspectorHost {
  const prompts = createPrompts();
  const recorder = createRecorder({
    store: createRunStore(storage, bounds),
    async toolsOf(agentId) {
      const { digest, tools } = await runtime().manifest(agentId, localPrincipal());
      return { digest, tools };
    },
  });
  return {
    models: (source) => prompts.models(source),
    secrets: (source) => prompts.secrets(source),
    sink(event) {
      prompts.note(event);
      return recorder.sink(event);
    },
    control: {
      list: () => recorder.list(),
      run: (traceId) => found(() => recorder.run(traceId)),
      prompts: (traceId) => Promise.resolve(prompts.of(traceId)),
      watch: (onNews) => Promise.resolve(recorder.watch(onNews)),
      erase: () =>
        found(async () => {
          prompts.forget();
          await recorder.erase();
        }),
    },
  };
}

async function found<T>(work: () => Promise<T>): Promise<Found<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: toData(error) };
  }
}
