import { describe, expect, it } from 'vitest';
import { isNetworkError } from '../../../../src/base/network.ts';

const thrownBy = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown');
};
describe('isNetworkError in this engine', () => {
  it('is true for a host that refuses the connection', async () => {
    expect(isNetworkError(await thrownBy(() => fetch('http://127.0.0.1:1/')))).toBe(true);
  });

  it('is true for a host that does not exist', async () => {
    expect(isNetworkError(await thrownBy(() => fetch('http://nowhere.invalid/')))).toBe(true);
  });
});
