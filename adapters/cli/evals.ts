/** `pinnace evals`: runs recorded cases against a runtime and compares the report with an earlier one. */

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord } from '../../src/base/is-record.ts';
import { type Check, checks, type EvaluateOptions, runEvals } from '../../src/evals/index.ts';
import { type Command, optionOf, readInput, requireOption, UsageError } from './command.ts';

export const evals: Command = {
  summary: 'Run recorded cases, without keys when there is a tape',
  usage: `pinnace evals CASES --subject MODULE [--tape FILE] [--baseline FILE] [--report FILE]

  CASES            JSONL of cases, as \`datasetOf\` and \`toJsonLines\` make them
  --subject MODULE exports \`subject\`, and \`checks\` if the cases should pass others than the state and the calls
  --tape FILE      JSONL of recorded answers of models; the models of the subject answer when absent
  --baseline FILE  an earlier report to compare with
  --report FILE    where to write the report as JSON

The exit code is 1 when a case fails or is worse than in the baseline, and 2 when the tape lacks an answer.`,
  options: {
    subject: { type: 'string' },
    tape: { type: 'string' },
    baseline: { type: 'string' },
    report: { type: 'string' },
  },
  args: [1, 1],
  async run(given, { out, signal }) {
    const [cases = ''] = given.args;
    const module = await load(requireOption(given, 'subject'));
    const [tape, baseline] = await Promise.all(['tape', 'baseline'].map(async (name) => {
      const path = optionOf(given, name);
      return path === undefined ? undefined : await readInput(path, `--${name}`);
    }));
    const files = {
      cases: await readInput(cases, 'CASES'),
      ...(tape !== undefined && { tape }),
      ...(baseline !== undefined && { baseline }),
    };
    const { exitCode, report, table } = await runEvals(files, { ...module, signal });
    out(`${table}\n`);
    const path = optionOf(given, 'report');
    if (path !== undefined) await writeFile(path, `${JSON.stringify(report, null, 2)}\n`);
    return exitCode;
  },
};

function cannotImport(cause: unknown): never {
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new PinnaceError('invalid_argument', `Cannot import the module of --subject: ${why}`, { cause });
}

/** Imports the caller's module. Only its shape is checked: its code is the caller's own. */
async function load(path: string): Promise<Pick<EvaluateOptions, 'subject' | 'checks'>> {
  await readInput(path, '--subject');
  const loaded = asRecord(await import(pathToFileURL(resolve(path)).href).catch(cannotImport));
  const subject = loaded['subject'];
  if (typeof asRecord(subject)['createRuntime'] !== 'function') {
    throw new UsageError('The module of --subject must export `subject`, an object with the function `createRuntime`');
  }
  const given = loaded['checks'];
  return {
    subject: subject as EvaluateOptions['subject'], // safe: the caller's own code
    checks: Array.isArray(given) ? given as Check[] : [checks.state('completed'), checks.sameCalls()],
  };
}
