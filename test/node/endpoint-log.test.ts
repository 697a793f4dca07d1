import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Starts the endpoint in a process of its own. */
function printed(command: readonly string[], mode: string): { readonly stdout: string; readonly stderr: string } {
  const [name = '', ...args] = command;
  const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin', name), [
    ...args,
    'test/fixtures/processes/failing-tool.ts',
  ], { cwd: root, encoding: 'utf8', env: { ...process.env, NODE_ENV: mode, NO_COLOR: '1' }, timeout: 60_000 });
  return { stdout, stderr };
}

describe.each([
  ['Node', ['node', '--no-warnings']],
  ['Deno', ['deno', 'run', '-A', '--quiet', '--unstable-kv']],
])('an endpoint on %s without sinks and onError', (_, command) => {
  it('prints a line for each run, and where the failed tool has thrown, without keys and inputs', () => {
    const { stdout, stderr } = printed(command, 'development');
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d helper completed in \d+\.\d s, [\d,]+ tokens, find_order \(failed\), run_\w+$/,
    );
    expect(lines[1]).toMatch(/^\d\d:\d\d:\d\d helper completed in \d+\.\d s, [\d,]+ tokens, run_\w+$/);
    const [head, message, ...frames] = stderr.trimEnd().split('\n');
    expect(head).toMatch(/^tool "find_order" failed \(step 1, run run_\w+, trace \w+\)$/);
    expect(message).toBe('  Error: No such order, asked with [key]');
    expect(frames.length).toBeLessThanOrEqual(3);
    expect(frames[0]).toContain('failing-tool.ts:');
    expect(stdout + stderr).not.toContain('my-private-order');
  });

  it('prints a line for what fails alone in production, without the text of the error', () => {
    const { stdout, stderr } = printed(command, 'production');
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^tool "find_order" failed \(step 1, run run_\w+, trace \w+\): Error\n$/);
  });
});
