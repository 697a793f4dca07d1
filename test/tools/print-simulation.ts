/** Prints the reports of simulations in Node as JSON, for other runtimes to compare with theirs. */

import { agreedReports, mostSeeds } from '../fixtures/simulation/simulate-adapter.ts';

console.log(JSON.stringify(await agreedReports(() => mostSeeds)));
