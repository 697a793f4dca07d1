import { describe, expect, it } from 'vitest';
import { virtualTime } from '../../../src/simulation/index.ts';

describe('virtual time', () => {
  it('passes only when nothing else can happen, and then at once', async () => {
    using time = virtualTime({ start: 1000 });
    const order: string[] = [];
    setTimeout(() => order.push(`second at ${Date.now()}`), 3_600_000);
    setTimeout(() => order.push(`first at ${new Date().getTime()}`), 60_000);
    const hashed = crypto.subtle.digest('SHA-256', new Uint8Array(1_000_000)).then(() => order.push('hashed'));
    expect(await time.passUntil(hashed, 1)).toBe(true);
    await time.pass(3_600_000);
    expect(order).toEqual(['hashed', 'first at 61000', 'second at 3601000']);
    expect([time.now(), performance.now(), time.timers]).toEqual([3_601_000, 3_600_000, 0]);
  });

  it('ends waiting for what never happens', async () => {
    using time = virtualTime({ start: 0 });
    expect(await time.passUntil(new Promise(() => undefined), 5_000)).toBe(false);
    expect(time.now()).toBe(5_000);
  });

  it('repeats intervals until they are cleared, and fires AbortSignal.timeout without counting it', async () => {
    using time = virtualTime();
    let count = 0;
    const interval = setInterval(() => (count += 1), 100);
    const signal = AbortSignal.timeout(250);
    expect(time.timers).toBe(1);
    await time.pass(350);
    clearInterval(interval);
    await time.pass(1_000);
    expect([count, signal.aborted, (signal.reason as DOMException).name]).toEqual([3, true, 'TimeoutError']);
  });

  it.runIf(typeof process === 'object' && process.release.name === 'node')(
    'gives Node’s own code timers as it expects them, and does not count those that keep no process alive',
    () => {
      using time = virtualTime();
      const timer = setTimeout(() => undefined, 1_000);
      expect(time.timers).toBe(1);
      expect(timer.unref().hasRef()).toBe(false);
      expect(time.timers).toBe(0);
      expect(timer.ref().hasRef()).toBe(true);
      clearTimeout(timer);
      expect(time.timers).toBe(0);
    },
  );

  it('makes randomness the same for the same seed', () => {
    const valuesOf = (seed: number): unknown => {
      using _ = virtualTime({ seed });
      return [Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(4))]];
    };
    expect(valuesOf(7)).toEqual(valuesOf(7));
    expect(valuesOf(7)).not.toEqual(valuesOf(8));
    expect(JSON.stringify(valuesOf(7))).toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/);
  });

  it('delivers answers one by one, in the order in which they are ready', async () => {
    using time = virtualTime();
    const order: string[] = [];
    const note = async (work: Promise<string>): Promise<void> => {
      const text = await time.inTurn(work);
      order.push(text);
      await Promise.resolve();
      order.push(`after ${text}`);
    };
    const slow = note(Promise.resolve().then(() => 'slow'));
    const fast = note(Promise.resolve('fast'));
    await time.passUntil(Promise.all([slow, fast]), 1);
    expect(order).toEqual(['fast', 'after fast', 'slow', 'after slow']);
  });

  it('restores the platform, and refuses to be virtual twice', () => {
    const owners = [globalThis, globalThis, performance, Math, crypto.subtle, AbortSignal];
    const names = ['setTimeout', 'Date', 'now', 'random', 'digest', 'timeout'];
    const platform = (): unknown[] => owners.map((owner, at) => Reflect.get(owner, names[at] ?? ''));
    const before = platform();
    const time = virtualTime({ seed: 1 });
    expect(platform().filter((one, at) => one === before[at])).toEqual([]);
    expect(() => virtualTime()).toThrow(/already is; close the other one first/);
    time.close();
    time.close();
    expect(platform()).toEqual(before);
  });
});
