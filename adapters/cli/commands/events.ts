/** `pinnace events`: follows the events of an endpoint. */

import { createClient } from '../../transport/client.ts';
import { addressOf, type Command, optionOf } from '../command.ts';
import { callerFrom, credentialOptions, credentialUsage } from '../credentials.ts';

/** The command. */
export const events: Command = {
  summary: 'Follow the events of an endpoint, one JSON object a line',
  usage:
    `pinnace events URL [--trace ID] [--action A] [--actor ID] [--target ID] [--since ID] [--until-live] (--token-env NAME | --issuer FILE --tenant T)

  URL            the endpoint, without /v1
  --trace ID     only events of this trace; --action, --actor and --target narrow likewise
  --since ID     start after this event; 0 for all stored events
  --until-live   end when all stored events are printed
${credentialUsage}

Needs the scope admin. Reconnects by itself. Ctrl+C ends it.`,
  options: {
    ...credentialOptions,
    'trace': { type: 'string' },
    'action': { type: 'string' },
    'actor': { type: 'string' },
    'target': { type: 'string' },
    'since': { type: 'string' },
    'until-live': { type: 'boolean' },
  },
  args: [1, 1],
  async run(given, terminal) {
    const url = addressOf(given.args[0] ?? '');
    const client = createClient({ url, ...await callerFrom(given, { url, terminal }) });
    const untilLive = given.options['until-live'] === true;
    const stream = await client.events({
      signal: terminal.signal,
      traceId: optionOf(given, 'trace'),
      action: optionOf(given, 'action'),
      actor: optionOf(given, 'actor'),
      target: optionOf(given, 'target'),
      lastEventId: optionOf(given, 'since'),
    });
    for await (const item of stream) {
      if (item.type === 'event') terminal.out(`${JSON.stringify({ id: item.id, ...item.event })}\n`);
      else if (item.type === 'gap') terminal.err(`Missed ${item.dropped ?? 'some'} events\n`);
      else if (untilLive) return 0;
    }
    return 0;
  },
};
