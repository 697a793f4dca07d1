/** `pinnace/simulation`: runs an app's own runtime in virtual time, under seeded faults at every port. */

export type { Chance } from './chance.ts';
export type { SimulatedClient, SimulatedRuntime } from './client.ts';
export type { Fault, FaultStrike, Scheduler, StruckCall, StruckInstance } from './faults.ts';
export { portFaults } from './faults.ts';
export { faulty } from './instance.ts';
export type { LaunchContext, SimulateOptions, WorldContext } from './options.ts';
export type { Invariant, ScenarioOutcome, StruckFault } from './report.ts';
export type { ExecutedCall, Phase, SentRequest } from './client.ts';
export { expectNoFailures, type Failure, type Progress, type SimulationReport, toText } from './report.ts';
export { simulate } from './simulate.ts';
export { type VirtualTime, virtualTime, type VirtualTimeOptions } from './virtual-time.ts';
