/** What a request sets of its agent. Callers may set what the record of the agent names, its authors everything. */

import type { RunSettings } from '../../base/agent/run-settings.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Principal } from '../../base/principal.ts';
import type { Agent } from '../../base/schema.ts';

/** Returns the agent with the settings of a request. @throws PinnaceError `forbidden` for one that its caller may not set. */
export function withSettings(agent: Agent, settings: RunSettings | undefined, principal: Principal): Agent {
  if (!settings) return agent;
  const refused = settingNames(settings).filter((name) => !isAllowed(name, settings, agent));
  if (refused.length > 0 && !mayWrite(agent, principal)) throw notAllowed(refused, agent);
  const { model, temperature, topP } = settings;
  const sampling = { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) };
  return {
    ...agent,
    ...(model !== undefined && { model }),
    ...(Object.keys(sampling).length > 0 && { modelSettings: { ...agent.modelSettings, ...sampling } }),
  };
}

/** The names of what is set, sorted. */
export function settingNames(settings: RunSettings): readonly (keyof RunSettings)[] {
  const names = ['instructions', 'model', 'temperature', 'topP'] as const;
  return names.filter((name) => settings[name] !== undefined);
}

/** Adds the instructions of a request behind those of its agent. */
export function withAdded(agent: Agent, settings: RunSettings | undefined): Agent {
  if (settings?.instructions === undefined) return agent;
  const added = `Instructions of the user for this chat:\n${settings.instructions}`;
  return { ...agent, instructions: [agent.instructions, added].filter((text) => text !== '').join('\n\n') };
}

/** Whether the caller could change the record: of a shared one only the deployment can. */
function mayWrite({ tenant }: Agent, { scopes, deployment }: Principal): boolean {
  return scopes.includes('registry:write') && (tenant !== undefined || deployment === true);
}

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

function notAllowed(names: readonly string[], { id }: Agent): PinnaceError {
  return new PinnaceError(
    'forbidden',
    `Cannot start the run: its caller may not set ${names.map((name) => `"${name}"`).join(', ')} of this agent; ` +
      'remove it from "settings", or allow it in the "callerSettings" of the agent\'s record',
    { details: { reason: 'settings_not_allowed', settings: [...names], agentId: id } },
  );
}
