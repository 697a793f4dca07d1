/** `pinnace/discovery`: the index that finds tools by keywords, and the four tools over it. */

export { type DiscoveryOptions, discoveryToolNames, type DiscoveryTools, discoveryTools } from './discovery-tools.ts';
export { type Field, type IndexedTool, toIndexedTool } from './tool-fields.ts';
export { commonSynonyms, createThesaurus, type Thesaurus } from '../search/thesaurus.ts';
export { createToolIndex, type Explanation, type TermScore, type ToolHit, type ToolIndex } from './tool-index.ts';
export type { FoundTool, Rerank } from './discovery-tools.ts';
