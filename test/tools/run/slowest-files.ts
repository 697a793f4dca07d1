/** A reporter of vitest that prints the ten slowest files of each project. */

import type { Reporter, TestModule } from 'vitest/node';

const shown = 10;

export function slowestFiles(): Reporter {
  return {
    onTestRunEnd(modules) {
      const byProject = Map.groupBy(modules, ({ project }) => project.name);
      for (const [name, files] of byProject) if (files.length > shown) console.log(tableOf(name, files));
    },
  };
}

function tableOf(project: string, files: readonly TestModule[]): string {
  const timed = files.map((file) => ({ file: file.relativeModuleId, ms: msOf(file) }));
  const total = timed.reduce((sum, { ms }) => sum + ms, 0);
  const slowest = timed.toSorted((a, b) => b.ms - a.ms).slice(0, shown);
  return [
    `\nThe ${shown} slowest of ${files.length} files in "${project}" (${seconds(total)} in all)`,
    ...slowest.map(({ file, ms }) => `${seconds(ms).padStart(9)}  ${file}`),
  ].join('\n');
}

/** The time from a file's set-up to the end of its last test. */
function msOf(file: TestModule): number {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = file.diagnostic();
  return environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
