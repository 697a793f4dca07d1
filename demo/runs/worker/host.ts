/** The inspector in the page's worker: observes the runtime and serves the page. */

import { toData } from '../../../src/base/errors.ts';
import type { EventSink } from '../../../src/contracts/event-sink.ts';
import type { ModelSource } from '../../../src/contracts/model-source.ts';
import type { SecretSource } from '../../../src/contracts/egress.ts';
import type { Storage } from '../../../src/contracts/storage.ts';
import { localPrincipal } from '../../../src/base/principal.ts';
import type { HostedRuntime } from '../../../src/runtime/runtime.ts';
import type { Found, InspectorControl, RunInputs } from '../../control/runs-control.ts';
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

/** The most of a question that names a run. */
const maxQuestion = 200;

interface InspectorHostOptions {
  /** For the runs alone. */
  readonly storage: Storage;
  /** Called lazily. */
  readonly runtime: () => Pick<HostedRuntime, 'manifest' | 'recorded' | 'forks'>;
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
    // Not the stored inputs of the run: what reads them would be fetched with the first answer.
    questionOf(traceId) {
      const asked = prompts.of(traceId)[0]?.messages.findLast(({ role }) => role === 'user');
      const text = asked?.parts.flatMap((part) => part.type === 'text' ? [part.text] : []).join(' ').trim();
      return text?.slice(0, maxQuestion);
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
      said: (traceId) => Promise.resolve(prompts.of(traceId).at(-1)?.said),
      inputs: (runId) => found(() => inputsOf(runId, runtime())),
      watch: (onNews) => Promise.resolve(recorder.watch(onNews)),
      erase: () =>
        found(async () => {
          prompts.forget();
          await recorder.erase();
        }),
    },
  };
}

async function inputsOf(
  runId: string,
  runtime: Pick<HostedRuntime, 'recorded' | 'forks'>,
): Promise<RunInputs> {
  const principal = localPrincipal();
  const { request, agent: { instructions, providerId, model } } = await runtime.recorded(runId, principal);
  const message = request.chat.messages.findLast(({ role }) => role === 'user');
  const { items: forks } = await runtime.forks(runId, principal);
  return { instructions, providerId, model, message, forks };
}

async function found<T>(work: () => Promise<T>): Promise<Found<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error: toData(error) };
  }
}
