import { describe, expect, it } from 'vitest';
import { pageNumber, readPagePlace, writePageToken } from '../../../src/base/page.ts';

describe('readPagePlace', () => {
  const query = { kind: 'agents' };

  it('returns the place of a token', async () => {
    expect(await readPagePlace(query, await writePageToken(query, '50'), pageNumber)).toBe(50);
  });

  it.each(['', '-1', '1.5', 'NaN', '1e3', '9'.repeat(16)])('refuses a token with the place %j', async (after) => {
    await expect(readPagePlace(query, await writePageToken(query, after), pageNumber)).rejects.toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'invalid_page_token' },
    });
  });
});
