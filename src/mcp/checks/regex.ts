/** Which regular expressions may take longer than anyone waits. */

const maxLength = 512;

/**
 * Whether a pattern is none, too long, or of a shape whose time can grow with every character: a repeated group that holds another
 * repetition or alternatives, or a reference to what was matched. It errs on the side of refusing.
 */
export function isRisky(pattern: unknown): boolean {
  if (typeof pattern !== 'string' || pattern.length > maxLength) return true;
  try {
    void new RegExp(pattern, 'u');
  } catch {
    return true;
  }
  // Escaped characters and classes cannot nest: each stands for one harmless character from here on.
  const bare = pattern.replaceAll(/\\[1-9]|\\k</g, '\u0001').replaceAll(/\\./g, 'x').replaceAll(/\[[^\]]*\]/g, 'x');
  return bare.includes('\u0001') || hasNestedRepetition(bare);
}

function hasNestedRepetition(bare: string): boolean {
  const groups: boolean[] = [];
  for (let i = 0; i < bare.length; i++) {
    if (bare[i] === '(') groups.push(false);
    else if (bare[i] === ')') {
      const repeats = groups.pop() === true;
      const isRepeated = /^(?:[*+]|\{\d+(?:,\d*)?\})/.test(bare.slice(i + 1, i + 12));
      if (repeats && isRepeated) return true;
      if (repeats || isRepeated) markTop(groups);
    } else if (/[*+|{]/.test(bare[i] ?? '')) markTop(groups);
  }
  return false;
}

function markTop(groups: boolean[]): void {
  if (groups.length > 0) groups[groups.length - 1] = true;
}
