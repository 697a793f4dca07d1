/** `pinnace/simulation`: runs an app's own runtime in virtual time, under seeded faults at every port. */

export type { Chance } from './chance.ts';
export type { SimulatedClient, SimulatedRuntime } from './client.ts';
export type { Fault, FaultStrike, Scheduler, StruckCall, StruckInstance } from './fault.ts';
export { portFaults } from './faults/port-faults.ts';
export { faulty } from './faulty.ts';
export type { LaunchContext, SimulateOptions, WorldContext } from './options.ts';
export type { Invariant, ScenarioOutcome, StruckFault } from './outcome.ts';
export type { ExecutedCall, Phase, SentRequest } from './records.ts';
export { expectNoFailures, type Failure, type Progress, type SimulationReport, toText } from './report.ts';
export { simulate } from './simulate.ts';
export { type VirtualTime, virtualTime, type VirtualTimeOptions } from './time/virtual-time.ts';
