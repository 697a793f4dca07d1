/** What a request sets of its agent. Callers may set what the record of the agent names, its authors everything. Loaded on demand. */

import type { RunSettings } from '../base/model-settings.ts';
import { PinnaceError } from '../base/errors.ts';
import { mayChange, type Principal } from '../base/principal.ts';
import type { Agent } from '../base/schema.ts';

/** Returns the agent with the settings of a request. @throws PinnaceError `forbidden` for one that its caller may not set. */
export function withSettings(agent: Agent, settings: RunSettings, principal: Principal): Agent {
  const refused = names.filter((name) => settings[name] !== undefined && !isAllowed(name, settings, agent));
  if (refused.length > 0 && !mayChange(principal, agent)) throw notAllowed(refused, agent);
  const { model, temperature, topP } = settings;
  const sampling = { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) };
  return {
    ...agent,
    ...(model !== undefined && { model }),
    ...(Object.keys(sampling).length > 0 && { modelSettings: { ...agent.modelSettings, ...sampling } }),
  };
}

const names = ['instructions', 'model', 'temperature', 'topP'] as const;

function isAllowed(name: keyof RunSettings, { model = '' }: RunSettings, { callerSettings = {} }: Agent): boolean {
  switch (name) {
    case 'instructions':
      return callerSettings.instructions === true;
    case 'temperature':
    case 'topP':
      return callerSettings.sampling === true;
    case 'model':
      return callerSettings.models?.includes(model) === true;
    default:
      return name satisfies never;
  }
}

function notAllowed(refused: readonly string[], { id }: Agent): PinnaceError {
  return new PinnaceError(
    'forbidden',
    `Cannot start the run: its caller may not set ${refused.map((name) => `"${name}"`).join(', ')} of this agent; ` +
      'remove it from "settings", or allow it in the "callerSettings" of the agent\'s record',
    { details: { reason: 'settings_not_allowed', settings: [...refused], agentId: id } },
  );
}
