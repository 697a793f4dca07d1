/** The sample tools. */

export { sampleTools } from './sample-tools.ts';
