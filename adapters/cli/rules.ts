/** `pinnace rules`: what permission rules would have said of calls that were made. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { RuleInput } from '../../src/permission/rules.ts';
import { type TriedCall, type TriedEvent, tryRules } from '../../src/permission/try-rules.ts';
import { type Command, readInput, UsageError } from './command.ts';

export const rules: Command = {
  summary: 'Try permission rules on recorded calls',
  usage: `pinnace rules try RULES EVENTS [--allow] [--json]

  RULES    a JSON list of rules, as createRules takes them
  EVENTS   JSONL of events, as "pinnace events" prints them
  --allow  calls that no rule matches are allowed; denied when absent
  --json   print every call as JSON

Says which calls the rules would have asked about or stopped. A rule that depends on a value of the input, which events do not
have, may be unknown. The exit code is 1 when a rule is wrong.`,
  options: { allow: { type: 'boolean' }, json: { type: 'boolean' } },
  args: [3, 3],
  async run({ args: [verb = '', rulesPath = '', eventsPath = ''], options }, { out }) {
    if (verb !== 'try') throw new UsageError(`There is no "rules ${verb}"`);
    const [list, lines] = await Promise.all([readInput(rulesPath, 'RULES'), readInput(eventsPath, 'EVENTS')]);
    const events = lines.split('\n').filter((line) => line.trim() !== '').map((line) =>
      jsonOf(line, 'EVENTS') as TriedEvent
    );
    const tried = await tryRules(jsonOf(list, 'RULES') as RuleInput[], events, {
      otherwise: options['allow'] === true ? 'allow' : 'deny',
    });
    if (options['json'] === true) tried.forEach((call) => out(`${JSON.stringify(call)}\n`));
    else tried.filter(({ decision }) => decision !== 'allow').forEach((call) => out(`${lineOf(call)}\n`));
    const count = (decision: TriedCall['decision']): number =>
      tried.filter((call) => call.decision === decision).length;
    const counts = (['allow', 'ask', 'deny', 'unknown'] as const).map((each) => `${each} ${count(each)}`).join(', ');
    if (options['json'] !== true) out(`${tried.length} calls: ${counts}\n`);
    return 0;
  },
};

function lineOf({ at, decision, tool, agentId, traceId, reason = '' }: TriedCall): string {
  return [`${at + 1}`, decision, tool, agentId ?? '-', traceId, reason].join('  ');
}

function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PinnaceError('invalid_argument', `Cannot read ${what}: it is not JSON`);
  }
}
