import '../node/postgres.test.ts';
