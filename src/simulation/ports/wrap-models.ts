/** Model sources whose models' calls are steps: `model.call n`. */

import type { AnyLanguageModel } from '../../contracts/ai-types.ts';
import type { ModelSource } from '../../contracts/model-source.ts';
import { isRecord } from '../../base/is-record.ts';
import { wrapPort } from '../faulty.ts';
import { counted } from '../streams.ts';
import type { PortParts } from './port-parts.ts';

type Method = (...args: unknown[]) => unknown;

/** Returns the source. */
export function wrapModels(source: ModelSource, parts: PortParts): ModelSource {
  return wrapPort('models', source, {
    call: (_, __, work) => work(), // `model` is synchronous, and does no more than compose
    special: { model: (model) => (...args) => wrapModel(model(...args) as AnyLanguageModel, parts) }, // of this port
  });
}

function wrapModel(model: AnyLanguageModel, { instance: { call }, observed }: PortParts): AnyLanguageModel {
  const asked = (method: Method): Method => async (...args) => {
    const [options] = args;
    observed.prompts.push(JSON.stringify(isRecord(options) ? options['prompt'] : options) ?? '');
    const answer = await call('model.call', args, () => method(...args));
    const stream = isRecord(answer) ? answer['stream'] : undefined;
    return stream instanceof ReadableStream
      ? { ...answer as object, stream: counted(stream, observed.streams) }
      : answer;
  };
  return wrapPort('model', model, { call: (_, __, work) => work(), special: { doStream: asked, doGenerate: asked } });
}
