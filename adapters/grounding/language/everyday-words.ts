/** Words that people say in every conversation, whatever it is about. In a query they are weaker evidence than other words. */

/** The most frequent words of spoken English that are neither words of grammar nor names of things, and words of politeness. */
const words =
  `actually afraid ago ahead alone already alright although anyway apart apparently appreciate around ask away awful
bad basically beautiful believe best better big bit bother bring bye came care cause certain certainly chance clear
clearly come completely cool crazy currently dear definitely different difficult doubt early easy enough especially
even everything exactly excuse fact fairly fantastic feel felt figure find fine first folks forget forgot forward
found fun funny glad go goes gone gonna good got gotta great guess guy guys half happen happy hard hate hear heard
hello help here hey hi hold honest honestly hope huge hurry idea imagine immediately important instead interested
issue keep kept kind kinda knew know known last lately later least leave left life listen literally little long looked
looks lot love luck mad makes matter maybe mean meant mind moment mostly nearly never new next nice normally nothing
noticed obviously odd often ok okay old particular past people perfect perhaps plenty possible pretty probably problem
properly quick quickly quite rather ready real really recently regarding related remember right sad said saw say
saying says see seem seen sense serious several show similar simple simply single sir situation soon sorry sort sounds
special specific specifically stay stop strange stuff suddenly suppose supposed sure take taken talk terrible thank
thing think thought time today together told tomorrow tonight took totally tried trouble true truly try unfortunately
usually wait wanna way weird weren won wonder work worried worry worse worst wow wrong yeah yep yesterday`;

const everyday = new Set(words.split(/\s+/));

/** Returns whether a word in lower case, or its stem, is one of everyday talk. */
export function isEveryday(word: string, stemmed: string): boolean {
  return everyday.has(word) || everyday.has(stemmed);
}
