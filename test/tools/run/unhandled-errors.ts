/** A reporter of vitest that writes the errors which no test caught beside the JSON report, which leaves them out. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Reporter } from 'vitest/node';

/** The file of the errors beside a JSON report. */
export function unhandledFile(report: string): string {
  return report.replace(/\.json$/, '.unhandled.json');
}

/** Creates the reporter. The file exists only after a run with such errors. */
export function unhandledErrors(): Reporter {
  let path: string | undefined;
  return {
    onInit({ config: { outputFile, root } }) {
      const report = typeof outputFile === 'string' ? outputFile : outputFile?.['json'];
      path = report === undefined ? undefined : unhandledFile(resolve(root, report));
      if (path !== undefined) rmSync(path, { force: true });
    },
    onTestRunEnd(_modules, errors) {
      if (path === undefined || errors.length === 0) return;
      mkdirSync(dirname(path), { recursive: true });
      const failures = errors.map(({ name, message, stack }) => ({
        title: name ?? 'Error',
        message: stack ?? message,
      }));
      writeFileSync(path, JSON.stringify(failures));
    },
  };
}
