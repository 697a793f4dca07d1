/** `pinnace/discovery`: the index that finds tools by keywords, and the four tools over it. */

export { type DiscoveryOptions, discoveryToolNames, type DiscoveryTools, discoveryTools } from './discovery-tools.ts';
export type { Explanation, TermScore } from './index/explain.ts';
export { type Field, type IndexedTool, toIndexedTool } from './index/fields.ts';
export { commonSynonyms, createThesaurus, type Thesaurus } from '../search/thesaurus.ts';
export { createToolIndex, type ToolHit, type ToolIndex } from './index/tool-index.ts';
export type { FoundTool, Rerank } from './rerank.ts';
