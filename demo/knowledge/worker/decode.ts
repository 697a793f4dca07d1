/** The text of a file, in the encodings that text files have. */

export { decodeText } from '../../../adapters/grounding/decode-text.ts';
