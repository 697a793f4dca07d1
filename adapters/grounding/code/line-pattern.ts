/** A regular expression that is searched for in lines of code. Loaded with the first query that has one. */

import { findMatch } from '../../../src/permission/regex/find.ts';
import { parseRegex } from '../../../src/permission/regex/matcher.ts';

/** A regular expression for lines. */
export type LinePattern = ReturnType<typeof linePattern>;

/** Of a longer line only the beginning is looked at, so that a line of megabytes does not block other work. */
const longestPiece = 20_000;

/** @throws PinnaceError `invalid_argument` for a pattern that cannot be tested in linear time. */
export function linePattern(
  { pattern, ignoreCase }: { readonly pattern: string; readonly ignoreCase: boolean },
) {
  const program = parseRegex(pattern, { ignoreCase });
  return {
    literal: program.literal,
    /** Returns where in the line it matches. */
    find(line: string): readonly [from: number, to: number] | undefined {
      if (!program.mayMatch(line)) return undefined;
      const match = findMatch(program, line.length > longestPiece ? line.slice(0, longestPiece) : line);
      return match && match[1] > match[0] ? match : undefined;
    },
  };
}
