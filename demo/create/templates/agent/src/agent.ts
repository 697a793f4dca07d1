/** The agent, its tools and its model. Edit this file first. */

import { defineTool } from 'pinnace';
import * as v from 'valibot';

/** Only reads, so the agent calls it without asking. Replace the made-up figures with a request to a weather service. */
const weather = defineTool({
  id: 'weather',
  description: 'The weather of a city',
  input: v.strictObject({ city: v.string() }),
  annotations: { readOnlyHint: true },
  execute: ({ city }) => ({ city, degrees: 10 + city.length, sky: 'clear' }),
});

/** Acts, so a person must allow every call. */
const sendMail = defineTool({
  id: 'send_mail',
  description: 'Sends a mail',
  input: v.strictObject({ to: v.pipe(v.string(), v.email()) }),
  approval: 'always',
  execute: ({ to }) => ({ sentTo: to }),
});

export const tools = [weather, sendMail];

export const agents = [{
  id: 'helper',
  name: 'Helper',
  instructions: 'Answer in one sentence.',
  providerId: 'main',
  entryTools: ['weather', 'send_mail'],
}];

/** `rehearsal` is a scripted model that needs no key. README.md shows how to use a real one. */
export const providers = [{ id: 'main', kind: 'rehearsal' as const }];
