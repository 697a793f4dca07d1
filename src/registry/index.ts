/** `pinnace/registry`: agents, tools, MCP servers, providers and data sources, as records over a `Storage`. */

export type { CatalogExport } from './catalog-document.ts';
export type { Collection, FoundRecords, Patch, Registration, VersionOptions } from './collection.ts';
export type { Difference } from './diff.ts';
export type { Author, HistoryEntry } from './history.ts';
export type { ImportChange, ImportOptions, ImportReport } from './import-catalog.ts';
export type { RegistryQuery } from './list.ts';
export { createRegistry, type Registry, type RegistryOptions } from './registry.ts';
export type { WriteOptions } from './write.ts';
