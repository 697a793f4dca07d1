import '../deno/egress.test.ts'; // the adapter needs only what Node has too
