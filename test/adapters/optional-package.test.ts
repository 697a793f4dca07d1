import { describe, expect, it } from 'vitest';
import { packageError } from '../../adapters/base/optional-package.ts';

describe('packageError', () => {
  it.each([
    [
      'Node',
      Object.assign(new Error("Cannot find package '@some/sdk' imported from x"), { code: 'ERR_MODULE_NOT_FOUND' }),
    ],
    ['webpack', Object.assign(new Error("Cannot find module '@some/sdk'"), { code: 'MODULE_NOT_FOUND' })],
    ['Deno', new TypeError('Import "@some/sdk" not a dependency')],
  ])('says how to install a package that is missing on %s', (_, cause) => {
    expect(packageError('@some/sdk', cause)).toMatchObject({
      code: 'unavailable',
      retryable: false,
      message: 'The package "@some/sdk" is not installed: run `npm install @some/sdk`',
      details: { reason: 'package_missing', package: '@some/sdk' },
      cause,
    });
  });

  it('returns other errors as they are, such as one thrown by a module that is there', () => {
    const own = new Error('@some/sdk cannot start');
    expect(packageError('@some/sdk', own)).toBe(own);
    const other = Object.assign(new Error("Cannot find package 'zod'"), { code: 'ERR_MODULE_NOT_FOUND' });
    expect(packageError('@some/sdk', other)).toBe(other);
  });
});
