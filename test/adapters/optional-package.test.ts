import { describe, expect, it } from 'vitest';
import { optionalPackage } from '../../adapters/base/optional-package.ts';

describe('optionalPackage', () => {
  it('returns what it loads', async () => {
    expect(await optionalPackage('valibot', async () => await Promise.resolve(42))).toBe(42);
  });

  it('says how to install a package that is missing', async () => {
    const missing = Object.assign(new Error("Cannot find package '@some/sdk' imported from x"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    await expect(optionalPackage('@some/sdk', () => Promise.reject(missing))).rejects.toMatchObject({
      code: 'unavailable',
      retryable: false,
      message: 'The package "@some/sdk" is not installed: run `npm install @some/sdk`',
      details: { reason: 'package_missing', package: '@some/sdk' },
      cause: missing,
    });
    const inDeno = new TypeError('Import "@some/sdk" not a dependency');
    await expect(optionalPackage('@some/sdk', () => Promise.reject(inDeno))).rejects.toMatchObject({ cause: inDeno });
  });

  it('passes other errors on, such as one thrown by a module that is there', async () => {
    const own = new Error('@some/sdk cannot start');
    await expect(optionalPackage('@some/sdk', () => Promise.reject(own))).rejects.toBe(own);
    const other = Object.assign(new Error("Cannot find package 'zod'"), { code: 'ERR_MODULE_NOT_FOUND' });
    await expect(optionalPackage('@some/sdk', () => Promise.reject(other))).rejects.toBe(other);
  });
});
