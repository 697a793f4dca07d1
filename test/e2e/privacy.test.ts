import { describe, expect, it } from 'vitest';
import { usePlayground } from '../tools/playground.ts';

const { open } = usePlayground();

describe('the policy of the built page', () => {
  it('lets nobody write HTML or start scripts, in the page or in its worker', async () => {
    const { page, problems } = await open();
    const attempts = await page.evaluate(() => {
      const outcome = (attempt: () => unknown): string => {
        try {
          attempt();
          return 'done';
        } catch (error) {
          return (error as Error).name;
        }
      };
      return [
        outcome(() => (document.body.innerHTML += '<img src=x onerror=alert(1)>')),
        outcome(() => document.write('<script>alert(1)</script>')),
        outcome(() => new Worker('data:text/javascript,postMessage(1)')),
        outcome(() => Object.assign(document.createElement('script'), { text: 'alert(1)' })),
        outcome(() => document.createElement('iframe').setAttribute('srcdoc', '<script>alert(1)</script>')),
      ];
    });
    expect(attempts).toEqual(Array.from(attempts, () => 'TypeError'));
    expect(problems.length).toBeGreaterThan(0); // what is refused is told: other tests find none
    problems.length = 0;
    const worker = page.workers().find((one) => one.url().includes('/worker-'))!; // safe: an agent has answered
    // In a task of its own: what the debugger evaluates is exempt.
    const compile = `try { new Function('return 1')(); resolve('done'); } catch ({ name }) { resolve(name); }`;
    const compiled = await worker.evaluate(`new Promise((resolve) => setTimeout(() => { ${compile} }))`);
    expect(compiled).toBe('EvalError');
    await expect.poll(() => problems).toEqual([expect.stringContaining('The policy was violated')]);
  });
});
