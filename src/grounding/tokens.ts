/** How many tokens a text takes, near enough to share a budget: no model's own tokenizer is at hand. */

/** Four characters of Latin text a token; one token for a character of Chinese, Japanese, Korean or an emoji. */
export function estimateTokens(text: string): number {
  let wide = 0;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x2e80) wide++;
  return Math.ceil((text.length - wide) / 4 + wide);
}

/** Returns the longest beginning of a text that takes at most so many tokens, ended at a word where one is near. */
export function cutToTokens(text: string, most: number): string {
  let [wide, end] = [0, 0];
  for (; end < text.length; end++) {
    if (text.charCodeAt(end) >= 0x2e80) wide++;
    if ((end + 1 - wide) / 4 + wide > most) break;
  }
  if (end === text.length) return text;
  const cut = text.slice(0, end);
  const space = Math.max(cut.lastIndexOf(' '), cut.lastIndexOf('\n'));
  return `${(space > end * 0.8 ? cut.slice(0, space) : cut).trimEnd().replace(/[\uD800-\uDBFF]$/, '')} …`;
}
