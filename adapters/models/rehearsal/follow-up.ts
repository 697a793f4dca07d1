/** A message that only makes sense after the one before: "And in miles?" asks the same again, in another unit. */

const question = /^(?:and|what about|how about) (?:in|to|at|for) ([\p{L} ]{2,40})\W*$/iu;
const ending = /\b(in|into|to|at|for) [^,;.?!]{1,60}(\W*)$/iu;

/** Returns the message in full: the one before, with its last place or unit replaced. */
export function inFull(message: string, before: string): string {
  const wanted = question.exec(message)?.[1];
  return wanted && ending.test(before) ? before.replace(ending, `$1 ${wanted}$2`) : message;
}
