/** What a request may set of one run, and what the record of an agent lets callers set. */

import * as v from 'valibot';
import { Temperature, TopP } from './model-settings.ts';

const Model = v.pipe(v.string(), v.minLength(1), v.maxLength(256));

/** The settings of one run. */
export const RunSettings = v.strictObject({
  instructions: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(16_384))),
  temperature: Temperature,
  topP: TopP,
  model: v.optional(Model),
});

/** The settings of one run. */
export interface RunSettings {
  /** Instructions for this run, after those of the agent, up to 16,384 characters. */
  instructions?: string | undefined;
  /** Randomness, 0 to 2, in place of the agent's. */
  temperature?: number | undefined;
  /** Nucleus sampling, 0 to 1, in place of the agent's. */
  topP?: number | undefined;
  /** Another model of the agent's provider. */
  model?: string | undefined;
}

/** The settings that callers may set. */
export const CallerSettings = v.strictObject({
  instructions: v.optional(v.boolean()),
  sampling: v.optional(v.boolean()),
  models: v.optional(v.pipe(v.array(Model), v.maxLength(100))),
});

/** The settings that callers may set. Callers who may write the record may set all. */
export interface CallerSettings {
  /** Whether a request may add instructions behind those of the agent. Default: no. */
  instructions?: boolean | undefined;
  /** Whether a request may set `temperature` and `topP`. Default: no. */
  sampling?: boolean | undefined;
  /** The models of the agent's provider that a request may choose. Its `prices` apply to them too. Default: none. */
  models?: string[] | undefined;
}
