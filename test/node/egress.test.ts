// The adapter needs only what Node has too.
import '../deno/checked-lookup.test.ts';
import '../deno/egress.test.ts';
