/** Set-up of every test file: lets what is waited for come late. On a busy machine a second, which is what vitest allows, is soon over. */

import { vi } from 'vitest';

const { waitFor } = vi;
const patience = { timeout: 30_000, interval: 10 };

vi.waitFor = (check, options) =>
  waitFor(check, typeof options === 'number' ? { ...patience, timeout: options } : { ...patience, ...options });
