/** `pinnace/grounding`: one question to many sources, what fills them, and the tools over them. */

export { Filter, type FilterOp } from '../contracts/grounding-source.ts';
export type { AccessHooks, GroundingCallOptions } from './access.ts';
export { type Calibration, fitCalibration, type JudgedHit } from './calibration.ts';
export type { Citation } from './context.ts';
export { type ContextOptions, createContext, type GroundingContext } from './context.ts';
export { createGrounding, type CreateGroundingOptions, type Grounding } from './create-grounding.ts';
export { groundingTools, type GroundingToolsOptions } from './grounding-tools.ts';
export { type DataRecord, parseCsv } from './ingest/csv.ts';
export {
  forgetFile,
  ingest,
  type IngestFile,
  type IngestOptions,
  type IngestProgress,
  type IngestReport,
} from './ingest/ingest.ts';
export {
  ForgetInput,
  type GroundingAnswer,
  type GroundingHit,
  RememberInput,
  type RetrieveInput,
  RetrieveRequest,
  type SourceReport,
} from './request.ts';
export { perSubject, type PerSubjectOptions } from './create-grounding.ts';
export type { RetrievalRecord } from './create-grounding.ts';
export type { Tool } from '../tools/tool.ts';
export type { GroundingSource } from '../contracts/grounding-source.ts';
