/** Stems of words: "listing", "listed" and "lists" become one term (M. F. Porter, 1980). */

import { stem as porterStem } from '../../base/language/stem.ts';

/** Words whose stem would be that of a word with another meaning, as "production" and "product". Each line is one term. */
const exceptions = new Map(
  `production productions
news
university universities
universal
general generally
generic
animation animations animated
important importance
policy policies
police
operational
factory factories
active actively
activity activities
international
relative relatively
intern interns internship
organization organizations organisation organisations
organic`.split('\n').flatMap((line) => {
    const [term = '', ...forms] = line.split(' ');
    return [term, ...forms].map((form): [string, string] => [form, term]);
  }),
);

/**
 * Returns the stem of an English word in lower case; any other text stays as it is. Porter turns the last letter of "deploy" into an
 * "i", but not that of "deployment": here both end in "y".
 */
export function stem(word: string): string {
  return exceptions.get(word) ?? porterStem(word).replace(/(?<=[aeou])i$/, 'y');
}
