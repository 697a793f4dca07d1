/** What a person has set for one chat: it goes with each of its requests. */

import * as v from 'valibot';

/** The settings of a chat, as they are stored with it. */
export const ChatSettings = v.object({
  instructions: v.optional(v.string()),
  temperature: v.optional(v.number()),
  topP: v.optional(v.number()),
  outputTokens: v.optional(v.number()),
  /** Another model, and the server that has it: no other server is asked for it. */
  model: v.optional(v.object({ id: v.string(), at: v.string() })),
});
export type ChatSettings = v.InferOutput<typeof ChatSettings>;

const labels: Readonly<Record<keyof ChatSettings, string>> = {
  instructions: 'system prompt',
  temperature: 'temperature',
  topP: 'top P',
  outputTokens: 'max output tokens',
  model: 'model',
};

/** The names of what is set, for people. */
export function namesOf(settings: ChatSettings): readonly string[] {
  // Safe: the keys of the table are those of the settings.
  return (Object.keys(labels) as (keyof ChatSettings)[])
    .filter((name) => settings[name] !== undefined)
    .map((name) => labels[name]);
}

/** Where a request goes. */
interface Target {
  /** The server of the models in use, as `ChatSettings.model` names it. */
  readonly at: string | undefined;
  /** Agents of plans have settings of their own. */
  readonly plans: boolean;
}

/** The fields of a run request for these settings. */
export function requestFields(
  { outputTokens, model, ...others }: ChatSettings,
  { at, plans }: Target,
): Readonly<Record<string, unknown>> {
  const settings = { ...others, ...(model !== undefined && model.at === at && { model: model.id }) };
  return {
    ...(!plans && Object.keys(settings).length > 0 && { settings }),
    ...(outputTokens !== undefined && { limits: { outputTokens } }),
  };
}
