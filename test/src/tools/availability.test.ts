import { describe, expect, it } from 'vitest';
import { createAllowlist, unavailability } from '../../../src/tools/availability.ts';

describe('unavailability', () => {
  it.each(
    [
      [false, 'active', 'public', 'not_allowed'],
      [false, 'disabled', 'hidden', 'not_allowed'],
      [true, 'active', 'public', undefined],
      [true, 'active', 'internal', undefined],
      [true, 'disabled', 'hidden', 'disabled'],
      [true, 'active', 'hidden', 'hidden'],
    ] as const,
  )('of a tool that is allowed (%s), %s and %s is %s', (isAllowed, state, visibility, expected) => {
    expect(unavailability({ state, visibility }, isAllowed)).toBe(expected);
  });
});

describe('createAllowlist', () => {
  it.each([
    [[], false],
    [['notes'], false],
    [['notes_add'], true],
    [['notes_*'], true],
    [['*'], true],
  ])('of %j has the tool notes_add: %s', (entryTools, expected) => {
    expect(createAllowlist(entryTools).has('notes_add')).toBe(expected);
  });

  it('does not mean with a bare * a tool that must be named', () => {
    expect(createAllowlist(['*']).has('notes_add', true)).toBe(false);
    expect(createAllowlist(['no*']).has('notes_add', true)).toBe(true);
  });

  it('returns the exact ids that were not checked', () => {
    const allows = createAllowlist(['a', 'b', 'c*']);
    expect([allows.has('a'), allows.has('cx'), allows.has('x')]).toEqual([true, true, false]);
    expect(allows.unmatched()).toEqual(['b']);
  });
});
