/** `pinnace rules`: what permission rules would have said of calls that were made. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { RuleInput } from '../../src/permission/rules.ts';
import { type TriedCall, type TriedEvent, tryRules } from '../../src/permission/try-rules.ts';
import { type Command, readInput, UsageError } from './command.ts';

export const rules: Command = {
  summary: 'Try permission rules on recorded calls',
  usage: `pinnace rules try RULES EVENTS [options]

  RULES         a JSON list of rules, as createRules takes them
  EVENTS        JSONL of events of any number of runs, as "pinnace events" prints them
  --since TIME  calls that ended at this time or later, as 2026-01-31 or 2026-01-31T12:00Z
  --until TIME  calls that ended before this time
  --agents IDS  calls of these agents alone, separated by commas
  --allow       calls that no rule matches are allowed; denied when absent
  --json        print every call as JSON

Says which calls the rules would have asked about or stopped, in which run, and counts them by tool. A rule that depends on a value
of the input, which events do not have, may be unknown. Progress is written to stderr. The exit code is 1 when a rule is wrong.`,
  options: {
    allow: { type: 'boolean' },
    json: { type: 'boolean' },
    since: { type: 'string' },
    until: { type: 'string' },
    agents: { type: 'string' },
  },
  args: [3, 3],
  async run({ args: [verb = '', rulesPath = '', eventsPath = ''], options }, { out, err, signal }) {
    if (verb !== 'try') throw new UsageError(`There is no "rules ${verb}"`);
    const [list, lines] = await Promise.all([readInput(rulesPath, 'RULES'), readInput(eventsPath, 'EVENTS')]);
    const events = lines.split('\n').filter((line) => line.trim() !== '').map((line) =>
      jsonOf(line, 'EVENTS') as TriedEvent
    );
    let shown = 1; // little work has no progress
    const tried = await tryRules(jsonOf(list, 'RULES') as RuleInput[], events, {
      otherwise: options['allow'] === true ? 'allow' : 'deny',
      since: textOf(options['since']),
      until: textOf(options['until']),
      agents: textOf(options['agents'])?.split(','),
      signal,
      onProgress(progress) {
        const tenths = Math.floor(10 * progress.events / events.length);
        if (tenths > shown) err(`${progress.events} of ${events.length} events, ${progress.calls} calls\n`);
        shown = Math.max(shown, tenths);
      },
    });
    if (options['json'] === true) tried.forEach((call) => out(`${JSON.stringify(call)}\n`));
    else tried.filter(({ decision }) => decision !== 'allow').forEach((call) => out(`${lineOf(call)}\n`));
    const count = (decision: TriedCall['decision']): number =>
      tried.filter((call) => call.decision === decision).length;
    const counts = (['allow', 'ask', 'deny', 'unknown'] as const).map((each) => `${each} ${count(each)}`).join(', ');
    if (options['json'] === true) return 0;
    const runs = new Set(tried.map(({ traceId }) => traceId)).size;
    for (const [tool, calls] of Map.groupBy(tried, (call) => `${call.decision}  ${call.tool}`)) {
      if (!tool.startsWith('allow')) {
        out(`${tool}: ${calls.length} calls in ${new Set(calls.map((call) => call.traceId)).size} runs\n`);
      }
    }
    out(`${tried.length} calls in ${runs} runs: ${counts}\n`);
    return 0;
  },
};

function lineOf({ at, timestamp, decision, tool, agentId, traceId, reason = '' }: TriedCall): string {
  return [`${at + 1}`, timestamp, decision, tool, agentId ?? '-', traceId, reason].join('  ');
}

function textOf(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PinnaceError('invalid_argument', `Cannot read ${what}: it is not JSON`);
  }
}
