/** Stems of words, as in the whole project. */

export { stem } from '../../base/language/stem.ts';
