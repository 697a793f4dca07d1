/** Words of grammar, by language. They are dropped from texts and from queries in their own language only. */

import { formOf } from '../../../src/base/language/fold.ts';

const english =
  `a about after again all also always am an and another any anybody anyone anything are as at be because been
before being between both but by can cannot could d did do does doing don down during each else etc ever every few for from
further get gets getting give gives had has have having he her him himself his hers how however i if im in into is it its
itself just let lets like ll looking m many may me might mine more most much must my myself need needs no nobody nor not now of
off on once one only or other others our ours out over own per please re same shall she should since so some somebody someone
something still such t tell than that the their them themselves then there these they this those though through to too under
until up upon us use used uses using ve very via want wanted wants was we well were what whatever when where whether which
while who whom whose why will with within without would yes yet you your yours`;

const german =
  `aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern
auch auf aus bei beim bin bis bist da damit dann das dass dasselbe dazu dein deine deinem deinen deiner dem den denn der des
derselbe dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig
einige einigen er es etwas euch euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer im in indem ins ist jede jedem jeden jeder jedes jene jener jetzt kann kein keine keinem keinen
keiner können könnte machen man manche manchen mein meine meinem meinen meiner mich mir mit muss musste nach nicht nichts noch
nun nur ob oder ohne sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte sondern sonst über um und
uns unser unsere unter vom von vor während war waren warum was weg weil weiter welche welchem welchen welcher welches wenn
werde werden wer wie wieder will wir wird wo wollen wollte würde würden zu zum zur zwar zwischen`;

const french =
  `ai as au aucun aussi autre aux avec avez avons avoir c ce ceci cela celle celles celui ces cet cette ceux
chaque ci comme comment d dans de des donc dont du elle elles en encore entre est et été être eu eux fait font ici il ils j je
l la le les leur leurs lors lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas peu peut plus
pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t ta te tes toi ton tous
tout toute toutes très tu un une vos votre vous y`;

const spanish =
  `a al algo algunas algunos ante antes aquel como con contra cual cuál cuando cuándo cómo de del desde donde
dónde dos e el él ella ellas ellos en entre era es esa ese eso esos esta está están estas este esto estos fue ha han hasta hay
he la las le les lo los más me mi mí mis mucho muchos muy nada ni no nos nosotros nuestra nuestro o os otra otras otro otros
para pero poco por porque por qué que qué quien quién se sea ser si sí sin sobre son soy su sus también tan tanto te tengo
tiene tienen todo todos tu tú tus un una unas uno unos usted y ya yo`;

/** The languages whose stop words are known, in the order in which equal counts are decided. */
const languages = [english, german, french, spanish].map((words) => words.split(/\s+/).map(formOf));

const masks = new Map<string, number>();
for (const [at, words] of languages.entries()) {
  for (const word of words) masks.set(word, (masks.get(word) ?? 0) | (1 << at));
}

/** Returns the languages whose grammar has this word, as bits; 0 for a word with a meaning of its own. */
export function stopMaskOf(word: string): number {
  return masks.get(word) ?? 0;
}

/** How many masks there are. */
export const maskCount = 1 << languages.length;

/** Returns the bit of the language that most words are of, by how many words have each mask: English when none is recognized. */
export function languageOf(counts: ArrayLike<number>): number {
  let [best, most] = [1, 0];
  for (let bit = 1; bit < maskCount; bit <<= 1) {
    let count = 0;
    for (let mask = 1; mask < maskCount; mask++) if (mask & bit) count += counts[mask]!;
    if (count > most) [best, most] = [bit, count];
  }
  return best;
}
