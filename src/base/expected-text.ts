/** Returns the words that follow "must be" for what a schema expects: `an object` for `Object`, `"a" or "b"` for `("a" | "b")`. */
export function expectedText(expected: string): string {
  return expected.replace(/^\(|\)$/g, '').replaceAll(' | ', ' or ')
    .replace(/(?<!["\w])(?:(object|array|integer)|string|number|boolean)(?!\w)/gi, (type: string, vowel?: string) => {
      return `${vowel ? 'an' : 'a'} ${type.toLowerCase()}`;
    });
}
